#!/usr/bin/env python3
"""A fleet of two servers and a hub on this machine, over a real nats-server: what is done on one is seen and steered from the others.

A history checker follows every session on every server and resumes at random ones: no stored event is lost, repeated or out of
order, each request has one winner, and nothing that was acknowledged is missing. ROUNDS=n sets the length, SEED=n the random seed.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

E2E = Path(__file__).resolve().parent
TIDINGS = os.environ.get("TIDINGS") or str(Path(os.environ.get("CARGO_TARGET_DIR", E2E.parent / "target")) / "debug" / "tidings")
NATS = str(E2E / ".cache" / "nats-server")
SECONDS_MAX = 90
SCRIPT = """
[[turn]]
[[turn.block]]
text = "I will note it."
[[turn.block]]
tool = "Bash"
input = { command = "touch note", description = "Make a note" }
ask = true
result = "done"
[[turn]]
text = "Noted. That is all there is to say about it."
"""


def until(what: str, check: Any) -> Any:
    """Waits for a condition; the deadline only limits a hang."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"it did not happen: {what}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Nats:
    """A nats-server that can be killed and started again."""

    def __init__(self, root: Path) -> None:
        self.root, self.port, self.process = root, free_port(), None
        self.start()

    def start(self) -> None:
        args = [NATS, "-js", "-a", "127.0.0.1", "-p", str(self.port), "-sd", str(self.root / "nats")]
        self.process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"


