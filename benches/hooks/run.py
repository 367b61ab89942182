#!/usr/bin/env python3
"""Measures what hooks and followed terminal sessions cost.

Builds the program, and fails when a bar is missed. The options can also be given as variables: ROUNDS, UPDATE=1.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

REPO = Path(__file__).resolve().parent.parent.parent
PAGE = REPO / "docs/performance-results.md"
BEGIN, END = "<!-- hooks: begin -->", "<!-- hooks: end -->"

CALL_CPU_MS_MAX = 10.0
CALL_MS_MAX = 15.0
ALONE_MS_MAX = 50.0
PEAK_MIB_MAX = 8.0
FOLLOWED = 50
FOLLOWED_SHARE_MAX = 0.01
IDLE_SECONDS = 30
ENTRIES = 200
SECONDS_MAX = 60
TICKS = os.sysconf("SC_CLK_TCK")


class Place:
    """A configuration folder with sessions, and a data folder. This process stands for the CLI that runs hooks."""

    def __init__(self, root: Path, tidings: Path) -> None:
        self.tidings = str(tidings)
        self.project, self.config, self.data = root / "project", root / "config", root / "data"
        for folder in (self.project, self.config / "sessions", self.config / "projects" / "-project"):
            folder.mkdir(parents=True)
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(root), "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_SESSION_ATTENDED": "1",
        }

    def session(self, pid: int) -> str:
        """Writes the files of an idle session of a process; returns its id."""
        session = str(uuid.uuid4())
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]
        described = {
            "pid": pid, "sessionId": session, "cwd": str(self.project), "procStart": start, "kind": "interactive",
            "entrypoint": "cli", "status": "idle",
        }
        (self.config / "sessions" / f"{pid}.json").write_text(json.dumps(described))
        with open(self.config / "projects" / "-project" / f"{session}.jsonl", "w") as file:
            before = None
            for number in range(ENTRIES):
                entry = {
                    "type": "user", "uuid": str(uuid.uuid4()), "parentUuid": before, "sessionId": session,
                    "cwd": str(self.project), "entrypoint": "cli", "timestamp": "2026-01-01T00:00:00.000Z",
                    "message": {"role": "user", "content": f"prompt {number}"},
                }
                file.write(json.dumps(entry) + "\n")
                before = entry["uuid"]
        return session

    def hook(self, event: str, body: bytes) -> tuple[float, float]:
        """Runs a hook; returns its wall time and its CPU time in milliseconds."""
        given, give = os.pipe()
        os.write(give, body)
        os.close(give)
        out = os.open(os.devnull, os.O_WRONLY)
        moves = [(os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, out, 1)]
        began = time.perf_counter()
        args = [self.tidings, "hook", "run", event, "--data", str(self.data)]
        pid = os.posix_spawn(self.tidings, args, self.env, file_actions=moves)
        _, status, used = os.wait4(pid, 0)
        took = (time.perf_counter() - began) * 1000
        os.close(given)
        os.close(out)
        if status:
            raise RuntimeError(f"a hook ended with {status}")
        return took, (used.ru_utime + used.ru_stime) * 1000


class Server:
    """`tidings serve` on a place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.child = subprocess.Popen(
            [place.tidings, "serve", "--json", "--listen", "127.0.0.1:0", "--data", str(place.data), "--agent-lease", "0"],
            env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.host = urlsplit(json.loads(self.child.stdout.readline())["address"]).netloc
        create = [place.tidings, "token", "create", "--name", "bench", "--scope", "admin", "--json", "--data", str(place.data)]
        made = subprocess.run(create, env=place.env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.token = json.loads(made.stdout)["token"]

    def items(self, path: str) -> list[dict]:
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS_MAX)
        connection.request("GET", path, None, {"Authorization": f"Bearer {self.token}"})
        found = json.loads(connection.getresponse().read())["items"]
        connection.close()
        return found

    def wait(self, path: str, count: int) -> None:
        until = time.monotonic() + SECONDS_MAX
        while len(self.items(path)) < count:
            if time.monotonic() > until:
                raise RuntimeError(f"{path} has {len(self.items(path))} items, not {count}")
            time.sleep(0.05)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def close(self) -> None:
        self.child.terminate()
        self.child.wait(SECONDS_MAX)


def call(session: str, number: int) -> bytes:
    """The input of the hooks of a tool call."""
    return json.dumps({
        "session_id": session, "cwd": "/", "tool_name": "Bash", "tool_use_id": f"toolu_{number}",
        "tool_input": {"command": "make test", "description": "Run the tests"},
    }).encode()


def calls(place: Place, session: str, rounds: int) -> tuple[float, float]:
    """The wall time and the CPU time that the two hooks of a tool call take, as medians in milliseconds."""
    wall, cpu = [], []
    for number in range(rounds):
        both = [place.hook(event, call(session, number)) for event in ("PreToolUse", "PostToolUse")]
        wall.append(sum(took for took, _ in both))
        cpu.append(sum(used for _, used in both))
    return statistics.median(wall), statistics.mean(cpu)


def peak_mib(place: Place, server: Server, session: str) -> float:
    """The largest memory of a hook that holds a permission request."""
    hook = subprocess.Popen(
        [place.tidings, "hook", "run", "PermissionRequest", "--data", str(place.data), "--reply-ms", "5000"],
        env=place.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )
    hook.stdin.write(call(session, 0))
    hook.stdin.close()
    server.wait("/v1/permissions", 1)
    status = Path(f"/proc/{hook.pid}/status").read_text()
    hook.terminate()
    hook.wait(SECONDS_MAX)
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def followed_share(place: Place, seconds: float) -> float:
    """The share of a core that a server uses which follows idle sessions."""
    sleeping = [subprocess.Popen(["sleep", "600"]) for _ in range(FOLLOWED)]
    try:
        for process in sleeping:
            place.session(process.pid)
        server = Server(place)
        try:
            server.wait("/v1/sessions?limit=1000", FOLLOWED)
            time.sleep(5)
            before = server.cpu_seconds()
            time.sleep(seconds)
            return (server.cpu_seconds() - before) / seconds
        finally:
            server.close()
    finally:
        for process in sleeping:
            process.kill()
            process.wait()


def main() -> int:
    given = os.environ.get
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=int(given("ROUNDS", "100")))
    parser.add_argument("--seconds", type=float, default=IDLE_SECONDS, help="time for which idle sessions are followed")
    parser.add_argument("--tidings", type=Path, help="path of `tidings`; built if not given")
    parser.add_argument("--update", action="store_true", default=bool(given("UPDATE")), help="update docs/performance-results.md")
    options = parser.parse_args()
    tidings = options.tidings
    if tidings is None:
        subprocess.run(["cargo", "build", "--profile", "bench", "-q", "-p", "tidings-cli"], cwd=REPO, check=True)
        tidings = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "release/tidings"
    tidings = tidings.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(Path(scratch) / "one", tidings)
        session = place.session(os.getpid())
        alone, alone_cpu = calls(place, session, options.rounds)
        server = Server(place)
        server.wait("/v1/sessions", 1)
        wall, cpu = calls(place, session, options.rounds)
        peak = peak_mib(place, server, session)
        server.close()
        share = followed_share(Place(Path(scratch) / "many", tidings), options.seconds)
    rows = [
        ("CPU time of the two hooks of a tool call", f"{cpu:.1f} ms", f"at most {CALL_CPU_MS_MAX:.0f} ms", cpu > CALL_CPU_MS_MAX),
        ("time that they add to the call, median", f"{wall:.1f} ms", f"at most {CALL_MS_MAX:.0f} ms", wall > CALL_MS_MAX),
        ("the same without a server", f"{alone:.1f} ms", f"at most {ALONE_MS_MAX:.0f} ms", alone > ALONE_MS_MAX),
        ("CPU time without a server", f"{alone_cpu:.1f} ms", "", False),
        ("memory of a hook that waits for an answer, at its peak", f"{peak:.1f} MiB", f"at most {PEAK_MIB_MAX:.0f} MiB",
         peak > PEAK_MIB_MAX),
        (f"share of a core for following {FOLLOWED} idle sessions", f"{share * 100:.2f} %",
         f"under {FOLLOWED_SHARE_MAX * 100:.0f} %", share >= FOLLOWED_SHARE_MAX),
    ]
    table = ["| what | measured | bar |", "|---|---|---|", *(f"| {' | '.join(row[:3])} |" for row in rows), ""]
    table.append(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, shared with other work; "
                 f"{options.rounds} tool calls, {options.seconds:.0f} s of following.")
    print("\n".join(table))
    if options.update:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(table) + "\n" + END + rest.split(END)[1])
    missed = [row[0] for row in rows if row[3]]
    for name in missed:
        print(f"error: missed: {name}", file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
