#!/usr/bin/env python3
"""Measures `tidings sessions` on many sessions, beside other programs that do the same job.

Builds the program, generates a folder of sessions, installs the other programs once, and fails when a limit is
exceeded.
The options can also be given as variables, as `make bench` does: ROUNDS, SIZE, TREE, PEERS=0, UPDATE=1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import generate  # noqa: E402
import report  # noqa: E402
from jobs import World, all_jobs, measure_in_turns  # noqa: E402
from peers import Peers  # noqa: E402
from tree import Tree  # noqa: E402


def options() -> argparse.Namespace:
    given = os.environ.get
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=int(given("ROUNDS", "5")))
    parser.add_argument("--size", type=generate.size_of, default=given("SIZE", "1G"), help="size of the folder: 64M, 1G")
    parser.add_argument("--tree", type=Path, default=given("TREE"), help="an existing configuration folder instead")
    parser.add_argument("--word", help="the rare word to search for, if the tree does not define it")
    parser.add_argument("--scratch", type=Path, default=HERE / "scratch")
    parser.add_argument("--peers", type=Path, help="folder of the other programs")
    parser.add_argument("--no-peers", action="store_true", default=given("PEERS") == "0")
    parser.add_argument("--only", action="append", help="run only these jobs")
    parser.add_argument("--tidings", type=Path, help="the program, if it is built already")
    parser.add_argument("--update", action="store_true", default=given("UPDATE") == "1", help="write docs/performance-results.md")
    return parser.parse_args()


def build() -> Path:
    subprocess.run(["cargo", "build", "--profile", "bench", "--locked", "-p", "tidings-cli"], cwd=REPO, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
    return target / "release/tidings"


def main() -> int:
    chosen = options()
    tidings = chosen.tidings or build()
    if chosen.tree:
        tree = Tree.existing(chosen.tree.resolve(), chosen.word)
    else:
        tree = Tree.made(chosen.scratch / "tree", chosen.size)
    peers = None if chosen.no_peers else Peers(chosen.peers or chosen.scratch / "peers")
    for peer in peers.missing() if peers else []:
        print(f"{peer.title} cannot be measured: {peer.missing}", file=sys.stderr)
    world = World(tidings.resolve(), tree, peers, chosen.scratch.resolve())
    results = []
    for job in all_jobs(world):
        if not chosen.only or job.name in chosen.only:
            results.append(measure_in_turns(job, chosen.rounds, world))
            print(report.table(results[-1]), flush=True)
    bars = report.bars(results, tree)
    print(report.bar_table(bars))
    if chosen.update:
        report.update(REPO / "docs/performance-results.md", results, bars, tree, chosen.rounds)
    return 0 if all(bar.holds for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
