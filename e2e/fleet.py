"""A fleet of three servers and two hubs over three NATS servers on this machine, while its parts fail.

Clients subscribe at random servers, cut and resume; they prompt and answer with keys, twice from two places. A checker
compares what they saw with what is stored: no event lost, repeated or out of order, at most one process for each
session, one winner for each request, nothing acknowledged missing. `SECONDS_OF_FAULTS=n` sets how long the parts fail,
`SEED=n` the random seed, and `ACCOUNTS=1` gives each member a NATS account of its own. Alone: `python3 e2e/fleet.py`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from lib.cli import E2E, Missing, Place, Programs
from lib.fleet import NATS, Links, Member, Nats, cleaned, finish_turn, free_port, until
from lib.fleet_accounts import KEYS, OPERATOR, PREFIX, accounts
from lib.fleet_history import History, Steerer, Subscriber
from lib.fleet_shared import audit, cut_audit_log, known_lines, pairing, projects, targets
from sessions_repair import run as run_cli

NAME = "fleet"
SECONDS = 12
# Addresses of one repository, of which two servers have a copy, and of another one.
REMOTES = ["git@git.example.com:acme/shop.git", "https://ada:s3cret@git.example.com/acme/shop", "ssh://git@git.example.com/acme/blog"]
SESSIONS_PER_NODE = 1
# Bounds of the fleet, in seconds: a server that stops is unreachable after the heartbeat, a device is revoked at once.
# They are checked with `BARS=1`, on an idle machine; otherwise only a multiple of them.
HEARTBEAT, REVOKED = 7, 1
SLACK = 1 if os.environ.get("BARS") else 6


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    if not NATS.exists():
        return ["nats-server is not installed: run e2e/install.sh nats"], ""
    return _play(programs.tidings, root, programs)


def _play(tidings: Path, parent: Path, programs: Programs | None) -> tuple[list[str], str]:
    seconds, seed = float(os.environ.get("SECONDS_OF_FAULTS", SECONDS)), int(os.environ.get("SEED", "1"))
    root = Path(tempfile.mkdtemp(prefix="fleet-", dir=parent))
    root.chmod(0o755)
    said: list[str] = []
    fleet = None
    try:
        fleet = Fleet(tidings, root)
        fleet.programs = programs
        problems: list[str] = []
        for step in (steering, targets, projects, placement, devices, pairing, unreachable, apart, full, incomplete, second_fleet, terminals, lost, audit, faults, removed):
            began = time.monotonic()
            if step is faults:
                problems, counts = faults(fleet, seconds, random.Random(seed))
                said.append(counts)
            else:
                said.append(step(fleet))
            print(f"fleet: {step.__name__}: {said[-1]} ({time.monotonic() - began:.1f} s)", file=sys.stderr, flush=True)
    except AssertionError as error:
        logs = [f"{member.name}: {member.said()}" for member in (fleet.members if fleet else []) if member.said()]
        problems = [str(error), *logs]
    finally:
        if fleet:
            fleet.close()
        cleaned(root)
    return problems, f"seed {seed}: {'; '.join(said)}" if not problems else f"FAILED (seed {seed})"


class Fleet:
    """Three servers and two hubs over three NATS servers; the clock of one server is an hour ahead."""

    def __init__(self, tidings: Path, root: Path) -> None:
        has_accounts = bool(os.environ.get("ACCOUNTS"))
        nodes, hubs = ["one", "two", "three"], ["hub-a", "hub-b"]
        self.nats = Nats.cluster(root, accounts(nodes[0], nodes[1:], hubs) if has_accounts else "")
        ports = [server.port for server in self.nats]
        self.nodes = [Member(tidings, root, name, ports) for name in nodes]
        self.hubs = [Member(tidings, root, name, ports, "hub") for name in hubs]
        self.members = self.nodes + self.hubs
        self.one, self.two, self.three = self.nodes
        self.owners: dict[str, Member] = {}
        for member in self.members if has_accounts else []:
            (member.root / "nkey").write_text(KEYS[member.name][0])
            prefix = [] if member is self.one else ["--fleet-api-prefix", PREFIX]
            member.flags = ["--fleet-nkey", str(member.root / "nkey"), *prefix]
        # With the real CLI, it has to accept the session file of a lost server.
        self.programs: Programs | None = None
        direct = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
        for node, url in zip(self.nodes, REMOTES):
            git(node.project, "init", "--quiet")
            git(node.project, "remote", "add", "origin", url)
        self.one.cli("fleet", "init", direct, "--node", "one", "--encrypt", "--replicas", "3", "--storage", "64MiB")
        self.three.skew()
        self.one.start()
        until("the fleet is connected", lambda: "one" in self.one.reachable())
        for member in self.members[1:]:
            code = self.one.cli("fleet", "invite", *(["--hub"] if member in self.hubs else []))["code"]
            key = ["--nkey", str(member.root / "nkey")] if has_accounts else []
            member.cli("fleet", "join", code, "--node", member.name, *key)
            member.start(*(["--fleet-label", "gpu=yes"] if member is self.three else []))
        self.connected()

    def connected(self) -> None:
        """Waits until every server hears all others."""
        for member in self.members:
            until(f"{member.name} hears all", lambda m=member: len(m.reachable()) == len(self.members))

    def create(self, through: Member, owner: Member) -> str:
        """Starts a session on `owner` through another server."""
        body = {"cwd": str(owner.project), "prompt": "note it", "policy": "ask"}
        query = "" if through is owner else f"?node={owner.name}"
        made = until(f"a session on {owner.name}", lambda: accepted(through.call("POST", f"/v1/sessions{query}", body)))
        self.owners[made["key"]] = owner
        return made["key"]

    def everywhere(self, key: str) -> None:
        """Waits until every server has the events of a session's owner."""
        owner = self.owners[key]
        for member in self.members:
            until(f"{member.name} has {key}", lambda m=member: (m.session(key) or {}).get("cursor") == owner.session(key)["cursor"])

    def close(self) -> None:
        for member in self.members:
            member.links.mend()
            member.stop()
        for server in self.nats:
            server.kill()


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", "-C", str(folder), *args], check=True)


