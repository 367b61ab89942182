#!/usr/bin/env python3
"""A server under load: many clients at once, then many sessions and subscribers that leave again.

1. Bursts: clients of one address open connections at once. Each is served, or told when to come again.
2. Memory: sessions work while subscribers read them; then all of them go. A minute later the server takes at most
   1.5 times the memory from before.

Fails if one of these is missed. `CLIENTS=n`, `SESSIONS=n`, `SUBSCRIBERS=n`, `ROUNDS=n` and `SETTLE=n` (seconds) set the
sizes; `TIDINGS=path` names the program. Needs no key and no `claude`. Linux only.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
TIDINGS = Path(os.environ.get("TIDINGS", Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "debug/tidings"))
CLIENTS = int(os.environ.get("CLIENTS", "1000"))
SESSIONS = int(os.environ.get("SESSIONS", "200"))
SUBSCRIBERS = int(os.environ.get("SUBSCRIBERS", "1000"))
ROUNDS = int(os.environ.get("ROUNDS", "12"))
SETTLE = float(os.environ.get("SETTLE", "60"))
GROWTH_MAX = 1.5
OPEN_FILES = 16_384

TEXT = "A sum of prices should not depend on the order of the prices. " * 16
SCRIPT = f'name = "load"\nabout = "Text"\n[pace]\nchunk_chars = 24\nchunk_delay_ms = 1\n[[turn]]\ntext = "{TEXT}"\n'
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: tidings.v1\r\n"
)


class Server:
    """`tidings serve` with a stand-in for `claude`."""

    def __init__(self, root: Path) -> None:
        self.data, self.project = root / "data", root / "project"
        self.project.mkdir()
        (root / "script.toml").write_text(SCRIPT)
        agent = root / "claude"
        agent.write_text(f'#!/bin/sh\nexec "{TIDINGS}" rehearse agent --script "{root}/script.toml" "$@"\n')
        agent.chmod(0o755)
        command = [TIDINGS, "serve", "--json", "--listen", "127.0.0.1:0", "--live-max", "1000", "--log-level", "error"]
        command += ["--data", self.data, "--claude-path", agent]
        env = {"PATH": os.environ["PATH"], "HOME": str(root)}
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env)
        assert self.child.stdout
        said = json.loads(self.child.stdout.readline())
        self.address = said["address"].split("//")[1]
        host, port = self.address.split(":")
        self.place = (host, int(port))
        self.token = (self.data / "token").read_text().strip()
        unix = socket.socket(socket.AF_UNIX)
        unix.connect(said["socket"])
        self.token = self.call("POST", "/v1/devices", {"name": "load", "scopes": ["admin"]}, unix)["token"]

    def call(self, method: str, path: str, body: Any = None, unix: socket.socket | None = None) -> Any:
        connection = http.client.HTTPConnection(*self.place)
        if unix:
            connection.sock = unix
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text.decode()}")
        return json.loads(text) if text else None

    def head(self, path: str, more: str = "") -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: {self.address}\r\nAuthorization: Bearer {self.token}\r\n{more}\r\n".encode()

    def mib(self) -> float:
        lines = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


async def client(server: Server, n: int, all_open: asyncio.Barrier) -> str:
    """Connects, waits until all have, and returns the status of its first response."""
    reader, writer = await asyncio.open_connection(*server.place)
    await all_open.wait()
    path, more = [("/v1/sessions", ""), ("/v1/events", ""), ("/v1/ws", UPGRADE)][n % 3]
    try:
        writer.write(server.head(path, more))
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode().lower()
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
        return f"closed ({type(error).__name__})"
    finally:
        await all_open.wait()
        writer.close()
    status = head.split(" ")[1]
    return f"{status} without a time" if status in ("429", "503") and "retry-after:" not in head else status


async def burst(server: Server) -> list[str]:
    all_open = asyncio.Barrier(CLIENTS)
    counts = Counter(await asyncio.gather(*(client(server, n, all_open) for n in range(CLIENTS))))
    print(f"{CLIENTS} clients at once: {dict(counts)}", flush=True)
    return [f"{count} clients: {status}" for status, count in counts.items() if status not in ("200", "101", "429", "503")]


async def subscriber(server: Server, n: int, key: str) -> None:
    """Reads the events of a session, on a stream or a WebSocket, until it is cancelled."""
    reader, writer = await asyncio.open_connection(*server.place)
    try:
        if n % 2:
            writer.write(server.head(f"/v1/sessions/{key}/events"))
        else:
            writer.write(server.head("/v1/ws", UPGRADE))
            message = json.dumps({"type": "subscribe", "session": key}).encode()
            writer.write(bytes([0x81, 0x80 | len(message), 0, 0, 0, 0]) + message)
        while await reader.read(1 << 16):
            # Any frame counts as an answer to the server's heartbeats.
            if n % 2 == 0:
                writer.write(bytes([0x8A, 0x80, 0, 0, 0, 0]))
    finally:
        writer.close()


async def memory(server: Server) -> list[str]:
    def sessions(count: int) -> list[str]:
        return [server.call("POST", "/v1/sessions", {"cwd": str(server.project)})["key"] for _ in range(count)]

    def prompt(keys: list[str]) -> None:
        for key in keys:
            server.call("POST", f"/v1/sessions/{key}/input", {"content": "hello"})

    def idle(keys: list[str]) -> None:
        deadline = time.monotonic() + 120
        for key in keys:
            while server.call("GET", f"/v1/sessions/{key}")["state"] != "idle":
                assert time.monotonic() < deadline, "the agents do not finish"
                time.sleep(0.1)

    def delete(keys: list[str]) -> None:
        for key in keys:
            server.call("DELETE", f"/v1/sessions/{key}")

    # The code of the program that a session uses is in memory before it is measured.
    first = await asyncio.to_thread(sessions, 1)
    await asyncio.to_thread(prompt, first)
    await asyncio.to_thread(idle, first)
    await asyncio.to_thread(delete, first)
    before = server.mib()
    keys = await asyncio.to_thread(sessions, SESSIONS)
    reading = [asyncio.create_task(subscriber(server, n, keys[n % SESSIONS])) for n in range(SUBSCRIBERS)]
    for _ in range(ROUNDS):
        await asyncio.to_thread(prompt, keys)
        await asyncio.to_thread(idle, keys)
    most = server.mib()
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    await asyncio.to_thread(delete, keys)
    deadline = time.monotonic() + SETTLE
    while (after := server.mib()) > GROWTH_MAX * before and time.monotonic() < deadline:
        await asyncio.sleep(1)
    print(
        f"{SESSIONS} sessions, {SUBSCRIBERS} subscribers, {ROUNDS} turns each: {before:.0f} MiB before, {most:.0f} MiB "
        f"during, {after:.0f} MiB after ({after / before:.2f} times)",
        flush=True,
    )
    return [f"{after:.0f} MiB stay of {before:.0f}"] if after > GROWTH_MAX * before else []


async def run() -> list[str]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most), most))
    with tempfile.TemporaryDirectory(prefix="load-", ignore_cleanup_errors=True) as root:
        server = Server(Path(root))
        try:
            return (await burst(server)) + (await memory(server) if SESSIONS else [])
        finally:
            server.child.terminate()
            server.child.wait(30)


if __name__ == "__main__":
    problems = asyncio.run(run())
    for problem in problems:
        print(f"problem: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)
