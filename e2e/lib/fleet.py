"""The parts of a fleet on one machine: NATS servers, links that can be cut, servers and hubs."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cli import CACHE

NATS = CACHE / "nats-server"
# Only bounds a hang.
SECONDS_MAX = 120
# Every prompt leads to a tool call that asks, and its result to a text.
SCRIPT = """
[pace]
chunk_chars = 24
chunk_delay_ms = 2
[[turn]]
when = { last_contains = "note" }
repeat = true
[[turn.block]]
text = "I will note it, with a sentence that is long enough for several deltas."
[[turn.block]]
tool = "Bash"
input = { command = "touch memo", description = "Make a memo" }
ask = true
result = "done"
[[turn]]
repeat = true
text = "That is all there is to say about it."
"""
# The stand-in with a lock for each CLI session: a second process of one session leaves a line in `twice`.
AGENT = """#!/bin/sh
id=
for word in "$@"; do
    case "$before" in --session-id | --resume) id=$word ;; esac
    before=$word
done
if [ -n "$id" ]; then
    exec 9>"{root}/lock-$id"
    flock -n 9 || echo "$id" >>"{root}/twice"
fi
exec '{tidings}' rehearse agent --script '{root}/script.toml' --config-dir '{root}/config' -- "$@"
"""
# Moves the wall clock of a program by an hour.
SKEW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += 3600;
    return result;
}
"""