def accepted(result: tuple[int, Any]) -> Any:
    return result[1] if result[0] in (200, 201, 202) else None


def steering(fleet: Fleet) -> str:
    """A session of one server is made, watched, answered and prompted through the others."""
    key = fleet.create(fleet.hubs[0], fleet.two)
    for member in fleet.members:
        view = until(f"{member.name} lists it", lambda m=member: m.session(key))
        assert view.get("node") == (None if member is fleet.two else "two"), view
    refused = fleet.hubs[0].call("POST", "/v1/sessions", {"cwd": "/"})
    assert refused[0] == 409 and "hub" in refused[1]["detail"], refused
    asks = [until("the request arrives", lambda m=member: m.pending(key)) for member in fleet.members]
    assert len({(ask["tool_use_id"], ask["cursor"]) for ask in asks}) == 1, asks
    # Every server answers at once: the first answer wins, everywhere the same.
    results: list[tuple[int, Any]] = []
    path = f"/v1/sessions/{key}/permissions/{asks[0]['tool_use_id']}"
    answer = {"decision": "allow", "digest": asks[0]["details"]["digest"]}
    threads = [threading.Thread(target=lambda m=m: results.append(m.call("POST", path, answer))) for m in fleet.members]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    lost = {result[1]["code"] for result in results if result[0] != 200}
    assert len(results) - sum(result[0] == 200 for result in results) == 4 and lost <= {"already_answered"}, results
    until("the turn ends", lambda: fleet.hubs[1].session(key)["state"] == "idle")
    # The same key again changes nothing.
    first = fleet.one.call("POST", f"/v1/sessions/{key}/stop", {"client_id": "k1"})
    again = fleet.hubs[1].call("POST", f"/v1/sessions/{key}/stop", {"client_id": "k1"})
    assert first[0] == again[0] == 200 and first[1]["cursor"] == again[1]["cursor"], (first, again)
    (fleet.two.project / "read.me").write_text("hello from two")
    status, tree = fleet.one.call("GET", f"/v1/sessions/{key}/tree")
    assert status == 200 and "read.me" in str(tree), tree
    status, patched = fleet.hubs[0].call("PATCH", f"/v1/sessions/{key}", {"title": "From a hub"})
    assert status == 200 and patched["title"] == "From a hub", patched
    assert patched["handle"] == fleet.hubs[0].session(key)["handle"] and patched["node"] == "two", patched
    until("the title travels", lambda: all((m.session(key) or {}).get("title") == "From a hub" for m in fleet.members))
    fleet.everywhere(key)
    return f"{len(results)} answers at once, 1 accepted"


