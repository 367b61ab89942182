"""The measured jobs, and for each the programs that do it."""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from measure import Sample, run
from peers import Peer, Peers
from tree import Tree

OURS = "tidings"
# Programs that take longer than this are not run in every round.
SLOW_SECONDS = 15.0
SLOW_ROUNDS = 2


@dataclass
class World:
    """Paths of the programs, the sessions and the scratch folder."""

    tidings: Path
    tree: Tree
    peers: Peers | None
    scratch: Path

    def __post_init__(self) -> None:
        for name in ("home", "run"):
            (self.scratch / name).mkdir(parents=True, exist_ok=True)

    @property
    def cache(self) -> Path:
        return self.scratch / "cache"

    def env(self) -> dict[str, str]:
        """An environment without the user's settings, caches and sessions."""
        return {
            "HOME": str(self.scratch / "home"),
            "CLAUDE_CONFIG_DIR": str(self.tree.root),
            "TIDINGS_CACHE_DIR": str(self.cache),
            "PATH": "/usr/bin:/bin",
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
        }

    def forget(self) -> None:
        """Removes the cache of our program."""
        shutil.rmtree(self.cache, ignore_errors=True)

    def ours(self, *arguments: str) -> list[str]:
        return [str(self.tidings), "sessions", *arguments]


@dataclass
class Row:
    """A program that does a job."""

    title: str
    command: list[str]
    # Describes the output of the program; raises if it cannot be parsed.
    found: Callable[[Sample], str]
    prepare: Callable[[], None] = lambda: None
    stdin: bytes = b""
    good_codes: tuple[int, ...] = (0,)
    missing: str = ""


@dataclass
class Job:
    name: str
    title: str
    rows: list[Row]
    # There is no other program to compare with.
    alone: bool = False


@dataclass
class Measured:
    """The measurements of a row."""

    title: str
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    found: str = ""
    failed: str = ""

    def add(self, sample: Sample) -> None:
        self.cpu.append(sample.cpu_seconds)
        self.wall.append(sample.wall_seconds)
        self.peak.append(sample.peak_mib)

    @property
    def median_cpu(self) -> float:
        return statistics.median(self.cpu)


@dataclass
class Result:
    job: Job
    rows: list[Measured]

    def row(self, title: str) -> Measured | None:
        return next((row for row in self.rows if row.title.startswith(title) and not row.failed), None)


def measure_in_turns(job: Job, rounds: int, world: World) -> Result:
    """Runs the programs in turns, so that other load on the machine affects all of them alike."""
    measured = [Measured(row.title, failed=row.missing) for row in job.rows]
    for number in range(rounds + 1):
        for row, own in zip(job.rows, measured):
            slow = own.cpu and own.wall[0] > SLOW_SECONDS and len(own.cpu) >= SLOW_ROUNDS
            if own.failed or slow:
                continue
            row.prepare()
            sample = run(row.command, world.env(), world.scratch / "run", row.stdin)
            if sample.code not in row.good_codes:
                own.failed = f"exit code {sample.code}: {message_of(sample)}"
                continue
            if number == 0:
                # The first round fills the caches and checks the output.
                try:
                    own.found = row.found(sample)
                except (ValueError, KeyError, IndexError, TypeError, OSError) as error:
                    own.failed = f"its output could not be parsed: {type(error).__name__} {error}"
                if sample.wall_seconds <= SLOW_SECONDS:
                    continue
            own.add(sample)
    return Result(job, measured)


def all_jobs(world: World) -> list[Job]:
    jobs = [daily_cost(world), again(world), status_line(world), listing(world)]
    if world.tree.word:
        jobs.append(searching(world))
    jobs += [html(world), index_build(world), index_refresh(world)]
    if world.tree.word:
        jobs.append(index_query(world))
    return jobs


def daily_cost(world: World) -> Job:
    command = world.ours("cost", "--by", "day", "--tz", "UTC", "--json")
    rows = [Row(OURS, command, lambda sample: cost_of(world, ours_total(sample)), world.forget)]
    if world.peers:
        report = world.scratch / "run/ccost.json"
        ccusage, ccost = world.peers.ccusage, world.peers.ccost
        rows += [
            peer(ccusage, ["claude", "daily", "--json", "--offline"], lambda sample: cost_of(world, ccusage_total(sample))),
            peer(
                ccost,
                ["--claude-dir", str(world.tree.root), "--per", "day", "--tz", "UTC"]
                + ["--cost", "decimal", "--output", "json", "--filename", str(report)],
                lambda sample: cost_of(world, ccost_total(report)),
            ),
            peer(
                world.peers.grep,
                ["-rhc", '"usage":{', str(world.tree.projects)],
                lambda sample: f"{sum(map(int, sample.output.split()))} lines with usage",
            ),
        ]
    return Job("cost", "Daily cost of all sessions", rows)


def again(world: World) -> Job:
    command = world.ours("cost", "--by", "day", "--tz", "UTC", "--json")
    row = Row(OURS, command, lambda sample: cost_of(world, ours_total(sample)))
    return Job("again", "The same once more, from the cache", [row], alone=True)


