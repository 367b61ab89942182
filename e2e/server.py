"""`tidings serve` with the real CLI, from outside: HTTP requests, server-sent events, the WebSocket."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import E2E, Place, Programs
from lib.serve import Server
from lib.web import Socket, Web

NAME = "server"
SCRIPT = E2E / "server" / "talk.toml"
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
COMMAND_SECONDS_MAX = 60
PAGE_EVENTS = {
    "TextChunk", "ToolExecuting", "ToolCompleted", "Complete", "PermissionRequired", "BatchPermissionRequired",
    "UserInteractionRequired", "TokenUpdate", "Error", "System", "Display", "CommandComplete",
}


def problems_of(programs: Programs, root: Path) -> list[str]:
    """Returns the problems."""
    problems: list[str] = []
    for name, check in CHECKS.items():
        place = Place.make(programs, root, f"{NAME}-{name}")
        with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
            with Server(place, api.url) as server:
                found = check(place, server.web) + server.close()
            left_over = api.close()
        problems += [f"{name}: {problem}" for problem in [*found, *([left_over] if left_over else [])]]
    return problems


def _websocket(place: Place, web: Web) -> list[str]:
    """A client sends a prompt, loses the connection while a request is pending, reconnects and allows it."""
    status, session = web.call("POST", "/v1/sessions", {"cwd": str(place.project)})
    if status != 201:
        return [f"no session: {status} {session}"]
    key = session["key"]
    socket = web.socket()
    subscribed = socket.ask({"type": "subscribe", "session": key})["subscribed"]
    said = {"type": "input", "session": key, "input": {"content": "note it", "client_id": "first"}}
    accepted = socket.ask(said)
    again = socket.ask(said)
    if accepted.get("seq") != again.get("seq"):
        return [f"the same prompt was accepted twice: {accepted} {again}"]
    seen = list(until(socket, key, "PermissionRequired"))
    socket.cut()

    socket = web.socket()
    back = socket.ask({"type": "subscribe", "session": key, "after": seen[-1]["cursor"]})["subscribed"]
    waiting = [each["tool_use_id"] for each in back["pending_permissions"]]
    if (back["verdict"], len(waiting)) != ("ok", 1):
        return [f"the pending request was not sent after a reconnect: {back}"]
    answered = socket.ask({"type": "answer", "session": key, "to": waiting[0], "permission": {"decision": "allow"}})
    seen += until(socket, key, "Complete")
    socket.cut()
    problems = dense(seen, subscribed["from"])
    if answered.get("answer", {}).get("outcome") != "allowed":
        problems.append(f"not allowed: {answered}")
    if text_of(each["event"] for each in seen) != "I will **note** it.It is noted.":
        problems.append(f"another text: {text_of(each['event'] for each in seen)!r}")
    if not (place.project / "note.txt").exists():
        problems.append("the command did not run")
    _, diff = web.call("GET", f"/v1/sessions/{key}/diff")
    if diff["untracked"] != ["note.txt"]:
        problems.append(f"the new file is not in the diff: {diff}")
    return problems + same_history(web, key, [each["event"] for each in seen])


def _stream(place: Place, web: Web) -> list[str]:
    """The same with the `ui` dialect of server mode, and a denial."""
    new = {"cwd": str(place.project), "prompt": "note it"}
    status, session = web.call("POST", "/v1/sessions", new, key="make")
    again = web.call("POST", "/v1/sessions", new, key="make")
    if (status, again[0], again[1]["key"]) != (201, 201, session["key"]):
        return [f"the same command created another session, or got another response: {status} {again}"]
    path = f"/v1/sessions/{session['handle']}/events?dialect=ui"
    problems: list[str] = []
    seen: list[dict[str, Any]] = []
    events = web.events(path)
    first = next(events)
    if first["event"] != "subscribed":
        problems.append(f"the first event is {first}")
    for fields in events:
        seen.append(json.loads(fields["data"]))
        if fields["event"] == "PermissionRequired":
            break
    events.close()
    asked = seen[-1]["PermissionRequired"]["tool_use_id"]
    answer = f"/v1/sessions/{session['key']}/permissions/{asked}"
    won, _ = web.call("POST", answer, {"decision": "deny", "message": "not today"})
    lost, problem = web.call("POST", answer, {"decision": "allow"})
    if (won, lost, problem.get("winner", {}).get("outcome")) != (200, 409, "denied"):
        problems.append(f"the first answer must be accepted: {won} {lost} {problem}")
    for fields in web.events(path, last_id=fields["id"]):
        if fields["event"] != "subscribed":
            seen.append(json.loads(fields["data"]))
        if fields["event"] == "Complete":
            break
    unknown = {name for event in seen for name in event} - PAGE_EVENTS
    if unknown:
        problems.append(f"events outside of server mode: {sorted(unknown)}")
    if text_of(seen) != "I will **note** it.Then not today.":
        problems.append(f"another text: {text_of(seen)!r}")
    if (place.project / "note.txt").exists():
        problems.append("the command ran")
    return problems


def _stopped(place: Place, web: Web) -> list[str]:
    """A stopped agent resumes with the next prompt, and has the earlier conversation."""
    new = {"cwd": str(place.project), "prompt": "note it", "allowed_tools": ["Bash"]}
    _, session = web.call("POST", "/v1/sessions", new)
    key = session["key"]
    socket = web.socket()
    socket.ask({"type": "subscribe", "session": key})
    seen = list(until(socket, key, "Complete"))
    socket.ask({"type": "command", "session": key, "command": "stop"})
    _, stopped = web.call("GET", f"/v1/sessions/{key}")
    socket.ask({"type": "input", "session": key, "input": {"content": "and again"}})
    seen += until(socket, key, "Complete")
    socket.cut()
    problems = [] if stopped["state"] == "stopped" else [f"it is not stopped: {stopped}"]
    if not text_of(each["event"] for each in seen).endswith("It is noted.As I said."):
        problems.append(f"another text: {text_of(each['event'] for each in seen)!r}")
    requests = [json.loads(line) for line in (place.root / "api.ndjson").read_text().splitlines()]
    if len(requests[-1]["messages"]) <= len(requests[-2]["messages"]):
        problems.append("the last request does not continue the previous one")
    return problems


def _files(place: Place, web: Web) -> list[str]:
    """A picture and a text are attached to a prompt: the model receives both, and so do later clients."""
    text = base64.b64encode("# Grüße".encode()).decode()
    sent = [
        {"media_type": "image/png", "data": DOT, "name": "dot.png"},
        {"media_type": "text/markdown", "data": text, "name": "notes.md"},
    ]
    new = {"cwd": str(place.project), "prompt": "note it", "attachments": sent, "allowed_tools": ["Bash"]}
    status, session = web.call("POST", "/v1/sessions", new)
    if status != 201:
        return [f"no session: {status} {session}"]
    key = session["key"]
    socket = web.socket()
    socket.ask({"type": "subscribe", "session": key})
    seen = list(until(socket, key, "Complete"))
    socket.cut()
    prompt = next(each["event"]["UserPrompt"] for each in seen if "UserPrompt" in each["event"])
    _, kept = web.call("GET", f"/v1/sessions/{key}/prompts/{prompt['uuid']}")
    problems: list[str] = []
    if [each["data"] for each in kept.get("attachments", [])] != [DOT, text]:
        problems.append(f"the stored attachments differ: {kept}")
    # Early versions begin with a request without messages.
    requests = map(json.loads, (place.root / "api.ndjson").read_text().splitlines())
    request = next(each for each in requests if each["messages"])
    got = [block for block in request["messages"][0]["blocks"] if block != "text"]
    if got != ["image", "document"]:
        problems.append(f"the model received something else: {got}")
    return problems


def _mobile(place: Place, web: Web) -> list[str]:
    """A phone sends a prompt, disconnects while a permission request is pending, reconnects and allows it."""
    folder = str(place.project)
    phone = web.phone()
    phone.say({"type": "project_create", "id": "1", "data": {"path": folder}})
    phone.say({"type": "project_join", "project_id": folder})
    phone.say({"type": "execute", "id": "2", "project_id": folder, "data": {"prompt": "note it"}})
    heard = list(_heard(phone, lambda message: message["type"] == "permission_request"))
    phone.cut()

    phone = web.phone()
    phone.say({"type": "project_join", "project_id": folder})
    phone.say({"type": "permission_response", "requestId": heard[-1]["id"], "approved": True})
    is_over = lambda message: message["type"] == "session_status" and message["status"]["state"] == "COMPLETED"
    heard += _heard(phone, is_over)
    phone.cut()
    problems = [] if (place.project / "note.txt").exists() else ["the command did not run"]
    said = "".join(message["content"] for message in heard if message["type"] == "claude_response")
    if not said.startswith("I will **note** it.") or not said.endswith("It is noted."):
        problems.append(f"another text: {said!r}")
    return problems


def _heard(phone: Socket, wanted: Callable[[dict[str, Any]], bool]) -> Iterator[dict[str, Any]]:
    """Messages to a phone up to the first wanted one."""
    while True:
        message = phone.hear()
        if message["type"] == "error":
            raise RuntimeError(f"refused: {message}")
        yield message
        if wanted(message):
            return


def _terminal(place: Place, web: Web) -> list[str]:
    """Commands start a session, allow its request, read the answer and continue in a fork."""
    def tidings(*args: str, folder: Path = place.project) -> subprocess.CompletedProcess[str]:
        command = [str(place.programs.tidings), *args, "--data", str(place.root / "data")]
        return subprocess.run(
            command, env=place.env(), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=COMMAND_SECONDS_MAX, **place.programs.as_user(),
        )

    made = tidings("start", "note it", "--json")
    if made.returncode != 0:
        return [f"no session: {made}"]
    number = str(json.loads(made.stdout)["handle"])
    socket = web.socket()
    socket.ask({"type": "subscribe", "session": number})
    for _ in until(socket, json.loads(made.stdout)["key"], "PermissionRequired"):
        pass
    socket.cut()
    allowed = tidings("approve", number, "--yes")
    answer = tidings("attach", number, "--wait")
    copy = tidings("start", "and again", "--resume", number, "--fork-session", "--wait", folder=place.root)
    problems: list[str] = []
    for done, expected in [(allowed, ""), (answer, "It is noted.\n"), (copy, "As I said.\n")]:
        if done.returncode != 0 or not done.stdout.endswith(expected):
            problems.append(f"{done.args[1:3]}: {done.returncode} {done.stdout!r} {done.stderr!r}")
    if not (place.project / "note.txt").exists():
        problems.append("the command did not run in the folder in which it was started")
    return problems


CHECKS: dict[str, Callable[[Place, Web], list[str]]] = {
    "websocket": _websocket,
    "stream": _stream,
    "stopped": _stopped,
    "files": _files,
    "mobile": _mobile,
    "terminal": _terminal,
}


def until(socket: Socket, key: str, name: str) -> Iterator[dict[str, Any]]:
    """Events of a session up to the first of this name."""
    while True:
        message = socket.hear()
        if message["type"] == "event" and message["session"] == key:
            yield message
            if name in message["event"]:
                return


def dense(seen: list[dict[str, Any]], after: str) -> list[str]:
    """Checks that the events have no gaps and no repetitions."""
    numbers = [int(each["cursor"].split(":")[1]) for each in seen]
    first = int(after.split(":")[1]) + 1
    expected = list(range(first, first + len(numbers)))
    return [] if numbers == expected else [f"events are lost, repeated or out of order: {numbers}"]


def same_history(web: Web, key: str, seen: list[dict[str, Any]]) -> list[str]:
    """Checks that the history pages have the same events."""
    events: list[dict[str, Any]] = []
    path = f"/v1/sessions/{key}/history?limit=7"
    before = ""
    while True:
        _, page = web.call("GET", path + before)
        events = [item["event"] for item in page["items"]] + events
        if "prev" not in page:
            break
        before = f"&before={page['prev']}"
    return [] if events[: len(seen)] == seen else ["history differs from the live events"]


def text_of(events: Any) -> str:
    return "".join(event["TextChunk"]["text"] for event in events if "TextChunk" in event)