def placement(fleet: Fleet) -> str:
    """A session starts on a server that is chosen by name, by label or by load; a drained server takes none."""
    def start(query: str, owner: Member) -> Any:
        return fleet.hubs[0].call("POST", f"/v1/sessions?node={query}", {"cwd": str(owner.project), "policy": "ask"})
    status, made = start("gpu%3Dyes", fleet.three)
    assert status == 201 and made["node"] == "three", made
    assert made["handle"] == fleet.hubs[0].session(made["key"])["handle"], made
    status, refused = start("gpu%3Dno", fleet.three)
    assert status == 503 and refused["retryable"], refused
    status, refused = start("nobody", fleet.three)
    assert status == 503, refused
    # All but one are drained: the one with the least load is the one that is left.
    for member in (fleet.one, fleet.three):
        member.cli("fleet", "drain")
    until("draining travels", lambda: sum(node["draining"] for node in fleet.hubs[0].call("GET", "/v1/fleet")[1]["nodes"]) == 2)
    status, made = start("*", fleet.two)
    assert status == 201 and made["node"] == "two", made
    status, refused = start("one", fleet.one)
    assert status == 503 and "no new sessions" in refused["detail"], refused
    for member in (fleet.one, fleet.three):
        member.cli("fleet", "drain", "--off")
    return "by name, label and load"


def devices(fleet: Fleet) -> str:
    """A device of one server works on all, with its scopes only, and is revoked on all."""
    made = fleet.two.call("POST", "/v1/devices", {"name": "phone", "scopes": ["read"]})[1]
    token, device = made["token"], made["device"]["id"]
    for member in fleet.members:
        until(f"{member.name} knows it", lambda m=member: m.call("GET", "/v1/sessions", token=token)[0] == 200)
    key = next(iter(fleet.owners))
    for member in fleet.members:
        status, refused = member.call("POST", f"/v1/sessions/{key}/input", {"content": "x"}, token=token)
        assert status == 403, (member.name, refused)
    began = time.monotonic()
    assert fleet.hubs[0].call("DELETE", f"/v1/devices/{device}")[0] == 204
    until("it is revoked", lambda: all(m.call("GET", "/v1/sessions", token=token)[0] == 401 for m in fleet.members))
    took = time.monotonic() - began
    assert took < REVOKED * SLACK, f"revoking took {took:.2f} s"
    return f"revoked on 5 servers after {took:.2f} s"


def unreachable(fleet: Fleet) -> str:
    """A stopped owner is an error within the heartbeat, then at once, and its session has not failed."""
    key = fleet.create(fleet.two, fleet.two)
    hub = fleet.hubs[0]
    until("it is listed", lambda: hub.session(key))
    fleet.two.send(signal.SIGSTOP)
    began = time.monotonic()
    status, refused = hub.call("POST", f"/v1/sessions/{key}/input", {"content": "x"}, key="stopped")
    took = time.monotonic() - began
    assert status in (503, 504) and refused["retryable"] and took < HEARTBEAT * SLACK, (status, refused, took)
    view = until("it is unreachable", lambda: (view := hub.session(key)) and view.get("unreachable") and view)
    assert view["state"] != "failed" and not view["capabilities"] and "last heard" in view["limited"], view
    began = time.monotonic()
    status, refused = hub.call("POST", f"/v1/sessions/{key}/input", {"content": "x"}, key="stopped")
    at_once = time.monotonic() - began
    assert status == 503 and at_once < SLACK, (status, refused)
    fleet.two.send(signal.SIGCONT)
    until("it is back", lambda: not hub.session(key).get("unreachable"))
    return f"an error after {took:.1f} s, then after {at_once * 1000:.0f} ms"


def apart(fleet: Fleet) -> str:
    """A server without a connection runs a whole session by itself, and all of it arrives afterwards."""
    fleet.two.links.cut()
    key = fleet.create(fleet.two, fleet.two)
    finish_turn(fleet.two, key)
    status, stopped = fleet.two.call("POST", f"/v1/sessions/{key}/stop", {})
    assert status == 200, stopped
    until("it has ended", lambda: fleet.two.session(key)["state"] == "stopped")
    assert not fleet.hubs[0].session(key)
    fleet.two.links.mend()
    fleet.connected()
    fleet.everywhere(key)
    events = fleet.two.history(key)
    assert all(member.history(key) == events for member in fleet.members)
    return f"{len(events)} events of a whole session arrived after the partition"


