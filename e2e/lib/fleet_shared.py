"""Steps about the state that the servers of a fleet share: projects, pairing codes, targets of notifications, audit logs."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from .fleet import Member, finish_turn, until

if TYPE_CHECKING:
    from fleet import Fleet


def projects(fleet: Fleet) -> str:
    """Copies of a repository on two servers are one project; credentials in their addresses stay there."""
    keys = [next(key for key, owner in fleet.owners.items() if owner is node) for node in fleet.nodes]
    names = ["git.example.com/acme/shop", "git.example.com/acme/shop", "git.example.com/acme/blog"]
    for member in fleet.members:
        until(f"{member.name} groups them", lambda m=member: [(m.session(key) or {}).get("project") for key in keys] == names)
    status = fleet.hubs[0].cli("fleet", "status")
    places = {project["project"]: {place["node"] for place in project["places"]} for project in status["projects"]}
    assert places == {names[0]: {"one", "two"}, names[2]: {"three"}}, places
    listed = fleet.hubs[0].call("GET", "/v1/sessions?limit=100")
    assert "s3cret" not in json.dumps([status, listed]), listed
    return "one of two servers, and one alone"


def pairing(fleet: Fleet) -> str:
    """A code of one server pairs a device on any other, once, with the rights that its maker gave."""
    def redeem(member: Member, code: str, name: str) -> tuple[int, Any]:
        return member.call("POST", "/v1/pair", {"code": code, "name": name, "credential": "token"})
    def made(member: Member, scopes: list[str]) -> str:
        return member.call("POST", "/v1/pair/codes", {"scopes": scopes})[1]["code"]
    # The server that created the fleet gives a right that the hub does not have itself.
    code = made(fleet.one, ["admin"])
    results: list[tuple[int, Any]] = []
    threads = [threading.Thread(target=lambda m=m: results.append(redeem(m, code, m.name))) for m in fleet.hubs]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    won = [paired for status, paired in results if status == 201]
    assert len(won) == 1 and sorted(status for status, _ in results) == [201, 401], results
    assert won[0]["device"]["scopes"] == ["admin"], won
    for member in fleet.members:
        until(f"{member.name} knows it", lambda m=member: m.call("GET", "/v1/devices", token=won[0]["token"])[0] == 200)
    assert redeem(fleet.one, code, "late")[0] == 401, "it is used"
    # A server that did not create the fleet makes codes, too, and its own are used through the fleet.
    code = made(fleet.two, ["read"])
    status, paired = redeem(fleet.two, code, "own")
    assert status == 201, paired
    assert redeem(fleet.hubs[0], code, "second")[0] == 401
    until("all know it", lambda: all(m.call("GET", "/v1/sessions", token=paired["token"])[0] == 200 for m in fleet.members))
    return f"{len(results)} servers at once, 1 accepted"


class Receiver:
    """A webhook that counts what it gets."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        receiver = self

        class Hook(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append({**json.loads(body), "signed": "x-tidings-signature" in self.headers})
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def count(self, keys: list[str]) -> Counter[tuple[str, str]]:
        return Counter((one["event"], one["session"]) for one in self.got if one["session"] in keys)


def targets(fleet: Fleet) -> str:
    """A target that is added on a hub is known on all, and the owner of a session notifies it, once."""
    hook = Receiver()
    wanted = {"kind": "webhook", "url": hook.url, "secret": "k3y", "events": ["permission", "turn_ended"]}
    status, made = fleet.hubs[0].call("POST", "/v1/notify/targets", wanted)
    assert status == 201, made

    def shared(member: Member) -> list[dict[str, Any]]:
        listed = member.call("GET", "/v1/notify/targets")[1]["items"]
        return [target for target in listed if target["id"] == made["id"] and target["shared"]]

    for member in fleet.members:
        until(f"{member.name} knows it", lambda m=member: shared(m))
        assert "k3y" not in json.dumps(shared(member)), "secrets are not shown"
        assert member.call("PUT", "/v1/notify/settings", {"first_after_s": 0})[0] == 200
    keys = [fleet.create(fleet.hubs[1], node) for node in fleet.nodes]
    threads = [threading.Thread(target=finish_turn, args=(fleet.hubs[1], key)) for key in keys]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    expected = Counter({(event, key): 1 for event in ("permission", "turn_ended") for key in keys})
    until("all are notified", lambda: set(hook.count(keys)) >= {("turn_ended", key) for key in keys})
    # A server that would send a second one knows of the end by now.
    for key in keys:
        fleet.everywhere(key)
    later = fleet.create(fleet.one, fleet.one)
    until("a later one", lambda: hook.count([later]))
    got = hook.count(keys)
    assert all(count == 1 for count in got.values()) and set(got) <= set(expected), got
    assert all(one["signed"] for one in hook.got)
    assert fleet.two.call("DELETE", f"/v1/notify/targets/{made['id']}")[0] == 204
    until("it is gone", lambda: not any(shared(member) for member in fleet.members))
    hook.server.shutdown()
    return f"{sum(got.values())} notifications of 3 servers, none twice"


def audit_of(member: Member, name: str) -> dict[str, Any]:
    """The state of a server's audit log, as another server reports it."""
    nodes = member.call("GET", "/v1/fleet")[1]["nodes"]
    return next(node.get("audit") or {} for node in nodes if node["name"] == name)


def known_lines(fleet: Fleet, of: Member) -> int:
    """The lines of a server's audit log that all others have heard of."""
    others = [member for member in fleet.members if member is not of]
    return min(until(f"{member.name} knows the log", lambda m=member: audit_of(m, of.name).get("lines")) for member in others)


def cut_audit_log(member: Member, number: int) -> None:
    """Removes the lines of an audit log from a number on, while its server is stopped."""
    journal = sqlite3.connect(member.data / "journal.db")
    with journal:
        removed = journal.execute("DELETE FROM audit WHERE number >= ?", (number,)).rowcount
    journal.close()
    assert removed, "the log has lines"


def audit(fleet: Fleet) -> str:
    """The audit log of the server that was lost has lost lines meanwhile: the others notice it, and know of no other."""
    others = [member for member in fleet.members if member is not fleet.three]
    for member in others:
        until(f"{member.name} notices", lambda m=member: audit_of(m, "three").get("problem"))
        assert not any(audit_of(member, name).get("problem") for name in ("one", "two", "hub-a", "hub-b")), member.name
    return f"noticed by {len(others)} servers: {audit_of(fleet.one, 'three')['problem']}"
