#!/usr/bin/env python3
"""Measures the cost of a host: memory, added latency per line, and disk usage while a bridge does not read.

Builds the program, and fails when a bar is missed. The options can also be given as variables: ROUNDS, UPDATE=1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
PAGE = REPO / "docs/performance-results.md"
BEGIN, END = "<!-- hosts: begin -->", "<!-- hosts: end -->"

PRIVATE_MIB_MAX = 4.0
ADDED_MS_MAX = 0.1
LINES = 2_000
SPOOL_BYTES_MAX = 4 << 20
# One read may exceed the limit, and files of the spool are removed as wholes.
SPOOL_SLACK_BYTES = (1 << 20) + (64 << 10)
MUTE_BYTES = 32 << 20
HOSTS = 20
SECONDS_MAX = 60


class Host:
    """`tidings host` with a program under it, and a bridge that implements the protocol from its description."""

    def __init__(self, tidings: Path, folder: Path, program: str, *args: str) -> None:
        folder.mkdir(mode=0o700)
        record = {"program": "0", "id": "h", "session": "s", "secret": "s3cret", "started": "then"}
        (folder / "host.json").write_text(json.dumps(record))
        self.folder = folder
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / "socket"))
        listener.listen()
        self.child = subprocess.Popen([tidings, "host", folder], stdin=listener, env={}, cwd="/")
        listener.close()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS_MAX)
        self.socket.connect(str(folder / "socket"))
        self.file = self.socket.makefile("rb")
        start = {
            "program": program, "args": list(args), "env": [["PATH", "/usr/bin:/bin"]], "cwd": None, "user": None,
            "orphans": "sweep", "lease_ms": 0, "spool_bytes_max": SPOOL_BYTES_MAX,
        }
        self.send({"kind": "start"}, json.dumps(start).encode())
        self.send({"kind": "attach", "version": 1, "secret": "s3cret", "owner": "bench", "fence": 1})
        while self.receive()[0]["kind"] != "ready":
            pass

    def send(self, head: dict, data: bytes = b"") -> None:
        self.socket.sendall(json.dumps(head | ({"bytes": len(data)} if data else {})).encode() + b"\n" + data)

    def receive(self) -> tuple[dict, bytes]:
        head = json.loads(self.file.readline())
        return head, self.file.read(head.get("bytes", 0))

    def close(self) -> None:
        self.send({"kind": "bye"})
        self.child.wait(SECONDS_MAX)
        self.file.close()
        self.socket.close()


def line(number: int) -> bytes:
    return b'{"type":"user","uuid":"%d","message":{"role":"user","content":"hello"}}' % number


def direct_ms(rounds: int) -> list[float]:
    """Round trips through a child that echoes its input, in milliseconds."""
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    took = []
    for number in range(rounds):
        data = line(number) + b"\n"
        began = time.perf_counter()
        child.stdin.write(data)
        got = b""
        while len(got) < len(data):
            got += child.stdout.read(4096)
        took.append((time.perf_counter() - began) * 1000)
    child.stdin.close()
    child.wait()
    child.stdout.close()
    return took


def hosted_ms(tidings: Path, folder: Path, rounds: int) -> list[float]:
    """Round trips with a host in between, in milliseconds. The host also confirms each line, which is not awaited."""
    host = Host(tidings, folder, "cat")
    took = []
    for number in range(rounds):
        data = line(number)
        message = json.dumps({"kind": "in", "id": f"l{number}", "bytes": len(data)}).encode() + b"\n" + data
        began = time.perf_counter()
        host.socket.sendall(message)
        got = b""
        while len(got) < len(data) + 1:
            head, bytes_ = host.receive()
            if head["kind"] == "out":
                got += bytes_
                end = head["end"]
        took.append((time.perf_counter() - began) * 1000)
        if number % 100 == 99:
            host.send({"kind": "ack", "offset": end})
    host.close()
    return took


def memory_mib(pid: int) -> tuple[float, float]:
    """The private memory and the resident memory of a process, in MiB."""
    fields = {}
    for text in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = text.split(":")
        fields[name] = int(value.split()[0]) / 1024
    return fields["Private_Clean"] + fields["Private_Dirty"], fields["Rss"]


def memory(tidings: Path, folder: Path) -> tuple[float, float]:
    """The largest memory of several hosts after some input and output, in MiB."""
    hosts = [Host(tidings, folder / str(number), "cat") for number in range(HOSTS)]
    for host in hosts:
        for number in range(100):
            host.send({"kind": "in", "id": f"l{number}"}, line(number))
            while host.receive()[0]["kind"] != "out":
                pass
    time.sleep(1)
    found = [memory_mib(host.child.pid) for host in hosts]
    for host in hosts:
        host.close()
    return max(private for private, _ in found), max(rss for _, rss in found)


def spool(tidings: Path, folder: Path) -> tuple[float, int]:
    """The largest spool in MiB for a bridge that does not read, and the bytes that arrive once it reads."""
    text = json.dumps({"type": "n", "pad": "x" * 240})
    host = Host(tidings, folder, "/bin/sh", "-c", f"yes '{text}' | head -c {MUTE_BYTES}; exec sleep 60")
    most, same, last = 0, 0, -1
    while same < 20:
        size = sum(file.stat().st_size for file in (folder / "spool").iterdir())
        most, same, last = max(most, size), same + 1 if size == last else 0, size
        time.sleep(0.05)
    total = 0
    while total < MUTE_BYTES:
        head, data = host.receive()
        if head["kind"] == "out":
            total += len(data)
            host.send({"kind": "ack", "offset": head["end"]})
    host.close()
    return most / (1 << 20), total


def main() -> int:
    given = os.environ.get
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=int(given("ROUNDS", "5")))
    parser.add_argument("--tidings", type=Path, help="path of `tidings`; built if not given")
    parser.add_argument("--update", action="store_true", default=bool(given("UPDATE")), help="update docs/performance-results.md")
    options = parser.parse_args()
    tidings = options.tidings
    if tidings is None:
        subprocess.run(["cargo", "build", "--profile", "bench", "-q", "-p", "tidings-cli"], cwd=REPO, check=True)
        tidings = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "release/tidings"
    tidings = tidings.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        direct, hosted = [], []
        for number in range(options.rounds):
            # Alternating, so that other load on the machine affects both.
            direct.append(statistics.median(direct_ms(LINES)))
            hosted.append(statistics.median(hosted_ms(tidings, root / f"l{number}", LINES)))
        (root / "m").mkdir()
        private, rss = memory(tidings, root / "m")
        kept, received = spool(tidings, root / "s")
    added = statistics.median(hosted) - statistics.median(direct)
    bound = (SPOOL_BYTES_MAX + SPOOL_SLACK_BYTES) / (1 << 20)
    rows = [
        ("memory that a host has to itself, the largest of 20", f"{private:.1f} MiB", f"at most {PRIVATE_MIB_MAX:.0f} MiB"),
        ("the same with what it shares with the other hosts and the server (RSS)", f"{rss:.1f} MiB", ""),
        ("a line to a child and back, median", f"{statistics.median(direct):.3f} ms", ""),
        ("the same with a host between, median", f"{statistics.median(hosted):.3f} ms", ""),
        ("what the host adds, there and back", f"{added:.3f} ms", f"at most {ADDED_MS_MAX} ms"),
        (f"disk for a bridge that reads nothing, with a bound of 4 MiB, of {MUTE_BYTES >> 20} MiB written",
         f"{kept:.1f} MiB", f"at most {bound:.1f} MiB"),
        ("bytes that come once it reads", f"{received / (1 << 20):.0f} MiB", f"{MUTE_BYTES >> 20} MiB"),
    ]
    table = ["| what | measured | bar |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    table.append("")
    table.append(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, shared with other work; "
                 f"{options.rounds} rounds of {LINES} lines.")
    print("\n".join(table))
    if options.update:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(table) + "\n" + END + rest.split(END)[1])
    missed = [private > PRIVATE_MIB_MAX, added > ADDED_MS_MAX, kept > bound, received < MUTE_BYTES]
    if any(missed):
        print("error: a bar was missed", file=sys.stderr)
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
