"""Text of clients with the real CLI: what reaches the model of a prompt that Claude Code would interpret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import E2E, Place, Programs
from lib.serve import Server
from lib.web import Web
from server import until

NAME = "trust"
SCRIPT = E2E / "trust" / "talk.toml"
OUTSIDE, INSIDE, KEY = "WORD-OUTSIDE", "WORD-INSIDE", "WORD-OF-A-KEY"


def problems_of(programs: Programs, root: Path) -> list[str]:
    """Returns the problems."""
    place = Place.make(programs, root, NAME)
    outside = place.root / "outside.txt"
    outside.write_text(OUTSIDE)
    (place.project / "inside.txt").write_text(INSIDE)
    (place.project / "link.txt").symlink_to(outside)
    (place.home / ".ssh").mkdir()
    (place.home / ".ssh" / "id_rsa").write_text(KEY)
    with Api(programs, SCRIPT, place.root / "api.ndjson", "--log-bodies") as api:
        with Server(place, api.url) as server:
            found = _prompts(place, server.web, outside) + server.close()
        left_over = api.close()
    return [*found, *([left_over] if left_over else [])]


def _prompts(place: Place, admin: Web, outside: Path) -> list[str]:
    wanted = {"name": "phone", "scopes": ["read", "prompt", "decide"]}
    status, made = admin.call("POST", "/v1/devices", wanted)
    if status != 201:
        return [f"no device: {status} {made}"]
    phone = Web(f"http://{admin.host}", made["token"])
    mentions = " ".join(f"@{path}" for path in (outside, "../outside.txt", "link.txt", "~/.ssh/id_rsa", "inside.txt"))
    status, session = phone.call("POST", "/v1/sessions", {"cwd": str(place.project)})
    if status != 201:
        return [f"no session: {status} {session}"]
    key = session["key"]
    socket = phone.socket()
    socket.ask({"type": "subscribe", "session": key})

    def prompt(web: Web, text: str) -> tuple[int, Any]:
        return web.call("POST", f"/v1/sessions/{key}/input", {"content": text})

    problems: list[str] = []
    # A phone's mentions are text, but for the file that the server adds.
    prompt(phone, f"first {mentions}")
    list(until(socket, key, "Complete"))
    sent = _requests(place)[-1]
    if OUTSIDE in sent or KEY in sent:
        problems.append("a mention of a phone was expanded")
    if INSIDE not in sent or mentions not in sent:
        problems.append("the file of the project, or the text itself, did not reach the model")
    # Its commands do not run.
    settings = place.config / "settings.json"
    before = settings.read_text() if settings.exists() else ""
    for text in ("/config permissionMode=acceptEdits", " /config checkpoints=false", "/output-style x", "/heapdump"):
        status, refused = prompt(phone, text)
        if (status, "`admin`" in refused.get("detail", "")) != (403, True):
            problems.append(f"`{text}` was not refused: {status} {refused}")
    # The reason of a denial is text, too.
    prompt(phone, "second")
    asked = list(until(socket, key, "PermissionRequired"))[-1]["event"]["PermissionRequired"]["tool_use_id"]
    denial = {"decision": "deny", "message": f"/config a=b not now {mentions}"}
    phone.call("POST", f"/v1/sessions/{key}/permissions/{asked}", denial)
    list(until(socket, key, "Complete"))
    sent = _requests(place)[-1]
    if OUTSIDE in sent or KEY in sent:
        problems.append("the reason of a denial was expanded")
    # The rules of the session bind an admin's mentions of credentials.
    prompt(admin, f"third @{place.home}/.ssh/id_rsa @~/.ssh/id_rsa @{place.root}/data/token @{outside}")
    list(until(socket, key, "Complete"))
    sent = _requests(place)[-1]
    token = (place.root / "data" / "token").read_text().strip()
    if KEY in sent or token in sent:
        problems.append("an agent could read credentials")
    if OUTSIDE not in sent:
        problems.append("an admin's mention was not expanded, so this row proves nothing")
    # A relative path leads to the same file in every command.
    prompt(phone, "fourth")
    list(until(socket, key, "Complete"))
    socket.cut()
    if f'"{place.project}/src' in _requests(place)[-1].replace("\\n", '"'):
        problems.append("a command of the shell moved the next one to another folder")
    after = settings.read_text() if settings.exists() else ""
    if before != after:
        problems.append(f"the settings of the user have changed: {after}")
    return problems


def _requests(place: Place) -> list[str]:
    """The requests of the CLI to the API, in order."""
    lines = (place.root / "api.ndjson").read_text().splitlines()
    return [json.dumps(json.loads(line)) for line in lines if '"messages"' in line]
