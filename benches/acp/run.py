#!/usr/bin/env python3
"""Measures `tidings acp` beside claude-agent-acp: added latency per delta, CPU, memory and start. `claude` is not counted.

Both get the same `claude`, which writes the time into each delta, and the same client. Added is what they add to a client
that reads the pipe of that `claude` itself. The rounds alternate. Fails when a bar is missed. The options can also be given
as variables: ROUNDS, UPDATE=1.
"""

from __future__ import annotations

import argparse
import json
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

REPO = Path(__file__).resolve().parent.parent.parent
PAGE = REPO / "docs/performance-results.md"
BEGIN, END = "<!-- acp: begin -->", "<!-- acp: end -->"
THEIRS = REPO / "e2e/.cache/acp/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"
CLAUDE = Path(__file__).resolve().parent / "claude.py"
# The largest share of theirs that ours may have.
BARS = {"added latency per delta, ms": 1 / 2, "CPU per turn, ms": 1 / 4, "memory, MiB": 1 / 5, "start, ms": 1 / 5}
TURNS = 3


@dataclass
class Sums:
    """The figures of one agent."""

    figures: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in BARS})


class Agent:
    """A process that speaks the protocol on standard streams."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path) -> None:
        self.begun = time.monotonic()
        self.child = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            bufsize=1,
        )
        self.calls = 0
        self.latencies: list[float] = []

    def call(self, method: str, params: dict) -> dict:
        self.calls += 1
        request = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.child.stdin.write(json.dumps(request) + "\n")
        while line := self.child.stdout.readline():
            now = time.monotonic_ns()
            message = json.loads(line)
            if message.get("id") == self.calls and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "agent_message_chunk":
                self.latencies += latencies(now, update["content"]["text"])
        raise RuntimeError(f"{method}: it ended")

    def own_processes(self) -> list[int]:
        """Its processes, without `claude` and what `claude` starts."""
        found, queue = [], [self.child.pid]
        while queue:
            pid = queue.pop()
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except OSError:
                continue
            # The program, or the script of its interpreter; later arguments may name it, too.
            if any(part.endswith(b"/claude") for part in line[:2]):
                continue
            found.append(pid)
            queue += [int(child) for child in children]
            # Children belong to the thread that started them.
            for task in Path(f"/proc/{pid}/task").iterdir():
                try:
                    queue += [int(child) for child in (task / "children").read_text().split() if int(child) not in queue + found]
                except OSError:
                    pass
        return found

    def of_processes(self, name: str) -> list[str]:
        """A file about each of its processes. Some of them live for a moment only."""
        texts = []
        for pid in self.own_processes():
            try:
                texts.append(Path(f"/proc/{pid}/{name}").read_text())
            except OSError:
                pass
        return texts

    def cpu_ms(self) -> float:
        ticks = 0
        for text in self.of_processes("stat"):
            parts = text.rpartition(")")[2].split()
            ticks += int(parts[11]) + int(parts[12])
        return ticks * 1000 / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        total = 0
        for text in self.of_processes("smaps_rollup"):
            total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
        return total / 1024

    def close(self) -> None:
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
        self.child.stdout.close()


def latencies(now: int, text: str) -> list[float]:
    """How long each time stamp of a text took, in milliseconds."""
    return [(now - int(stamp)) / 1e6 for stamp in text.replace("@", " ").split()]


def piped(claude: Path, env: dict[str, str], cwd: Path) -> float:
    """The latency of a client that reads the pipe of `claude` itself."""
    found: list[float] = []
    prompt = json.dumps({"type": "user", "message": {"role": "user", "content": "go"}, "uuid": "1"})
    with subprocess.Popen(
        [str(claude)], env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as child:
        for turn in range(TURNS + 1):
            child.stdin.write(prompt + "\n")
            while line := child.stdout.readline():
                now = time.monotonic_ns()
                frame = json.loads(line)
                if frame["type"] == "result":
                    break
                delta = frame.get("event", {}).get("delta", {})
                if turn > 0 and delta.get("type") == "text_delta":
                    found += latencies(now, delta["text"])
        child.stdin.close()
    return statistics.median(found)


def one_round(command: list[str], env: dict[str, str], cwd: Path, sums: Sums, pipe_ms: float) -> None:
    agent = Agent(command, env, cwd)
    try:
        agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        start = (time.monotonic() - agent.begun) * 1000
        session = agent.call("session/new", {"cwd": str(cwd), "mcpServers": []})["sessionId"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        agent.call("session/prompt", prompt)
        agent.latencies.clear()
        before = agent.cpu_ms()
        for _ in range(TURNS):
            agent.call("session/prompt", prompt)
        figures = [
            statistics.median(agent.latencies) - pipe_ms, (agent.cpu_ms() - before) / TURNS, agent.memory_mib(), start,
        ]
        for name, value in zip(BARS, figures, strict=True):
            sums.figures[name].append(value)
    finally:
        agent.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS", "5")))
    parser.add_argument("--update", action="store_true", default=bool(os.environ.get("UPDATE")), help="write the page")
    parser.add_argument("--tidings", type=Path, help="path of `tidings`; built if not given")
    opts = parser.parse_args()
    if not THEIRS.exists():
        print("error: claude-agent-acp is not installed\nhint: run e2e/install.sh", file=sys.stderr)
        return 3
    tidings = opts.tidings
    if tidings is None:
        subprocess.run(["cargo", "build", "--profile", "bench", "--quiet", "-p", "tidings-cli"], cwd=REPO, check=True)
        tidings = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "release/tidings"
    ours, theirs = Sums(), Sums()
    with tempfile.TemporaryDirectory(prefix="tidings-bench-acp-") as temp:
        root = Path(temp)
        for name in ("home", "config", "project"):
            (root / name).mkdir()
        claude = root / "claude"
        shutil.copy(CLAUDE, claude)
        claude.chmod(0o755)
        node = shutil.which("node") or "/usr/bin/node"
        env = {
            "PATH": f"{Path(node).parent}:/usr/bin:/bin", "HOME": str(root / "home"), "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CONFIG_DIR": str(root / "config"), "CLAUDE_CODE_EXECUTABLE": str(claude),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        }
        mine = [str(tidings.resolve()), "acp", "--standalone", "--claude-path", str(claude)]
        for _ in range(opts.rounds):
            pipe_ms = piped(claude, env, root / "project")
            one_round(mine, env, root / "project", ours, pipe_ms)
            one_round([node, str(THEIRS)], env, root / "project", theirs, pipe_ms)
    lines = ["| median of rounds | `tidings acp` | claude-agent-acp 0.99.1 | share | bar |", "|---|---|---|---|---|"]
    missed = []
    for name, bar in BARS.items():
        one, other = statistics.median(ours.figures[name]), statistics.median(theirs.figures[name])
        share = one / other if other else 0.0
        lines.append(f"| {name} | {one:.2f} | {other:.2f} | {share:.2f} | {bar:.2f} |")
        if share > bar:
            missed.append(name)
    table = "\n".join(lines)
    print(table)
    if opts.update:
        text = PAGE.read_text()
        head, rest = text.split(BEGIN)
        about = f"{opts.rounds} rounds, {platform.machine()}, {os.cpu_count()} processors"
        PAGE.write_text(f"{head}{BEGIN}\n{table}\n\n{about}.\n{END}{rest.split(END)[1]}")
    if missed:
        print(f"error: a bar is missed: {', '.join(missed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
