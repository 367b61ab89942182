#!/usr/bin/env python3
"""End-to-end tests: the stand-ins compared with the real CLI, and the official SDKs with both.

Run `install.sh` and `cargo build -p tidings-cli -p tidings-e2e-driver` first; `README.md` describes the columns.
With QUICK=1 what `docs/testing.md` names is left out, as in CI.
With TRIES=n a row is tried up to n times; with RESULTS=FILE one line of JSON per cell is appended to that file.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import acp  # noqa: E402
import agents  # noqa: E402
import damage  # noqa: E402
import fleet  # noqa: E402
import outlive  # noqa: E402
import outlive_hosts  # noqa: E402
import parity  # noqa: E402
import programs  # noqa: E402
import readme  # noqa: E402
import run_command  # noqa: E402
import server  # noqa: E402
import sessions_repair  # noqa: E402
import take_over  # noqa: E402
import terminal  # noqa: E402
import terminal_more  # noqa: E402
import terminal_steering  # noqa: E402
import trust  # noqa: E402
import upgrade  # noqa: E402
from lib import check, compare, recordings, sdk, sessions, table, twins  # noqa: E402
from lib.api import Api  # noqa: E402
from lib.cli import CACHE, E2E, Missing, Place, Programs  # noqa: E402
from lib.fork_server import ForkServer  # noqa: E402
from lib.host import Host, Record  # noqa: E402
from lib.scenario import Scenario, all_scenarios  # noqa: E402
from lib.table import COLUMNS, Row  # noqa: E402

# Two more than there are cores: the CLI and terminals wait as often as they work.
PARALLEL_MAX = (os.cpu_count() or 2) + 2
FRAME_COLUMNS, TWIN_COLUMNS, SDK_COLUMNS = COLUMNS[:3], COLUMNS[3:5], COLUMNS[5:]
QUICK = bool(os.environ.get("QUICK"))
# Scenarios with different kinds of session files; those of all others are like one of these.
WITH_SESSIONS = {"agent-foreground", "compact-manual", "plain-text", "session-fork", "slash-local", "tools-parallel"}


@dataclass(frozen=True)
class Extra:
    """A row beside the scenarios. It finds problems, and may say what it did."""

    name: str
    column: str
    play: Callable[[Programs, Path], list[str] | tuple[list[str], str]]
    # False if CI leaves it out.
    is_quick: bool = True


# The longest rows first, so that none of them runs alone at the end.
EXTRA = (
    Extra(fleet.NAME, "cli×api", fleet.play),
    Extra(terminal_steering.NAME, "cli×api", terminal_steering.play),
    Extra(terminal.NAME, "cli×api", terminal.play),
    Extra(terminal_more.NAME, "cli×api", terminal_more.play, is_quick=False),
    Extra(run_command.NAME, "cli×api", run_command.problems_of, is_quick=False),
    Extra(agents.NAME, "cli×api", agents.play),
    Extra(outlive.NAME, "cli×api", outlive.play),
    Extra(outlive_hosts.NAME, "cli×api", outlive_hosts.play),
    Extra("sessions-made", "sessions", sessions.problems_of_made, is_quick=False),
    Extra(sessions_repair.NAME, "cli×api", sessions_repair.problems_of),
    Extra(take_over.NAME, "cli×api", take_over.play),
    Extra(damage.NAME, "cli×api", damage.play),
    Extra(server.NAME, "cli×api", server.problems_of),
    Extra(acp.NAME, "cli×api", acp.play),
    Extra(upgrade.NAME, "cli×api", upgrade.play),
    Extra(programs.NAME, "cli×api", programs.problems_of),
    Extra(trust.NAME, "cli×api", trust.problems_of),
    Extra(readme.NAME, "rs-sdk", readme.problems_of),
    Extra(parity.NAME, "ts-sdk", parity.problems_of),
)


class Run:
    """One call of this program."""

    def __init__(self, options: argparse.Namespace, root: Path) -> None:
        self.options = options
        self.root = root
        self.programs = Programs.find(options.tidings.resolve(), root / "bin")
        self.known = compare.KnownDifferences(E2E / "differences.toml")

    def scenario(self, scenario: Scenario) -> Row:
        """All columns of one row."""
        row, began = Row(scenario.name), time.monotonic()
        try:
            if scenario.is_check:
                self._sdk(scenario, row)
            if scenario.is_host:
                self._frames(scenario, row)
            if scenario.is_twins:
                self._twins(scenario, row)
        except Exception as error:  # An error of the harness fails its row, not the whole run.
            row.cell(self.options.column[0]).add([f"{type(error).__name__}: {error}"])
            if self.options.verbose:
                traceback.print_exc()
        row.seconds = time.monotonic() - began
        return row

    def extra(self, extra: Extra) -> Row:
        """A row beside the scenarios."""
        row, began = Row(extra.name), time.monotonic()
        try:
            found = extra.play(self.programs, self.root)
            problems, row.said = found if isinstance(found, tuple) else (found, "")
            row.cell(extra.column).add(problems)
        except Exception as error:
            row.cell(extra.column).add([f"{type(error).__name__}: {error}"])
            if self.options.verbose:
                traceback.print_exc()
        row.seconds = time.monotonic() - began
        return row

    def _frames(self, scenario: Scenario, row: Row) -> None:
        wanted = [column for column in FRAME_COLUMNS if column in self.options.column]
        if not wanted:
            return
        real_place, real, problems = self._played(scenario, "cli")
        if "cli×api" in wanted:
            row.cell("cli×api").add(problems)
        if "sessions" in wanted and scenario.name in WITH_SESSIONS:
            row.cell("sessions").add(sessions.problems_of(self.programs, real_place))
        if "agent=cli" not in wanted:
            return
        agent_place, agent, problems = self._played(scenario, "agent")
        same_place = {str(agent_place.project): str(real_place.project)}
        for left, right in zip(real, agent):
            problems += compare.differences(compare.outline(left), compare.outline(right), same_place)
        row.cell("agent=cli").add(self.known.unknown(scenario.name, list(dict.fromkeys(problems))))

    def _twins(self, scenario: Scenario, row: Row) -> None:
        """Our SDK on the real CLI, compared with the official Python SDK."""
        ours, theirs = (column in self.options.column for column in TWIN_COLUMNS)
        if not ours and not theirs:
            return
        place = Place.make(self.programs, self.root, f"{scenario.name}-rs")
        seen = twins.play(self.programs, place, scenario, "rs")
        if ours:
            row.cell("rs-sdk").add(seen.problems)
        if theirs and scenario.has_twin:
            their_run, problems = self._their_run(scenario)
            if not problems:
                problems = self.known.unknown(scenario.name, twins.differences(their_run, twins.normal(seen, place)))
            row.cell("rs=py").add(problems)

    def _their_run(self, scenario: Scenario) -> tuple[twins.Normal, list[str]]:
        """The run of the official Python SDK, recorded or real, and its problems."""
        is_recorded = recordings.ARE_USED and scenario.has_recording
        if is_recorded and not self.options.record:
            return recordings.read(scenario)
        place = Place.make(self.programs, self.root, f"{scenario.name}-py")
        seen = twins.play(self.programs, place, scenario, "py")
        run = twins.normal(seen, place)
        if is_recorded and not seen.problems:
            recordings.write(scenario, run)
        return run, seen.problems

    def _played(self, scenario: Scenario, who: str) -> tuple[Place, list[Record], list[str]]:
        """Runs a scenario with the real CLI (on the API stand-in) or with the agent stand-in."""
        place = Place.make(self.programs, self.root, f"{scenario.name}-{who}")
        records: list[Record] = []
        problems: list[str] = []
        for number, plan in enumerate(scenario.plans(place), 1):
            log = place.root / f"{number}"
            if who == "cli":
                with Api(self.programs, plan["script"], log.with_suffix(".api.ndjson")) as api:
                    command = [str(self.programs.claude), *plan["args"]]
                    record = self._hosted(place, command, plan, api.url)
                    left_over = api.close()
                problems += [left_over] if left_over else []
            else:
                command = [str(self.programs.tidings), "rehearse", "agent", "--script", str(plan["script"])]
                record = self._hosted(place, [*command, *plan["args"]], plan, None)
            stdout = log.with_suffix(".stdout.ndjson")
            stdout.write_bytes(record.stdout)
            log.with_suffix(".stderr.txt").write_text(record.stderr)
            problems += check.problems_of(record, plan)
            if not plan.get("text"):
                problems += check.undecodable(self.programs, stdout)
            records.append(record)
        return place, records, problems

    def _hosted(self, place: Place, command: list[str], plan: dict, base_url: str | None) -> Record:
        env = place.env(base_url, plan.get("env"))
        return Host(command, env, place.project, plan, self.programs.as_user()).run()

    def _sdk(self, scenario: Scenario, row: Row) -> None:
        for column in SDK_COLUMNS:
            if column in self.options.column:
                for who in ("agent",) if QUICK else ("agent", "cli"):
                    place = Place.make(self.programs, self.root, f"{scenario.name}-{column}-{who}")
                    row.cell(column).add(sdk.problems_of(self.programs, place, scenario, column, who), who)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="only this scenario; `*` matches anything; repeatable")
    parser.add_argument("--column", action="append", choices=COLUMNS, help="only this column; repeatable")
    parser.add_argument("--keep", action="store_true", help="keep the output of the runs, and print its folder")
    parser.add_argument("--record", action="store_true",
                        help="run the official Python SDK for the column rs=py, and record its messages")
    parser.add_argument("--list", action="store_true", help="list the scenarios and exit")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="print progress, and tracebacks of the harness")
    default = os.environ.get("CARGO_TARGET_DIR", E2E.parent / "target")
    parser.add_argument("--tidings", type=Path, default=Path(default) / "debug" / "tidings",
                        help="the program under test")
    parsed = parser.parse_args()
    parsed.tries = int(os.environ.get("TRIES", "1"))
    parsed.everything = not parsed.only and not parsed.column
    parsed.column = parsed.column or COLUMNS
    return parsed


def _wanted(opts: argparse.Namespace, name: str) -> bool:
    return not opts.only or any(fnmatchcase(name, only) for only in opts.only)


def main() -> int:
    opts = options()
    scenarios = [each for each in all_scenarios() if _wanted(opts, each.name)]
    extra = [each for each in EXTRA if each.column in opts.column and _wanted(opts, each.name)]
    extra = [each for each in extra if each.is_quick or not QUICK]
    names = [each.name for each in [*scenarios, *extra]]
    if opts.list or not names:
        print("\n".join(names) or "error: no such scenario")
        return 0 if names else 2
    root = Path(tempfile.mkdtemp(prefix="tidings-e2e-"))
    root.chmod(0o755)
    try:
        return report(opts, extra, scenarios, root)
    except Missing as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 3
    finally:
        if opts.keep:
            print(f"kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)


def report(opts: argparse.Namespace, extra: list[Extra], scenarios: list[Scenario], root: Path) -> int:
    """Runs everything in `root`, prints the table, and returns the exit code."""
    run = Run(opts, root)
    with ForkServer(CACHE / "venv/bin/python", root) as forks:
        run.programs.python = forks.command
        rows = played(opts, extra, scenarios, run)
    if results := os.environ.get("RESULTS"):
        with open(results, "a") as file:
            file.writelines(json.dumps(each) + "\n" for each in table.results(rows))
    stale = run.known.stale() if opts.everything else []
    unused = recordings.left_over(scenarios) if opts.everything else []
    print(table.show(rows, opts.column))
    said = table.problems(rows)
    if said:
        print(said)
    for entry in stale:
        print(f"\ndifferences.toml: no longer occurs, remove it: {json.dumps(entry.what)} ({entry.scenario})")
    for path in unused:
        print(f"\n{path}: no scenario is compared with it, remove it")
    last, fine = table.totals(rows, len(stale) + len(unused))
    print(f"\n{last}")
    return 0 if fine else 1


def played(opts: argparse.Namespace, extra: list[Extra], scenarios: list[Scenario], run: Run) -> list[Row]:
    """All rows that have cells."""
    def one(play: Callable[[], Row]) -> Row:
        row = table.tried(play, opts.tries)
        if opts.verbose:
            outcome = " ".join(f"{column} {cell}" for column, cell in row.cells.items())
            print(f"{row.name}: {outcome} ({row.seconds:.1f} s)", file=sys.stderr, flush=True)
        return row

    # The former wait most of the time, the latter work: half of the workers begin with each.
    queues = [deque(partial(run.extra, each) for each in extra), deque(partial(run.scenario, each) for each in scenarios)]

    def work(first: int) -> list[Row]:
        rows = []
        for queue in (queues[first], queues[1 - first]):
            while queue:
                try:
                    play = queue.popleft()
                except IndexError:  # Another worker was faster.
                    break
                rows.append(one(play))
        return rows

    with ThreadPoolExecutor(PARALLEL_MAX) as pool:
        found = [row for rows in pool.map(work, [number % 2 for number in range(PARALLEL_MAX)]) for row in rows]
    return sorted((row for row in found if row.cells), key=lambda row: row.name)


if __name__ == "__main__":
    sys.exit(main())