def full(fleet: Fleet) -> str:
    """A full storage pauses replication and is shown; local clients notice nothing; it goes on when there is room."""
    key = fleet.create(fleet.one, fleet.one)
    fleet.everywhere(key)
    used = fleet.one.cli("fleet", "storage")["bytes"]
    assert fleet.one.cli("fleet", "storage", str(used))["bytes_max"] == used
    accepted_at = until("a prompt", lambda: accepted(fleet.one.call("POST", f"/v1/sessions/{key}/input", {"content": "note more"})))
    until("it is shown", lambda: fleet.one.call("GET", "/v1/fleet")[1]["storage_full"])
    head = int(accepted_at["cursor"].partition(":")[2])
    assert fleet.one.session(key)["head"] >= head > fleet.hubs[0].session(key)["head"]
    fleet.one.cli("fleet", "storage", "64MiB")
    fleet.everywhere(key)
    until("it is shown", lambda: not fleet.one.call("GET", "/v1/fleet")[1]["storage_full"])
    return "paused and went on"


def incomplete(fleet: Fleet) -> str:
    """Events that a lost server has announced and no other has are counted, and named before a session goes on without them."""
    owner, here = fleet.two, fleet.one
    key = fleet.create(owner, owner)
    finish_turn(owner, key)
    fleet.everywhere(key)
    used = here.cli("fleet", "storage")["bytes"]
    here.cli("fleet", "storage", str(used))
    until("a prompt", lambda: accepted(owner.call("POST", f"/v1/sessions/{key}/input", {"content": "note more"})))
    finish_turn(owner, key)
    head = owner.session(key)["head"]
    here_has = here.session(key)["head"]
    for member in (here, fleet.hubs[0]):
        until(f"{member.name} knows it", lambda m=member: m.session(key).get("behind") == head - m.session(key)["head"] > 0)
        state = member.call("GET", "/v1/fleet")[1]
        assert state["events_behind"] >= head - here_has and state["replicas_behind"] >= 1, state
    owner.stop(signal.SIGKILL)
    until("it is unreachable", lambda: here.session(key).get("unreachable"))
    path = f"/v1/fleet/sessions/{key}/continue"
    status, refused = here.call("POST", path, {"cwd": str(here.project)})
    assert status == 409 and f"{here_has + 1} to {head}" in refused["detail"] and "--force" in refused["hint"], refused
    refused = here.fails("fleet", "continue", key, "--cwd", str(here.project))
    assert "incomplete" in refused, refused
    made = here.cli("fleet", "continue", key, "--cwd", str(here.project), "--force")
    fleet.owners[made["key"]] = here
    here.cli("fleet", "storage", "64MiB")
    owner.start()
    fleet.connected()
    fleet.everywhere(key)
    fleet.everywhere(made["key"])
    for member in fleet.members:
        until(f"{member.name} lacks nothing", lambda m=member: m.call("GET", "/v1/fleet")[1]["events_behind"] == 0)
    return f"{head - here_has} events were missing, and continuing needed --force"


def second_fleet(fleet: Fleet) -> str:
    """A fleet of the same name is refused when it is created, and when its server finds out later."""
    other = Member(fleet.one.tidings, fleet.one.root.parent, "other", [server.port for server in fleet.nats])
    if not os.environ.get("ACCOUNTS"):
        refused = other.fails("fleet", "init", other.links.url)
        assert "a fleet of the name `home` already" in refused and "--fleet NAME" in refused, refused
    # The NATS server does not answer when it is created.
    other.cli("fleet", "init", f"nats://127.0.0.1:{free_port()}")
    other.flags = fleet.one.flags
    other.start()
    state = until("it is refused", lambda: (found := other.call("GET", "/v1/fleet")[1]).get("problem") and found)
    assert "another fleet of the name `home`" in state["problem"] and not state["is_connected"], state
    other.stop()
    assert len(fleet.hubs[0].call("GET", "/v1/fleet")[1]["nodes"]) == len(fleet.members)
    return "refused twice"


