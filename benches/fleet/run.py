#!/usr/bin/env python3
"""Measures a fleet on this machine: latency, throughput, CPU and recovery, with one NATS server and with three.

Builds the program, and fails when a bar is missed. Variables: TIDINGS=path for another program, EVENTS=n for the length of
the backlog, UPDATE=1 to write the table into docs/scaling.md.
"""

from __future__ import annotations

import http.client
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO / "e2e"))
sys.dont_write_bytecode = True

from lib.fleet import Member, Nats, cleaned, until  # noqa: E402

PAGE = REPO / "docs/scaling.md"
BEGIN, END = "<!-- fleet: begin -->", "<!-- fleet: end -->"
# One delta of four characters every four milliseconds, as a fast model writes.
LIVE = {"deltas": 2_000, "delay_ms": 4}
SUBSCRIBERS = 20
EVENTS = int(os.environ.get("EVENTS", "1000000"))
SYNC = "sync_interval 2m (the default of NATS)"


class Row:
    """A figure, and its bar."""

    def __init__(self, name: str, value: float, unit: str, bar: tuple[str, float] | None = None) -> None:
        self.name, self.value, self.unit, self.bar = name, value, unit, bar

    @property
    def is_fine(self) -> bool:
        if self.bar is None:
            return True
        return self.value <= self.bar[1] if self.bar[0] == "<" else self.value >= self.bar[1]

    def cells(self) -> list[str]:
        bar = "" if self.bar is None else f"{'at most' if self.bar[0] == '<' else 'at least'} {self.bar[1]:,g}"
        return [self.name, f"{self.value:,.2f} {self.unit}" if self.value < 100 else f"{self.value:,.0f} {self.unit}", bar]


def script(deltas: int, delay_ms: int) -> str:
    """An answer in a number of deltas."""
    return f'[pace]\nchunk_chars = 4\nchunk_delay_ms = {delay_ms}\n[[turn]]\nrepeat = true\ntext = "{"abcd" * deltas}"\n'


class Subscriber(threading.Thread):
    """Reads a session, and notes the time of each event."""

    def __init__(self, member: Member, key: str, head: int | None = None) -> None:
        super().__init__(daemon=True)
        self.member, self.key, self.head = member, key, head
        self.times: dict[int, float] = {}
        # Time of the first event of each connection.
        self.firsts: list[float] = []
        self.last = 0
        self.stopping = threading.Event()
        self.ready = threading.Event()

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._read()
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)

    def _read(self) -> None:
        link = http.client.HTTPConnection("127.0.0.1", self.member.port, timeout=2)
        headers = {"Authorization": f"Bearer {self.member.credential}"}
        if self.last:
            headers["Last-Event-ID"] = self.cursor
        link.request("GET", f"/v1/sessions/{self.key}/events?deltas=all", None, headers)
        answer = link.getresponse()
        before = self.last
        try:
            while not self.stopping.is_set() and (line := answer.readline()):
                if line.startswith(b"id:"):
                    self.cursor = line[3:].strip().decode()
                    self.last = int(self.cursor.partition(":")[2])
                    self.times[self.last] = time.monotonic()
                    if before is not None and self.last > before:
                        self.firsts.append(self.times[self.last])
                        before = None
                self.ready.set()
        finally:
            link.close()


