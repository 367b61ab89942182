#!/usr/bin/env python3
"""Measures the overhead of an SDK: ours and the official ones, with the same stand-in for `claude`.

Builds the programs, installs the SDKs once (`e2e/install.sh`), and fails when a limit is missed.
The options can also be given as variables, as `make bench` does: ROUNDS, UPDATE=1.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
CACHE = REPO / "e2e/.cache"
PAGE = REPO / "docs/performance-results.md"
BEGIN, END = "<!-- client: begin -->", "<!-- client: end -->"

# Two stories of different lengths: constant costs, such as the start of an interpreter, cancel out in the difference.
SHORT, LONG = 2_000, 42_000
SESSIONS = 16
LETTERS = 24
SECONDS_MAX = 120


@dataclass
class Host:
    """A program that uses one of the SDKs, with its measurements."""

    title: str
    command: list[str]
    first_ms: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    one_mib: list[float] = field(default_factory=list)
    more_mib: list[float] = field(default_factory=list)


@dataclass
class Run:
    """One run of a host."""

    first_s: float
    cpu_s: float
    peak_mib: float


def options() -> argparse.Namespace:
    given = os.environ.get
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=int(given("ROUNDS", "5")))
    parser.add_argument("--tidings", type=Path, help="path of `tidings`, which plays the stand-in; built if not given")
    parser.add_argument("--host", type=Path, help="path of our program; built if not given")
    parser.add_argument("--update", action="store_true", default=given("UPDATE") == "1", help="update docs/performance-results.md")
    return parser.parse_args()


def build(package: str, name: str) -> Path:
    subprocess.run(["cargo", "build", "--profile", "bench", "--locked", "-p", package], cwd=REPO, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "release" / name


def hosts(ours: Path, scratch: Path) -> list[Host]:
    subprocess.run([REPO / "e2e/install.sh"], check=True)
    # Node resolves packages relative to the file.
    shutil.copy(HERE / "host.mjs", scratch)
    (scratch / "node_modules").symlink_to(CACHE / "ts/node_modules")
    pins = (REPO / "e2e/requirements-sdk.txt").read_text()
    python = pins.split("claude-agent-sdk==")[1].split()[0]
    node = (REPO / "e2e/ts/package.json").read_text().split('claude-agent-sdk": "')[1].split('"')[0]
    return [
        Host("tidings", [str(ours)]),
        Host(f"Python SDK {python}", [str(CACHE / "venv/bin/python"), "-B", str(HERE / "host.py")]),
        Host(f"TypeScript SDK {node}", ["node", str(scratch / "host.mjs")]),
    ]


def stand_in(tidings: Path, scratch: Path, deltas: int) -> Path:
    """A `claude` that writes a story in this many deltas."""
    script, program = scratch / f"{deltas}.toml", scratch / f"claude-{deltas}"
    story = "".join(f"{number:>{LETTERS - 1}} " for number in range(deltas))
    script.write_text(f'[[turn]]\ntext = "{story}"\npace = {{ chunk_chars = {LETTERS} }}\n')
    program.write_text(f'#!/bin/sh\nexec "{tidings}" rehearse agent --script "{script}" "$@"\n')
    program.chmod(0o755)
    return program


def run(host: Host, program: Path, sessions: int, deltas: int, scratch: Path) -> Run:
    home = scratch / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"),
           "ANTHROPIC_API_KEY": "none"}
    home.mkdir(exist_ok=True)
    began = time.monotonic()
    child = subprocess.Popen([*host.command, str(program), str(sessions)], env=env, cwd=scratch, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        first = child.stdout.readline()
        first_s = time.monotonic() - began
        output = child.stdout.readline().split()
        if first != "first\n" or output[:2] != ["done", str(sessions * deltas)]:
            raise RuntimeError(f"{host.title} printed {first!r} {output}, expected {sessions * deltas} deltas")
        stat = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        status = Path(f"/proc/{child.pid}/status").read_text()
        peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
        child.stdin.write("\n")
        child.stdin.close()
        child.wait(SECONDS_MAX)
    finally:
        child.kill()
        child.wait()
    # The CPU time of the host alone: its children are counted separately, once they have been waited for.
    return Run(first_s, (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), peak)


def measure(all_hosts: list[Host], rounds: int, tidings: Path, scratch: Path) -> None:
    short, long = stand_in(tidings, scratch, SHORT), stand_in(tidings, scratch, LONG)
    for number in range(rounds + 1):
        for host in all_hosts:
            few = run(host, short, 1, SHORT, scratch)
            many = run(host, long, 1, LONG, scratch)
            wide = run(host, short, SESSIONS, SHORT, scratch)
            # The first round only warms the disk caches.
            if number:
                host.first_ms.append(few.first_s * 1e3)
                host.cpu_us.append((many.cpu_s - few.cpu_s) / (LONG - SHORT) * 1e6)
                host.one_mib.append(few.peak_mib)
                host.more_mib.append((wide.peak_mib - few.peak_mib) / (SESSIONS - 1))


def tables(all_hosts: list[Host], rounds: int) -> tuple[str, bool]:
    middle = statistics.median
    lines = [f"{processor()}, {os.cpu_count()} cores, {platform.system()}; {rounds} rounds.", "",
             "| SDK | start to first message, ms | CPU per delta, µs | memory with one session, MiB | per session more, MiB |",
             "|---|--:|--:|--:|--:|"]
    for host in all_hosts:
        lines.append(f"| {host.title} | {middle(host.first_ms):.0f} | {middle(host.cpu_us):.1f} |"
                     f" {middle(host.one_mib):.1f} | {middle(host.more_mib):.2f} |")
    lines += ["", "| bar | at least | this run | |", "|---|--:|--:|---|"]
    ours, fine = all_hosts[0], True
    for host in all_hosts[1:]:
        for what, least, mine, theirs in (
                ("CPU per delta", 5, ours.cpu_us, host.cpu_us), ("memory with one session", 10, ours.one_mib, host.one_mib)):
            # Ratio per round, then the median: other load in a round affects both.
            ratio = middle(their / max(my, 1e-9) for my, their in zip(mine, theirs))
            fine &= ratio >= least
            missed = "" if ratio >= least else "**missed**"
            lines.append(f"| {what}, {host.title} to ours | {least} | {ratio:.1f} | {missed} |")
    return "\n".join(lines), fine


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main() -> int:
    chosen = options()
    tidings = (chosen.tidings or build("tidings-cli", "tidings")).resolve()
    ours = (chosen.host or build("tidings-client-bench", "tidings-client-bench")).resolve()
    with tempfile.TemporaryDirectory(prefix="tidings-bench-") as folder:
        scratch = Path(folder)
        all_hosts = hosts(ours, scratch)
        measure(all_hosts, chosen.rounds, tidings, scratch)
    text, fine = tables(all_hosts, chosen.rounds)
    print(text)
    if chosen.update:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