def terminals(fleet: Fleet) -> str:
    """A session of a terminal that two servers of one machine observe is listed once on every server."""
    nodes, shared, cli_session = [fleet.one, fleet.two], fleet.one.root / "config", str(uuid.uuid4())
    folders = [node.env["CLAUDE_CONFIG_DIR"] for node in nodes]
    terminal = subprocess.Popen(["sleep", "3600"])
    began = Path(f"/proc/{terminal.pid}/stat").read_text().rpartition(") ")[2].split()[19]
    described = {
        "pid": terminal.pid, "sessionId": cli_session, "cwd": str(fleet.one.project), "procStart": began,
        "kind": "interactive", "entrypoint": "cli", "status": "idle",
    }
    (shared / "sessions").mkdir(parents=True, exist_ok=True)
    file = shared / "sessions" / f"{terminal.pid}.json"
    file.write_text(json.dumps(described))

    def restart(observe: str, folders: list[str]) -> None:
        for node, folder in zip(nodes, folders):
            node.stop()
            node.observe, node.env["CLAUDE_CONFIG_DIR"] = observe, folder
            node.start()
        fleet.connected()

    def listed(member: Member) -> list[dict[str, Any]]:
        status, found = member.call("GET", "/v1/sessions?limit=1000")
        return [view for view in found["items"] if cli_session in view["cli_session_ids"]] if status == 200 else []

    def own(node: Member) -> str | None:
        return next((view["key"] for view in listed(node) if "node" not in view), None)

    try:
        restart("attended", [str(shared)] * 2)
        keys = [until(f"{node.name} observes it", lambda n=node: own(n)) for node in nodes]
        for member in fleet.members:
            for key in keys:
                until(f"{member.name} has the row {key}", lambda m=member, k=key: m.session(k))
            until(f"{member.name} lists it once", lambda m=member: len(listed(m)) == 1)
        assert keys[0] != keys[1] and [own(node) for node in nodes] == keys, keys
    finally:
        terminal.kill()
        terminal.wait()
        file.unlink(missing_ok=True)
    restart("none", folders)
    return f"{len(keys)} rows of it, and one in every list"


def lost(fleet: Fleet) -> str:
    """A session of a lost server is continued on one other server, and never on the lost one again."""
    key = fleet.create(fleet.three, fleet.three)
    finish_turn(fleet.three, key)
    fleet.everywhere(key)
    lines = known_lines(fleet, fleet.three)
    fleet.three.stop(signal.SIGKILL)
    cut_audit_log(fleet.three, lines)
    nodes = [fleet.one, fleet.two]
    for node in nodes:
        until("it is unreachable", lambda n=node: n.session(key).get("unreachable"))
    results: list[tuple[Member, int, Any]] = []
    path = f"/v1/fleet/sessions/{key}/continue"
    threads = [
        threading.Thread(target=lambda n=n: results.append((n, *n.call("POST", path, {"cwd": str(n.project)}))))
        for n in nodes
    ]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    won = [(node, made) for node, status, made in results if status == 200]
    assert len(won) == 1 and sorted(status for _, status, _ in results) == [200, 409], results
    node, made = won[0]
    again = node.call("POST", path, {"cwd": str(node.project)})
    assert again[0] == 200 and again[1]["key"] == made["key"], again
    fleet.owners[made["key"]] = node
    texts = [event["UserPrompt"]["text"] for _, event in node.history(made["key"]) if "UserPrompt" in event]
    assert texts == ["note it"], texts
    until("a prompt", lambda: accepted(node.call("POST", f"/v1/sessions/{made['key']}/input", {"content": "note again"})))
    finish_turn(node, made["key"])
    (file,) = node.root.glob(f"config/projects/*/{node.session(made['key'])['cli_session_ids'][-1]}.jsonl")
    is_read = resumed_by_the_cli(fleet, file)
    # The lost server is back: it leaves the session alone.
    fleet.three.start()
    until("it is left", lambda: "continues" in (fleet.three.session(key).get("limited") or ""))
    status, refused = fleet.three.call("POST", f"/v1/sessions/{key}/input", {"content": "note"})
    assert status == 409 and node.name in refused["detail"], refused
    fleet.connected()
    # The response to the same request is the same, though the lost server is back.
    until("it is reachable", lambda: not node.session(key).get("unreachable"))
    again = node.call("POST", path, {"cwd": str(node.project), "client_id": "again"})
    assert again[0] == 200 and again[1]["key"] == made["key"], again
    fleet.everywhere(made["key"])
    return f"continued on 1 of 2 servers at once, {is_read}"