def status_line(world: World) -> Job:
    session = world.tree.largest
    status = {"session_id": session.stem, "transcript_path": str(session), "cwd": "/", "model": {"id": "x"}}
    row = Row(OURS, world.ours("cost", "--statusline"), text_of, stdin=json.dumps(status).encode())
    return Job("statusline", "A status line, from the cache", [row], alone=True)


def listing(world: World) -> Job:
    rows = [Row(OURS, world.ours("list", "--json"), lambda sample: f"{lines_of(sample)} sessions", world.forget)]
    if world.peers:
        rows.append(peer(world.peers.sdk, [], lambda sample: f"{int(sample.output)} sessions"))
    return Job("list", "List all sessions", rows)


def searching(world: World) -> Job:
    word, projects = world.tree.word, str(world.tree.projects)
    rows = [Row(OURS, world.ours("search", word, "--count"), lambda sample: matches(world, int(sample.output)), world.forget)]
    if world.peers:
        count = lambda sample: matches(world, sum(int(line.rsplit(b":", 1)[-1]) for line in sample.output.split()))
        rows += [
            peer(world.peers.ripgrep, ["-a", "-c", "--no-ignore", word, projects], count),
            peer(world.peers.grep, ["-rc", "-F", word, projects], count),
        ]
    return Job("search", "Find a rare word, without an index", rows)


def html(world: World) -> Job:
    session, out = world.tree.largest, world.scratch / "run/page.html"
    size = lambda sample: f"{out.stat().st_size / 1e6:.1f} MB"
    forget = lambda: out.unlink(missing_ok=True)
    rows = [Row(OURS, world.ours("export", str(session), "--to", "html", "-o", str(out)), size, forget)]
    if world.peers:
        log = world.peers.claude_code_log
        rows.append(peer(log, [str(session), "-o", str(out), "--no-cache"], size, forget))
    return Job("html", f"The largest session ({session.stat().st_size / 1e6:.0f} MB) as a page", rows)


def index_build(world: World) -> Job:
    def found(sample: Sample) -> str:
        share = json.loads(sample.output)["index_bytes"] / world.tree.bytes
        return f"{share:.1%} of the sessions' size"

    row = Row(OURS, world.ours("index", "--json"), found, world.forget)
    return Job("index", "Build the full-text index", [row], alone=True)


def index_refresh(world: World) -> Job:
    row = Row(OURS, world.ours("index", "--json"), lambda sample: f"{json.loads(sample.output)['read_bytes']} bytes read")
    return Job("refresh", "Refresh the index when nothing is new", [row], alone=True)


def index_query(world: World) -> Job:
    row = Row(OURS, world.ours("search", world.tree.word, "--count"), lambda sample: matches(world, int(sample.output)))
    return Job("query", "Find the word with the index", [row], alone=True)


def peer(
    peer: Peer, arguments: list[str], found: Callable[[Sample], str], prepare: Callable[[], None] = lambda: None
) -> Row:
    # Search programs exit with 1 when a file has no match.
    return Row(peer.title, [*peer.command, *arguments], found, prepare, good_codes=(0, 1), missing=peer.missing)


def ours_total(sample: Sample) -> tuple[float, dict[str, int]]:
    total = json.loads(sample.output)["total"]
    return total["cost_usd"], {key: total[key] for key in ("input", "output", "cache_write", "cache_read")}


def ccusage_total(sample: Sample) -> tuple[float, dict[str, int]]:
    total = json.loads(sample.output)["totals"]
    names = {"input": "inputTokens", "output": "outputTokens"}
    names |= {"cache_write": "cacheCreationTokens", "cache_read": "cacheReadTokens"}
    return total["totalCost"], {key: total[name] for key, name in names.items()}


def ccost_total(path: Path) -> tuple[float, dict[str, int]]:
    total = json.loads(path.read_text())["totals"]
    names = {"input": "inputTokens", "output": "outputTokens"}
    names |= {"cache_write": "cacheCreationTokens", "cache_read": "cacheReadTokens"}
    return float(str(total["totalCost"]).lstrip("$")), {key: total[name] for key, name in names.items()}


def cost_of(world: World, answer: tuple[float, dict[str, int]]) -> str:
    dollars, tokens = answer
    if world.tree.cost_usd is None:
        return f"${dollars:,.2f}"
    if abs(dollars - world.tree.cost_usd) < 0.005 and tokens == world.tree.tokens:
        return f"${dollars:,.2f}, right"
    return f"${dollars:,.2f}, {dollars / world.tree.cost_usd:.3f} of what is true"


def matches(world: World, count: int) -> str:
    true = world.tree.word_lines
    return f"{count} lines" + ("" if true is None else ", right" if count == true else f", not {true}")


def message_of(sample: Sample) -> str:
    lines = (sample.errors + sample.output).decode(errors="replace").strip().splitlines()
    return next((line for line in lines if "error" in line), lines[-1] if lines else "no message")


def text_of(sample: Sample) -> str:
    return sample.output.decode().strip().split("\n")[0]


def lines_of(sample: Sample) -> int:
    return sample.output.count(b"\n")