def until(what: str, check: Callable[[], Any], seconds: float = SECONDS_MAX) -> Any:
    """Waits for a condition; the deadline only bounds a hang."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError(f"it did not happen: {what}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Nats:
    """One nats-server, alone or of a cluster, that can be killed, stopped and started again."""

    def __init__(self, root: Path, number: int = 0, routes: list[int] | None = None, accounts: str = "") -> None:
        self.port, self.route = free_port(), (routes or [0])[number]
        self.process: subprocess.Popen | None = None
        folder = root / f"nats-{number}"
        folder.mkdir()
        self._config, self._log = folder / "nats.conf", folder / "log"
        lines = [f'server_name: "n{number}"', f"listen: 127.0.0.1:{self.port}", f'jetstream {{ store_dir: "{folder}" }}']
        if routes:
            others = ", ".join(f"nats://127.0.0.1:{port}" for port in routes)
            # Clients know only the links of this test.
            cluster = f"name: c, listen: 127.0.0.1:{self.route}, no_advertise: true, routes: [{others}]"
            lines.append(f"cluster {{ {cluster} }}")
        self._config.write_text("\n".join([*lines, accounts]) + "\n")
        self.start()

    @classmethod
    def cluster(cls, root: Path, accounts: str = "") -> list[Nats]:
        routes = [free_port() for _ in range(3)]
        return [cls(root, number, routes, accounts) for number in range(3)]

    def start(self) -> None:
        with self._log.open("a") as log:
            self.process = subprocess.Popen([str(NATS), "-c", str(self._config)], stdout=log, stderr=log)

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def api(self, call: str, user: tuple[str, str] | None = None) -> dict[str, Any]:
        """The answer to a call of the JetStream API, as the operator of the NATS server makes it."""
        options: dict[str, Any] = {"verbose": False, "pedantic": False, "lang": "python", "version": "1", "protocol": 1}
        if user:
            options |= {"user": user[0], "pass": user[1]}
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as link, link.makefile("rwb") as stream:
            stream.readline()
            stream.write(f"CONNECT {json.dumps(options)}\r\nSUB _INBOX.e2e 1\r\nPUB $JS.API.{call} _INBOX.e2e 0\r\n\r\n".encode())
            stream.flush()
            while line := stream.readline():
                if line.startswith(b"PING"):
                    stream.write(b"PONG\r\n")
                    stream.flush()
                if line.startswith(b"-ERR"):
                    raise AssertionError(f"the NATS server refuses {call}: {line!r}")
                if line.startswith(b"MSG"):
                    return json.loads(stream.read(int(line.split()[-1])))
        raise OSError("the connection to the NATS server has ended")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Links:
    """The connections of one server to all NATS servers, as proxies: they can be cut and slowed down.

    A cut link loses no connection: nothing passes until it is mended, as in a network that drops packets.
    """

    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, ports: list[int]) -> None:
        if Links._loop is None:
            Links._loop = asyncio.new_event_loop()
            threading.Thread(target=Links._loop.run_forever, daemon=True).start()
        self.delay = 0.0
        made = asyncio.run_coroutine_threadsafe(self._listen(ports), Links._loop)
        self.ports: list[int] = made.result(SECONDS_MAX)

    @property
    def url(self) -> str:
        return ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)

    def cut(self) -> None:
        Links._loop.call_soon_threadsafe(self._open.clear)

    def mend(self) -> None:
        Links._loop.call_soon_threadsafe(self._open.set)

    async def _listen(self, ports: list[int]) -> list[int]:
        self._open = asyncio.Event()
        self._open.set()
        servers = [await asyncio.start_server(lambda r, w, port=port: self._pass(r, w, port), "127.0.0.1", 0) for port in ports]
        return [server.sockets[0].getsockname()[1] for server in servers]

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        try:
            await self._open.wait()
            there = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pump(reader, there[1]), self._pump(there[0], writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 16):
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self._open.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


class Local(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Member:
    """A `tidings serve` or a `tidings hub`, with its own data folder and its own links to the NATS servers."""

    def __init__(self, tidings: Path, root: Path, name: str, nats: list[int], kind: str = "serve") -> None:
        self.tidings, self.name, self.kind, self.root = tidings, name, kind, root / name
        self.links = Links(nats)
        self.data, self.project = self.root / "data", self.root / "project"
        self.project.mkdir(parents=True)
        self.claude = self.root / "claude"
        (self.root / "script.toml").write_text(SCRIPT)
        self.claude.write_text(AGENT.replace("{root}", str(self.root)).replace("{tidings}", str(tidings)))
        self.claude.chmod(0o755)
        keep = {name: os.environ[name] for name in ("PATH", "RUST_LOG") if name in os.environ}
        self.env = {**keep, "HOME": str(self.root), "CLAUDE_CONFIG_DIR": str(self.root / "config")}
        self.process: subprocess.Popen | None = None
        self.port, self.token = free_port(), ""
        self.flags: list[str] = []
        self.observe = "none"

    def cli(self, *args: str) -> Any:
        command = [str(self.tidings), *args, "--data", str(self.data), "--json"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=SECONDS_MAX)
        if done.returncode:
            raise AssertionError(f"tidings {' '.join(args[:2])} on {self.name}: {done.stdout} {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def fails(self, *args: str) -> str:
        """The message of a command that must fail."""
        command = [str(self.tidings), *args, "--data", str(self.data)]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=SECONDS_MAX)
        assert done.returncode, f"it succeeded: {' '.join(args)}: {done.stdout}"
        return done.stderr

    def skew(self) -> None:
        """Moves its wall clock by an hour, from its next start on."""
        source, library = self.root / "skew.c", self.root / "skew.so"
        source.write_text(SKEW)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        self.env["LD_PRELOAD"] = str(library)

    def start(self, *flags: str) -> Member:
        command = [str(self.tidings), self.kind, "--json", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}"]
        command += ["--fleet", self.links.url, "--claude-path", str(self.claude), "--observe", self.observe]
        command += ["--log-level", os.environ.get("LOG_LEVEL", "warn"), *self.flags, *flags]
        with (self.root / "log").open("a") as log:
            self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True)
        if not self.process.stdout.readline():
            raise AssertionError(f"{self.name} did not start: {self.said()}")
        self.token = (self.data / "token").read_text().strip()
        return self

    def local(self, seconds: float) -> http.client.HTTPConnection:
        """A connection to its socket, where its admin token is accepted."""
        return Local(self.data / "server.sock", seconds)

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self, by: int = signal.SIGTERM) -> None:
        if self.process and self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.send(by)
            self.process.wait(timeout=SECONDS_MAX)
            self.process.stdout.close()

    def said(self) -> str:
        return "\n".join((self.root / "log").read_text().splitlines()[-15:])

    def call(
        self, method: str, path: str, body: Any = None, token: str | None = None, key: str | None = None,
        seconds: float = SECONDS_MAX,
    ) -> tuple[int, Any]:
        """Status and JSON of a response; status 0 if the server cannot be reached."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds) if token else self.local(seconds)
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key
        try:
            link.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = link.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text.strip().startswith(("{", "[")) else text
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            link.close()

    def session(self, key: str) -> dict[str, Any] | None:
        status, found = self.call("GET", f"/v1/sessions/{key}")
        return found if status == 200 else None

    def pending(self, key: str) -> dict[str, Any] | None:
        status, found = self.call("GET", f"/v1/permissions?session={key}")
        return found["items"][0] if status == 200 and found["items"] else None

    def history(self, key: str) -> list[tuple[int, Any]]:
        """All events of a session on this server, with their numbers."""
        events: list[tuple[int, Any]] = []
        before = ""
        while True:
            status, page = self.call("GET", f"/v1/sessions/{key}/history?limit=500{before}")
            if status != 200 or not page["items"]:
                return events
            events = [(item["seq"], item["event"]) for item in page["items"]] + events
            before = f"&before={events[0][0]}"

    def reachable(self) -> set[str]:
        """The servers of the fleet that this one hears."""
        status, found = self.call("GET", "/v1/fleet")
        return {node["name"] for node in found["nodes"] if node["is_reachable"]} if status == 200 else set()


def finish_turn(member: Member, key: str) -> None:
    """Answers the request of a turn, and waits for its end."""
    ask = until("a request", lambda: member.pending(key))
    answer = {"decision": "allow", "digest": ask["details"]["digest"]}
    assert member.call("POST", f"/v1/sessions/{key}/permissions/{ask['tool_use_id']}", answer)[0] == 200
    until("the turn ends", lambda: member.session(key)["state"] == "idle")


def cleaned(root: Path) -> None:
    """Ends the agents that outlived their servers, and removes the folder."""
    for pid in Path("/proc").glob("[0-9]*"):
        try:
            command = (pid / "cmdline").read_bytes()
            if str(root).encode() in command and int(pid.name) != os.getpid():
                os.kill(int(pid.name), signal.SIGKILL)
        except (OSError, ValueError):
            pass
    shutil.rmtree(root, ignore_errors=True)