def resumed_by_the_cli(fleet: Fleet, file: Path) -> str:
    """The real CLI resumes the file of a continued session, and sends the whole conversation."""
    if fleet.programs is None:
        return "not resumed by the real CLI"
    place = Place.make(fleet.programs, file.parent, "continued")
    folder = place.config / "projects" / "".join(c if c.isalnum() else "-" for c in str(place.project))
    folder.mkdir(parents=True)
    (folder / file.name).write_bytes(file.read_bytes())
    place.hand_over()
    steps = [{"initialize": {}}, {"user": "what now?"}, {"wait": "result"}]
    plan = {"steps": steps, "expect": [{"frame": "result:success", "has": {"result": "Still here."}}]}
    problems, requests = run_cli(place, ["--resume", file.stem], plan, "second")
    sent = json.dumps(requests[-1]["messages"]) if requests else ""
    missing = [part for part in ("note it", "I will note it", "touch memo", "done", "what now?") if part not in sent]
    assert not problems and not missing, (problems, missing, sent)
    return "resumed by the real CLI"


def removed(fleet: Fleet) -> str:
    """A removed hub can neither read nor steer from then on, and says so."""
    hub, key = fleet.hubs[1], next(key for key, owner in fleet.owners.items() if owner is fleet.one)
    refused = fleet.one.fails("fleet", "remove", "hub-bb")
    assert "No server of the fleet is named" in refused and "`hub-b`" in refused, refused
    refused = fleet.one.fails("fleet", "remove", "one")
    assert "cannot remove itself" in refused, refused
    fleet.one.cli("fleet", "remove", hub.name)
    until("it is gone", lambda: all(hub.name not in node.reachable() for node in fleet.nodes))
    status, refused = hub.call("POST", f"/v1/sessions/{key}/input", {"content": "note"}, key="removed")
    assert status in (403, 503), (status, refused)
    state = until("it knows it", lambda: (found := hub.call("GET", "/v1/fleet")[1]).get("problem") and found)
    assert not state["is_connected"] and "was removed" in state["problem"], state
    assert "was removed" in hub.call("GET", "/readyz")[1]
    # All others have the new key, and events that come now reach them and not the removed one.
    others = [member for member in fleet.members if member is not hub]
    generations = lambda: {m.call("GET", "/v1/fleet")[1].get("key_generation") for m in others}
    until("all others have the new key", lambda: generations() == {1})
    later = fleet.create(fleet.two, fleet.two)
    for member in others:
        until(f"{member.name} has it", lambda m=member: (m.session(later) or {}).get("cursor") == fleet.two.session(later)["cursor"])
    assert not hub.session(later)
    return "it says so, its requests are refused, and it reads nothing that comes later"


def faults(fleet: Fleet, seconds: float, chance: random.Random) -> tuple[list[str], str]:
    """Parts fail one after the other while clients work."""
    history = History()
    keys = [fleet.create(node, node) for node in fleet.nodes for _ in range(SESSIONS_PER_NODE)]
    for key in keys:
        fleet.everywhere(key)
    subscribers = [Subscriber(history, chance, fleet.members, key) for key in keys for _ in range(2)]
    steerers = [Steerer(history, chance, fleet.members, key) for key in keys]
    for worker in [*subscribers, *steerers]:
        worker.start()
    done: Counter[str] = Counter()
    end = time.monotonic() + seconds
    is_long = seconds > 60
    order: list[str] = []
    while time.monotonic() < end or len(done) < len(FAULTS):
        if not order:
            order = chance.sample(list(FAULTS), len(FAULTS))
        fault = order.pop()
        FAULTS[fault](fleet, chance, is_long)
        done[fault] += 1
        time.sleep(chance.uniform(0.2, 5 if is_long else 0.5))
    fleet.connected()
    for worker in [*steerers, *subscribers]:
        worker.stopping.set()
    for worker in [*steerers, *subscribers]:
        worker.join(120)
        if worker.is_alive():
            history.problem(f"a client hangs: {worker}")
    for key in keys:
        fleet.everywhere(key)
    for subscriber in subscribers:
        head = fleet.owners[subscriber.key].session(subscriber.key)["head"]
        subscriber.finish(chance.choice(fleet.members), head)
        if len(subscriber.seen) < head:
            history.problem(f"{subscriber.key}: a subscriber has {len(subscriber.seen)} of {head} events")
    history.check(fleet.owners.__getitem__, fleet.members, subscribers)
    for member in fleet.members:
        until(f"{member.name} lacks nothing", lambda m=member: m.call("GET", "/v1/fleet")[1]["events_behind"] == 0)
    failed = ", ".join(f"{count} {what}" for what, count in sorted(done.items()))
    counts = ", ".join(f"{count} {what}" for what, count in sorted(history.counts.items()))
    verdict = "FAILED" if history.problems else "0 lost, 0 twice, 0 out of order, 0 double processes, 0 second winners"
    return history.problems, f"{failed}: {counts}; {verdict}"