def cpu(member: Member) -> float:
    """Seconds of CPU of a server so far."""
    fields = Path(f"/proc/{member.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def session(member: Member, deltas: int, delay_ms: int) -> str:
    (member.root / "script.toml").write_text(script(deltas, delay_ms))
    made = until("a session", lambda: ok(member.call("POST", "/v1/sessions", {"cwd": str(member.project)})))
    return made["key"]


def ok(result: tuple[int, Any]) -> Any:
    return result[1] if 200 <= result[0] < 300 else None


def prompt(member: Member, key: str) -> None:
    assert ok(member.call("POST", f"/v1/sessions/{key}/input", {"content": "go"}))


def ended(member: Member, key: str) -> int:
    """Waits for the end of a turn; returns the number of events."""
    until("the turn ends", lambda: member.session(key)["state"] == "idle", 900)
    return member.session(key)["head"]


def live(member: Member, key: str, subscribers: list[Subscriber]) -> float:
    """Plays an answer to subscribers; returns its seconds."""
    for each in subscribers:
        each.start()
        each.ready.wait(30)
    began = time.monotonic()
    prompt(member, key)
    head = ended(member, key)
    until("everything is read", lambda: all(each.last >= head for each in subscribers))
    took = time.monotonic() - began
    for each in subscribers:
        each.stopping.set()
    return took


def alone(tidings: Path, root: Path) -> Member:
    """A server without a fleet."""
    member = Member(tidings, root, "alone", [])
    member.links.ports = []
    return started(member, "serve")


def started(member: Member, kind: str) -> Member:
    command = [str(member.tidings), kind, "--json", "--data", str(member.data), "--listen", f"127.0.0.1:{member.port}"]
    command += ["--claude-path", str(member.claude), "--observe", "none", "--log-level", "warn"]
    member.process = subprocess.Popen(command, env=member.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert member.process.stdout.readline()
    member.token = (member.data / "token").read_text().strip()
    member.credential = member.cli("token", "create", "--name", "bench", "--scope", "admin")["token"]
    return member


class Fleet:
    """A server and two hubs over one NATS server, or over three."""

    def __init__(self, tidings: Path, root: Path, replicas: int) -> None:
        root.mkdir()
        self.nats = [Nats(root)] if replicas == 1 else Nats.cluster(root)
        url = ",".join(f"nats://127.0.0.1:{server.port}" for server in self.nats)
        self.node = Member(tidings, root, "node", [])
        self.hubs = [Member(tidings, root, name, [], "hub") for name in ("hub-a", "hub-b")]
        self.node.cli("fleet", "init", url, "--node", "node", "--replicas", str(replicas))
        started(self.node, "serve")
        until("it is connected", lambda: "node" in self.node.reachable())
        for hub in self.hubs:
            hub.cli("fleet", "join", self.node.cli("fleet", "invite", "--hub")["code"], "--node", hub.name)
            started(hub, "hub")
        until("all are connected", lambda: all(len(m.reachable()) == 3 for m in (self.node, *self.hubs)))

    def close(self) -> None:
        for member in (self.node, *self.hubs):
            member.stop()
        for server in self.nats:
            server.kill()


def latency(tidings: Path, root: Path, fleet: Fleet) -> list[Row]:
    """Added time for subscribers of a hub; time and CPU of local ones with and without a fleet."""
    single = alone(tidings, root)
    key = session(single, **LIVE)
    began = cpu(single)
    without = live(single, key, [Subscriber(single, key) for _ in range(SUBSCRIBERS)])
    cpu_alone = cpu(single) - began
    events = single.session(key)["head"]
    single.stop()

    key = session(fleet.node, **LIVE)
    until("the hub has it", lambda: fleet.hubs[0].session(key))
    began = cpu(fleet.node)
    with_fleet = live(fleet.node, key, [Subscriber(fleet.node, key) for _ in range(SUBSCRIBERS)])
    cpu_node = cpu(fleet.node) - began

    key = session(fleet.node, **LIVE)
    until("the hub has it", lambda: fleet.hubs[0].session(key))
    near = Subscriber(fleet.node, key)
    far = [Subscriber(fleet.hubs[0], key) for _ in range(SUBSCRIBERS)]
    began = cpu(fleet.hubs[0])
    live(fleet.node, key, [near, *far])
    cpu_hub = cpu(fleet.hubs[0]) - began
    added = sorted((far[0].times[seq] - at) * 1000 for seq, at in near.times.items() if seq in far[0].times)
    delivered = events * SUBSCRIBERS
    return [
        Row("local subscribers with a fleet, time of an answer compared with a server alone", with_fleet / without, "×", ("<", 1.05)),
        Row("remote subscribers, added p50", statistics.median(added), "ms", ("<", 3)),
        Row("remote subscribers, added p99", added[int(len(added) * 0.99)], "ms"),
        Row("CPU per delivered event, server alone", cpu_alone / delivered * 1e6, "µs"),
        Row("CPU per delivered event, server of a fleet", cpu_node / delivered * 1e6, "µs"),
        Row("CPU per delivered event, hub compared with a server", cpu_hub / cpu_node, "×", ("<", 1)),
    ]


def backlog(fleet: Fleet, events: int, name: str) -> list[Row]:
    """A server comes back to NATS with a long backlog, and a hub reads it."""
    for server in fleet.nats:
        server.kill()
    key = session(fleet.node, events, 0)
    prompt(fleet.node, key)
    head = ended(fleet.node, key)
    sent = fleet.node.call("GET", "/v1/fleet")[1]["events_sent"]
    for server in fleet.nats:
        server.start()
    until("it is connected", lambda: fleet.node.call("GET", "/v1/fleet")[1]["is_connected"])
    began = time.monotonic()
    # Three servers elect their leaders first.
    until("it begins", lambda: fleet.node.call("GET", "/v1/fleet")[1]["events_sent"] > sent)
    first = time.monotonic()
    until("it is published", lambda: fleet.node.call("GET", "/v1/fleet")[1]["events_sent"] >= sent + head, 900)
    published = time.monotonic() - first
    until("it is read", lambda: (fleet.hubs[0].session(key) or {}).get("head", 0) >= head, 900)
    caught_up = time.monotonic() - began
    until("it is read", lambda: (fleet.hubs[1].session(key) or {}).get("head", 0) >= head, 900)
    return [
        Row(f"{name}: {head:,} events published by one server, per second", head / published, "events/s", (">", 20_000)),
        Row(f"{name}: the same on a hub", caught_up, "s", ("<", 120 * max(events, 1) / 1_000_000)),
    ]


def hub_fails(fleet: Fleet) -> list[Row]:
    """A client of a killed hub goes on at the other one."""
    key = session(fleet.node, 3_000, 4)
    until("the hubs have it", lambda: all(hub.session(key) for hub in fleet.hubs))
    reader = Subscriber(fleet.hubs[0], key)
    reader.start()
    prompt(fleet.node, key)
    until("it reads", lambda: len(reader.times) > 200)
    at = time.monotonic()
    reader.member = fleet.hubs[1]
    fleet.hubs[0].stop(signal.SIGKILL)
    until("it reads again", lambda: len(reader.firsts) > 1)
    back = reader.firsts[1] - at
    head = ended(fleet.node, key)
    until("it has all", lambda: reader.last >= head)
    reader.stopping.set()
    missing = head - sum(seq > 0 for seq in reader.times)
    started(fleet.hubs[0], "hub")
    return [
        Row("a hub fails: its client reads on", back, "s", ("<", 3)),
        Row("a hub fails: events missing", missing, "", ("<", 0)),
    ]


def nats_fails(fleet: Fleet) -> list[Row]:
    """Of three NATS servers one fails: the longest pause of remote and local acknowledgements."""
    key = session(fleet.node, 10, 0)
    hub = fleet.hubs[1]
    until("the hub has it", lambda: hub.session(key))
    worst = {"remote": 0.0, "local": 0.0}
    stopping = threading.Event()

    def work(name: str, member: Member) -> None:
        last, number = time.monotonic(), 0
        while not stopping.is_set():
            number += 1
            if ok(member.call("PATCH", f"/v1/sessions/{key}", {"title": f"{name} {number}"})):
                worst[name] = max(worst[name], time.monotonic() - last)
                last = time.monotonic()
            time.sleep(0.01)

    for server in fleet.nats:
        threads = [threading.Thread(target=work, args=pair) for pair in (("remote", hub), ("local", fleet.node))]
        stopping.clear()
        [thread.start() for thread in threads]
        time.sleep(1)
        server.kill()
        time.sleep(12)
        stopping.set()
        [thread.join() for thread in threads]
        server.start()
        until("all are connected", lambda: all(len(m.reachable()) == 3 for m in (fleet.node, *fleet.hubs)))
    return [
        Row("a NATS server of three fails: longest pause of remote acknowledgements", worst["remote"], "s", ("<", 10)),
        Row("a NATS server of three fails: longest pause of local acknowledgements", worst["local"], "s", ("<", 1)),
    ]


def table(rows: list[Row]) -> str:
    lines = [["figure", "measured", "bar"], ["---", "--:", "--:"], *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def build() -> Path:
    if given := os.environ.get("TIDINGS"):
        return Path(given).resolve()
    subprocess.run(["cargo", "build", "--quiet", "--profile", "bench", "-p", "tidings-cli"], cwd=REPO, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "release" / "tidings"


def main() -> int:
    subprocess.run([str(REPO / "e2e/install.sh"), "nats"], check=True)
    tidings = build()
    root = Path(tempfile.mkdtemp(prefix="tidings-fleet-bench-"))
    rows: list[Row] = []
    try:
        for replicas in (1, 3):
            name = "one replica" if replicas == 1 else "three replicas"
            fleet = Fleet(tidings, root / str(replicas), replicas)
            try:
                parts = [lambda f: backlog(f, EVENTS, name), hub_fails] if replicas == 1 else [lambda f: backlog(f, EVENTS, name), nats_fails]
                if replicas == 1:
                    parts.insert(0, lambda f: latency(tidings, root, f))
                for part in parts:
                    rows += (found := part(fleet))
                    print("\n".join(" ".join(row.cells()) for row in found), file=sys.stderr, flush=True)
            finally:
                fleet.close()
    finally:
        cleaned(root)
    machine = f"{os.cpu_count()} cores, {platform.system()}, {SYNC}; `EVENTS={EVENTS} make bench-fleet`"
    text = f"{table(rows)}\n\n{machine}."
    print(text)
    if os.environ.get("UPDATE"):
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    missed = [row.name for row in rows if not row.is_fine]
    print("\n".join(f"missed: {name}" for name in missed), file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