class Server:
    """A `tidings serve` or `tidings hub` with its own data folder."""

    def __init__(self, root: Path, name: str, kind: str = "serve") -> None:
        self.name, self.kind, self.root = name, kind, root / name
        self.data, self.project = self.root / "data", self.root / "project"
        self.project.mkdir(parents=True)
        self.claude = self.root / "claude"
        (self.root / "script.toml").write_text(SCRIPT)
        agent = f"'{TIDINGS}' rehearse agent --script '{self.root}/script.toml' --config-dir '{self.root}/config'"
        self.claude.write_text(f"#!/bin/sh\nexec {agent} -- \"$@\"\n")
        self.claude.chmod(0o755)
        self.env = {**os.environ, "HOME": str(self.root), "CLAUDE_CONFIG_DIR": str(self.root / "config")}
        self.process, self.port = None, free_port()

    def cli(self, *args: str) -> Any:
        done = subprocess.run([TIDINGS, *args, "--data", str(self.data), "--json"], env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, f"tidings {' '.join(args[:2])}: {done.stdout} {done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else None

    def start(self) -> Server:
        args = [TIDINGS, self.kind, "--json", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}", "--log-level", "warn"]
        args += ["--observe", "none", "--claude-path", str(self.claude)]
        log = (self.root / "log").open("a")
        self.process = subprocess.Popen(args, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout.readline(), (self.root / "log").read_text()
        self.token = (self.data / "token").read_text().strip()
        return self

    def stop(self, by: int = signal.SIGTERM) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(by)
            self.process.wait(timeout=SECONDS_MAX)

    def call(self, method: str, path: str, body: Any = None, token: str | None = None, key: str | None = None) -> tuple[int, Any]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
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
        finally:
            link.close()

    def session(self, key: str) -> dict[str, Any] | None:
        status, found = self.call("GET", f"/v1/sessions/{key}")
        return found if status == 200 else None

    def follow(self, key: str, after: str | None, count: int) -> list[tuple[str, str]]:
        """Reads server-sent events until `count` were read, or the stream ends."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Authorization": f"Bearer {self.token}", **({"Last-Event-ID": after} if after else {})}
        events, position, name = [], None, ""
        try:
            link.request("GET", f"/v1/sessions/{key}/events?deltas=all", None, headers)
            answer = link.getresponse()
            if answer.status != 200:
                return events
            while len(events) < count:
                line = answer.readline().decode().rstrip("\n")
                if line.startswith("id:"):
                    position = line[3:].strip()
                elif line.startswith("event:"):
                    name = line[6:].strip()
                elif line.startswith("data:") and position:
                    # The first message is the verdict, with the cursor that the events follow.
                    if name != "subscribed":
                        events.append((position, line[5:].strip()))
                    position = None
                elif not line and answer.isclosed():
                    break
        except OSError:
            pass
        finally:
            link.close()
        return events


def history(server: Server, key: str) -> list[tuple[int, str]]:
    """All events of a session on a server: numbers and bodies."""
    events, before = [], ""
    while True:
        status, page = server.call("GET", f"/v1/sessions/{key}/history?limit=500{before}")
        if status != 200 or not page["items"]:
            return events
        events = [(item["seq"], json.dumps(item["event"], sort_keys=True)) for item in page["items"]] + events
        before = f"&before={events[0][0]}"


class Fleet:
    """Two servers and a hub."""

    def __init__(self, root: Path) -> None:
        self.nats = Nats(root)
        self.one, self.two, self.hub = Server(root, "one"), Server(root, "two"), Server(root, "hub", "hub")
        self.one.cli("fleet", "init", self.nats.url, "--node", "one", "--encrypt")
        self.one.start()
        until("the fleet is connected", lambda: self.one.cli("fleet", "status")["nodes"])
        for server, more in ((self.two, []), (self.hub, ["--hub"])):
            code = self.one.cli("fleet", "invite", *more)["code"]
            server.cli("fleet", "join", code, "--node", server.name)
            server.start()
        self.all = [self.one, self.two, self.hub]
        for server in self.all:
            until(f"{server.name} sees all", lambda s=server: sum(n["is_reachable"] for n in s.cli("fleet", "status")["nodes"]) == 3)

    def close(self) -> None:
        for server in self.all:
            server.stop()
        self.nats.kill()

    def create(self, server: Server, owner: Server) -> str:
        """Starts a session on `owner` through `server`."""
        body = {"cwd": str(owner.project), "prompt": "note it", "policy": "ask"}
        query = "" if server is owner else f"?node={owner.name}"
        status, made = until("a session", lambda: (lambda r: r if r[0] == 201 else None)(server.call("POST", f"/v1/sessions{query}", body)))
        assert status == 201, made
        return made["key"]

    def pending(self, server: Server, key: str) -> dict[str, Any] | None:
        status, found = server.call("GET", f"/v1/permissions?session={key}")
        return found["items"][0] if status == 200 and found["items"] else None


def steered_from_elsewhere(fleet: Fleet) -> None:
    """A session of `two` is made, watched, answered and prompted through the others."""
    key = fleet.create(fleet.hub, fleet.two)
    for server in fleet.all:
        view = until(f"{server.name} lists it", lambda s=server: s.session(key))
        assert view.get("node") == (None if server is fleet.two else "two"), view
    status, refused = fleet.hub.call("POST", "/v1/sessions", {"cwd": "/"})
    assert status == 409 and "hub" in refused["detail"], refused
    asks = [until("the request arrives", lambda s=s: fleet.pending(s, key)) for s in fleet.all]
    assert len({ask["tool_use_id"] for ask in asks}) == 1 and len({ask["cursor"] for ask in asks}) == 1, asks
    # Everybody answers at once; the first answer wins, everywhere the same.
    results: list[tuple[int, Any]] = []
    path = f"/v1/sessions/{key}/permissions/{asks[0]['tool_use_id']}"
    answer = {"decision": "allow", "digest": asks[0]["details"]["digest"]}
    threads = [threading.Thread(target=lambda s=s: results.append(s.call("POST", path, answer))) for s in fleet.all]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    won = [result for result in results if result[0] == 200]
    lost = [result[1]["code"] for result in results if result[0] != 200]
    assert len(won) == 1 and set(lost) <= {"already_answered"}, results
    until("the turn ends", lambda: (fleet.hub.session(key) or {})["state"] == "idle")
    # The same key again, through another server, changes nothing.
    first = fleet.one.call("POST", f"/v1/sessions/{key}/stop", {"client_id": "k1"})
    again = fleet.one.call("POST", f"/v1/sessions/{key}/stop", {"client_id": "k1"})
    assert first[0] == again[0] == 200 and first[1]["cursor"] == again[1]["cursor"], (first, again)
    (fleet.two.project / "read.me").write_text("hello from two")
    status, tree = fleet.one.call("GET", f"/v1/sessions/{key}/tree")
    assert status == 200 and "read.me" in json.dumps(tree), tree
    status, patched = fleet.hub.call("PATCH", f"/v1/sessions/{key}", {"title": "From the hub"})
    assert status == 200 and patched["title"] == "From the hub", patched
    until("the title travels", lambda: all((s.session(key) or {}).get("title") == "From the hub" for s in fleet.all))
    same_history(fleet, key)


def same_history(fleet: Fleet, key: str) -> None:
    """Every server has the events of the owner, with the same numbers and cursors."""
    own = until("a history", lambda: history(fleet.two, key))
    assert [seq for seq, _ in own] == list(range(1, len(own) + 1)), "the owner's numbers have holes"
    for server in (fleet.one, fleet.hub):
        until(f"{server.name} has the same history", lambda s=server: history(s, key) == history(fleet.two, key))
        cursors = {s.session(key)["cursor"] for s in (server, fleet.two)}
        until("the same cursor", lambda s=server: s.session(key)["cursor"] == fleet.two.session(key)["cursor"])
        assert len(cursors) <= 2


def devices(fleet: Fleet) -> None:
    """A device of one server works on all, with its scopes only, and is gone everywhere within a second."""
    made = fleet.two.call("POST", "/v1/devices", {"name": "phone", "scopes": ["read"]})[1]
    token, device = made["token"], made["device"]["id"]
    for server in fleet.all:
        until(f"{server.name} knows it", lambda s=server: s.call("GET", "/v1/sessions", token=token)[0] == 200)
    key = fleet.create(fleet.two, fleet.two)
    until("it is everywhere", lambda: all(server.session(key) for server in fleet.all))
    for server in fleet.all:
        status, refused = server.call("POST", f"/v1/sessions/{key}/input", {"content": "x"}, token=token)
        assert status == 403, (server.name, refused)
    start = time.monotonic()
    assert fleet.hub.call("DELETE", f"/v1/devices/{device}")[0] == 204
    until("it is revoked", lambda: all(s.call("GET", "/v1/sessions", token=token)[0] == 401 for s in fleet.all))
    took = time.monotonic() - start
    assert took < 1.5, f"revoking took {took:.2f} s"


def unreachable(fleet: Fleet) -> None:
    """A stopped owner is an error within the heartbeat, and not a failed session."""
    key = fleet.create(fleet.two, fleet.two)
    until("it is listed", lambda: fleet.hub.session(key))
    fleet.two.process.send_signal(signal.SIGSTOP)
    start = time.monotonic()
    status, refused = fleet.hub.call("POST", f"/v1/sessions/{key}/input", {"content": "x"})
    took = time.monotonic() - start
    assert status in (503, 504) and refused["retryable"] and took < 8, (status, refused, took)
    view = until("it is unreachable", lambda: (lambda v: v if v and v.get("unreachable") else None)(fleet.hub.session(key)))
    assert view["state"] != "failed" and not view["capabilities"], view
    start = time.monotonic()
    status, refused = fleet.hub.call("POST", f"/v1/sessions/{key}/input", {"content": "x"})
    assert status == 503 and time.monotonic() - start < 1, (status, refused)
    fleet.two.process.send_signal(signal.SIGCONT)
    until("it is back", lambda: not (fleet.hub.session(key) or {}).get("unreachable"))


def faults(fleet: Fleet, rounds: int, chance: random.Random) -> None:
    """Kills and cuts while sessions work; subscribers resume at random servers."""
    keys = [fleet.create(fleet.two, fleet.two) for _ in range(2)]
    until("they are everywhere", lambda: all(s.session(key) for s in fleet.all for key in keys))
    read: dict[str, list[tuple[str, str]]] = {key: [] for key in keys}
    acknowledged: list[tuple[str, str]] = []
    for number in range(rounds):
        fault = chance.choice(["nats", "two", "hub", "none"]) if number else "nats"
        if fault == "nats":
            fleet.nats.kill()
        elif fault == "two":
            fleet.two.stop(signal.SIGKILL)
        elif fault == "hub":
            fleet.hub.stop(signal.SIGKILL)
        if fault != "two":
            for key in keys:
                status, accepted = fleet.two.call("POST", f"/v1/sessions/{key}/input", {"content": "note it"}, key=f"i{number}")
                if status == 202 or status == 200:
                    acknowledged.append((key, accepted["cursor"]))
        if fault == "nats":
            fleet.nats.start()
        elif fault in ("two", "hub"):
            getattr(fleet, fault).start()
        for key in keys:
            ask = until("a request or an idle session", lambda k=key: fleet.pending(fleet.two, k) or (fleet.two.session(k) or {}).get("state") not in ("running", "starting", "needs_you", None))
            if isinstance(ask, dict):
                path = f"/v1/sessions/{key}/permissions/{ask['tool_use_id']}"
                through = chance.choice(fleet.all)
                status, _ = through.call("POST", path, {"decision": "allow", "digest": ask["details"]["digest"]})
                if status not in (200, 409):
                    fleet.two.call("POST", path, {"decision": "allow", "digest": ask["details"]["digest"]})
        for key in keys:
            head = int(until("a head", lambda k=key: fleet.two.session(k))["head"])
            server = chance.choice(fleet.all)
            until(f"{server.name} follows", lambda s=server, k=key, h=head: (s.session(k) or {}).get("head", 0) >= h)
            after = read[key][-1][0] if read[key] else None
            want = head - (int(after.split(":")[1]) if after else 0)
            read[key] += server.follow(key, after, want) if want > 0 else []
    for key in keys:
        same_history(fleet, key)
        seen = [int(position.split(":")[1]) for position, _ in read[key]]
        assert seen == list(range(1, len(seen) + 1)), f"lost, repeated or out of order: {seen}"
        heads = {cursor for k, cursor in acknowledged if k == key}
        numbers = {seq for seq, _ in history(fleet.hub, key)}
        assert all(int(cursor.split(":")[1]) in numbers for cursor in heads), "something acknowledged is missing"
    print(f"{rounds} rounds, {len(acknowledged)} acknowledged prompts, {sum(map(len, read.values()))} events read, 0 lost, 0 twice")


def main() -> int:
    rounds, seed = int(os.environ.get("ROUNDS", "3")), int(os.environ.get("SEED", "1"))
    root = Path(tempfile.mkdtemp(prefix="tidings-fleet-"))
    fleet = None
    try:
        fleet = Fleet(root)
        for check in (steered_from_elsewhere, devices, unreachable):
            start = time.monotonic()
            check(fleet)
            print(f"{check.__name__}: ok, {time.monotonic() - start:.1f} s")
        faults(fleet, rounds, random.Random(seed))
        return 0
    except BaseException as error:
        print(f"error: {error!r} (SEED={seed})", file=sys.stderr)
        for log in sorted(root.glob("*/log")):
            print(f"== {log.parent.name}\n" + "\n".join(log.read_text().splitlines()[-15:]), file=sys.stderr)
        if not isinstance(error, AssertionError):
            raise
        return 1
    finally:
        if fleet:
            fleet.close()
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