def pause(chance: random.Random, is_long: bool, short: float, long: float) -> None:
    time.sleep(chance.uniform(long / 2, long) if is_long else short)


def kill_node(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    node = chance.choice(fleet.nodes)
    node.stop(signal.SIGKILL)
    pause(chance, is_long, 0.2, 5)
    node.start()


def kill_hub(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    hub = chance.choice(fleet.hubs)
    hub.stop(signal.SIGKILL)
    pause(chance, is_long, 0.2, 5)
    hub.start()


def kill_nats(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    server = chance.choice(fleet.nats)
    server.kill()
    pause(chance, is_long, 2, 20)
    server.start()


def stop_nats(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    server = chance.choice(fleet.nats)
    server.send(signal.SIGSTOP)
    pause(chance, is_long, 2, 30)
    server.send(signal.SIGCONT)


def stop_node(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    node = chance.choice(fleet.nodes)
    node.send(signal.SIGSTOP)
    pause(chance, is_long, 2, 30)
    node.send(signal.SIGCONT)


def partition(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    node = chance.choice(fleet.members)
    node.links.cut()
    pause(chance, is_long, 3, chance.choice([5, 120]))
    node.links.mend()


def slow_link(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    links: Links = chance.choice(fleet.members).links
    links.delay = 0.1
    pause(chance, is_long, 2, 20)
    links.delay = 0


def restart_all(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    parts = [*fleet.nats, *fleet.members]
    for part in parts:
        part.kill() if isinstance(part, Nats) else part.stop(signal.SIGKILL)
    for part in parts:
        part.start()


def operate(fleet: Fleet, call: str) -> None:
    """Makes a call of the JetStream API; a cluster without a leader is asked again."""
    user = OPERATOR if os.environ.get("ACCOUNTS") else None

    def is_done() -> bool:
        try:
            answer = fleet.nats[0].api(call, user)
        except OSError:
            return False
        # A stream that is not there now is created again by the servers of the fleet.
        return "error" not in answer or answer["error"].get("err_code") == 10059

    until(call, is_done)


def delete_stream(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    operate(fleet, "STREAM.DELETE.TIDINGS_home")


def purge_stream(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    operate(fleet, "STREAM.PURGE.TIDINGS_home")


def delete_state(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    operate(fleet, "STREAM.DELETE.KV_tidings_home")


def purge_state(fleet: Fleet, chance: random.Random, is_long: bool) -> None:
    operate(fleet, "STREAM.PURGE.KV_tidings_home")


FAULTS = {
    "deleted streams": delete_stream,
    "purged streams": purge_stream,
    "deleted buckets": delete_state,
    "purged buckets": purge_state,
    "killed nodes": kill_node,
    "killed hubs": kill_hub,
    "killed NATS servers": kill_nats,
    "stopped NATS servers": stop_nats,
    "stopped nodes": stop_node,
    "partitions": partition,
    "slow links": slow_link,
    "restarts of everything": restart_all,
}


def main() -> int:
    default = Path(os.environ.get("CARGO_TARGET_DIR", E2E.parent / "target")) / "debug" / "tidings"
    tidings = Path(os.environ.get("TIDINGS", default)).resolve()
    root = Path(tempfile.mkdtemp(prefix="tidings-fleet-"))
    root.chmod(0o755)
    try:
        programs = Programs.find(tidings, root / "bin")
    except Missing:
        programs = None
    problems, said = _play(tidings, root, programs)
    cleaned(root)
    print("\n".join([*problems, said]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
