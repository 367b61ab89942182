#!/usr/bin/env python3
"""Runs the stages with tests several times on one build, without second tries and each time under another load,
and prints which cases failed.

usage: scripts/shake.py [ROUNDS]     3 rounds by default

A stopped run continues where it was if the commit is the same; `target/shake` has the results so far, and
`target/shake/table.md` the last table. Exit code 1 if a case failed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import results

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
FOLDER = TARGET / "shake"
STAGES = ["tests", "e2e", "browser"]
BUSY = "while :; do :; done"
SYNC = 'while :; do dd if=/dev/zero of="$0" bs=1M count=64 conv=fsync 2>/dev/null; done'
# Name, command that runs at the same time, number of its processes, and the prefix of the stage's command.
DISTURBANCES = [
    ("two busy loops", ["sh", "-c", BUSY], 2, []),
    ("pinned to one core", [], 0, ["taskset", "-c", "0"]),
    ("a writer that syncs the disk", ["sh", "-c", SYNC, str(FOLDER / "sync")], 1, []),
]


@contextmanager
def disturbed(command: list[str], count: int) -> Iterator[None]:
    children = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for child in children:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def run_stage(stage: str, prefix: list[str]) -> list[results.Result]:
    """Runs one stage without second tries; returns the result of each case."""
    subprocess.run([*prefix, "scripts/test.sh", stage], cwd=REPO, env=os.environ | {"TRIES": "1", "QUICK": ""}, stdin=subprocess.DEVNULL, check=False)
    found = results.read(TARGET / "results.ndjson")
    if not found:
        sys.exit(f"error: the stage {stage} ran no case; its output is above")
    return found


def table(rounds: list[dict]) -> str:
    """A Markdown table: the runs, then each failed case with its loads."""
    lines = ["| round | beside | stage | cases | failed | minutes |", "|---|---|---|---|---|---|"]
    failures: dict[str, list[str]] = defaultdict(list)
    for each in rounds:
        failed = [case for case in each["cases"] if not case["ok"]]
        lines.append(f"| {each['round']} | {each['beside']} | {each['stage']} | {len(each['cases'])} | {len(failed)} | {each['minutes']} |")
        for case in failed:
            failures[f"{case['stage']}: {case['case']}"].append(f"{each['round']} ({each['beside']})")
    lines += ["", "| failed case | in rounds |", "|---|---|"]
    lines += [f"| {case} | {', '.join(where)} |" for case, where in sorted(failures.items())] or ["| none | |"]
    return "\n".join(lines)


def main(args: list[str]) -> int:
    wanted = int(args[0]) if args else 3
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPO, check=True, capture_output=True, text=True).stdout.strip()
    if subprocess.run(["scripts/test.sh", "build"], cwd=REPO, stdin=subprocess.DEVNULL, check=False).returncode:
        return 1
    state = FOLDER / f"{commit}.ndjson"
    if not state.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
    rounds = [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []
    done = {(each["round"], each["stage"]) for each in rounds}
    for number in range(1, wanted + 1):
        beside, command, count, prefix = DISTURBANCES[(number - 1) % len(DISTURBANCES)]
        for stage in [stage for stage in STAGES if (number, stage) not in done]:
            print(f"\n== round {number}, {beside}: {stage}", flush=True)
            began = time.monotonic()
            with disturbed(command, count):
                found = run_stage(stage, prefix)
            minutes = round((time.monotonic() - began) / 60, 1)
            cases = [vars(case) for case in found]
            rounds.append({"round": number, "beside": beside, "stage": stage, "minutes": minutes, "cases": cases})
            with state.open("a") as file:
                file.write(json.dumps(rounds[-1]) + "\n")
    text = table(rounds)
    (FOLDER / "table.md").write_text(text + "\n")
    print(f"\n{text}")
    for each in rounds:
        for case in each["cases"]:
            if not case["ok"]:
                print(f"\n{case['stage']}: {case['case']} (round {each['round']}):\n{case['problem'][-1500:]}")
    return 1 if any(not case["ok"] for each in rounds for case in each["cases"]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
