"""Other agents under `tidings serve`: real ones from npm, with the stand-in for their APIs, in the Agent Client Protocol.

Each asks about a command. The server is killed while the request is pending, the next server adopts the agent, a client
that lost its connection continues after its cursor, and the answer reaches the agent.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lib.api import Api
from lib.cli import CACHE, E2E, Place, Programs, reachable_folder
from lib.serve import Server
from lib.web import Web
from server import dense, same_history, text_of, until

NAME = "agents"
LEASE_SECONDS = 120
# Limit for a hang: an agent starts slowly on a busy machine.
SECONDS_MAX = 180
# The others run in long runs only.
SHORT = ("claude-agent-acp", "opencode")
NODE = shutil.which("node") or "/usr/bin/node"


@dataclass
class Agent:
    """An agent, its script and its configuration."""

    name: str
    script: Path
    # Part of the cache that it is in, and its program and arguments there.
    part: str
    command: list[str]
    # Writes its configuration; returns the variables it needs.
    prepare: Callable[[Place, str], dict[str, str]]
    # The subject of its permission request: a command, or a tool of its own if it does not send the command as such.
    asks_about: str = "Command"
    # False if it refuses to continue its own sessions; then the next process begins a new one.
    continues: bool = True
    # False if it does not advertise `session/list`.
    lists: bool = True
    # True if it has an option for the level of its thinking, whatever its model is.
    thinks: bool = False
    authenticate: str = ""


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    short = SHORT[:1] if os.environ.get("QUICK") else SHORT
    wanted = [agent for agent in AGENTS if os.environ.get("LONG") or agent.name in short]
    if missing := {agent.part for agent in wanted if not (CACHE / agent.part / "node_modules").exists()}:
        return [f"not installed: {', '.join(missing)}; run e2e/install.sh, with LONG=1 for all"], ""
    problems: list[str] = []
    spent = []
    # The unprivileged user may not be able to read the checkout.
    folder = Path(tempfile.mkdtemp(prefix=f"{NAME}-packages-", dir=root))
    folder.chmod(0o755)
    parts = {agent.part for agent in wanted}
    packages = {part: reachable_folder(CACHE / part / "node_modules", folder / part / "node_modules") for part in parts}
    for agent in wanted:
        begun = time.monotonic()
        found = _talk(programs, root, agent, packages[agent.part])
        problems += [f"{agent.name}: {problem}" for problem in found]
        spent.append(f"{agent.name} {time.monotonic() - begun:.0f} s")
    return problems, "FAILED" if problems else f"a request of each survived its server: {', '.join(spent)}"


def _talk(programs: Programs, root: Path, agent: Agent, packages: Path) -> list[str]:
    place = Place.make(programs, root, f"{NAME}-{agent.name}")
    with Api(programs, agent.script, place.root / "api.ndjson", "--log-bodies", "--lenient") as api:
        flags = _configured(place, agent, packages, api.url)
        with Server(place, api.url, LEASE_SECONDS, None, *flags) as server:
            web = server.web
            new = {"cwd": str(place.project), "backend": agent.name, "prompt": "note it"}
            status, session = web.call("POST", "/v1/sessions", new)
            if status != 201:
                return [f"no session: {status} {session}"]
            key = session["key"]
            socket = web.socket()
            subscribed = socket.ask({"type": "subscribe", "session": key})["subscribed"]
            asked = _pending(web, key)
            if isinstance(asked, str):
                return [f"{asked}; {server.said()[-800:]}"]
            seen = list(until(socket, key, "PermissionRequired"))
            socket.cut()
            server.kill()
        with Server(place, api.url, LEASE_SECONDS, None, *flags) as server:
            web = server.web
            problems = _asked(agent, asked)
            again = _pending(web, key)
            if isinstance(again, str) or again["tool_use_id"] != asked["tool_use_id"]:
                return [*problems, f"the request was not pending after the restart: {again}"]
            socket = web.socket()
            socket.ask({"type": "subscribe", "session": key, "after": seen[-1]["cursor"]})
            web.call("POST", f"/v1/sessions/{key}/permissions/{again['tool_use_id']}", {"decision": "allow"})
            seen += until(socket, key, "Complete")
            if not text_of(each["event"] for each in seen).endswith("It is noted."):
                problems.append(f"another text: {text_of(each['event'] for each in seen)!r}")
            if not (place.project / "note.txt").exists():
                problems.append("the command did not run")
            socket.ask({"type": "input", "session": key, "input": {"content": "and again"}})
            seen += until(socket, key, "Complete")
            socket.cut()
            if not text_of(each["event"] for each in seen).endswith("As I said."):
                problems.append(f"another text: {text_of(each['event'] for each in seen)!r}")
            if os.environ.get("LONG") and agent.continues:
                web.call("POST", f"/v1/sessions/{key}/stop", {})
                problems += _continued(web, key, place)
            problems += dense(seen, subscribed["from"])
            problems += same_history(web, key, [each["event"] for each in seen])
            _, now = web.call("GET", f"/v1/sessions/{key}")
            if now["backend"] != agent.name or len(now["cli_session_ids"]) != 1:
                problems.append(f"another session: {now}")
            # An agent may keep files like those of Claude Code, which are no sessions of their own.
            _, listed = web.call("GET", "/v1/sessions")
            if [each["key"] for each in listed["items"]] != [key]:
                problems.append(f"other sessions: {listed['items']}")
            problems += _options(web, agent, key)
            web.call("POST", f"/v1/sessions/{key}/stop", {})
            problems += _listed(web, agent, now["cli_session_ids"][0], str(place.project))
            return problems + server.close()


def _options(web: Web, agent: Agent, key: str) -> list[str]:
    """The level of its thinking is set, if it has one, and then listed."""
    _, offered = web.call("GET", f"/v1/sessions/{key}/models")
    levels = [option for option in offered.get("options", []) if option.get("category") == "thought_level"]
    if not levels:
        return ["it has no level of thinking"] if agent.thinks else []
    option = levels[0]
    value = next(each["value"] for each in option["values"] if each["value"] != option["value"])
    status, answer = web.call("POST", f"/v1/sessions/{key}/option", {"option": option["id"], "value": value})
    if status != 200:
        return [f"{option['id']} could not be set: {status} {answer}"]
    _, offered = web.call("GET", f"/v1/sessions/{key}/models")
    now = {each["id"]: each["value"] for each in offered.get("options", [])}
    return [] if now.get(option["id"]) == value else [f"{option['id']} is not {value}: {now}"]


def _listed(web: Web, agent: Agent, own: str, folder: str) -> list[str]:
    """A new process of the agent lists the session, if it can."""
    status, answer = web.call("GET", f"/v1/transcripts?backend={agent.name}&cwd={quote(folder)}")
    if not agent.lists:
        return [] if status == 409 else [f"it lists sessions: {status} {answer}"]
    if status != 200:
        return [f"no list of its sessions: {status} {answer}"]
    found = [each for each in answer["items"] if each["id"] == own]
    if [(each["cwd"], each["backend"]) for each in found] != [(folder, agent.name)]:
        return [f"the session {own} is not in its list: {answer}"]
    return []


def _continued(web: Web, key: str, place: Place) -> list[str]:
    """A new process of the agent continues the same session, with the conversation so far."""
    socket = web.socket()
    _, session = web.call("GET", f"/v1/sessions/{key}")
    socket.ask({"type": "subscribe", "session": key, "after": session["cursor"]})
    socket.ask({"type": "input", "session": key, "input": {"content": "and again"}})
    seen = list(until(socket, key, "Complete"))
    socket.cut()
    problems = []
    if text_of(each["event"] for each in seen) != "As I said.":
        problems.append(f"another text after a restart: {text_of(each['event'] for each in seen)!r}")
    requests = (place.root / "api.ndjson").read_text().splitlines()
    if not any(line.count("and again") > 1 and "note it" in line for line in requests):
        problems.append("the new process does not know the conversation")
    return problems


def _asked(agent: Agent, request: dict[str, Any]) -> list[str]:
    """A request as policies and people know it."""
    about = request["request"]
    is_it = about["target_type"] == agent.asks_about and "echo noted > note.txt" in json.dumps(request)
    return [] if is_it else [f"not a request about the command: {request}"]


def _pending(web: Web, key: str) -> dict[str, Any] | str:
    """The pending permission request, or what came instead."""
    deadline = time.monotonic() + SECONDS_MAX
    session: dict[str, Any] = {}
    while time.monotonic() < deadline:
        _, waiting = web.call("GET", "/v1/permissions")
        for each in waiting["items"]:
            if each["session"] == key:
                return each
        _, session = web.call("GET", f"/v1/sessions/{key}")
        if session.get("error"):
            break
        time.sleep(0.05)
    return f"no request: {session.get('state')} {session.get('error')} {session.get('last_line')}"


def _configured(place: Place, agent: Agent, packages: Path, url: str) -> list[str]:
    """Writes the configuration of the server; returns its flags."""
    entry, *args = agent.command
    program = str(packages / entry)
    if entry.endswith(".js"):
        program, args = NODE, [program, *args]
    env = agent.prepare(place, url) | {"PATH": f"{Path(NODE).parent}:/usr/bin:/bin"}
    lines = ["[[agent]]", f'name = "{agent.name}"', f"command = {json.dumps(program)}", f"args = {json.dumps(args)}"]
    if agent.authenticate:
        lines.append(f'authenticate = "{agent.authenticate}"')
    lines += ["[agent.env]", *(f"{name} = {json.dumps(value)}" for name, value in env.items())]
    config = place.root / "serve.toml"
    config.write_text("\n".join(lines) + "\n")
    place.hand_over()
    return ["--config", str(config)]


def _claude(place: Place, _url: str) -> dict[str, str]:
    return {"CLAUDE_CODE_EXECUTABLE": str(place.programs.claude)}


def _opencode(place: Place, url: str) -> dict[str, str]:
    config = {
        "model": "anthropic/claude-sonnet-4-5",
        "small_model": "anthropic/claude-sonnet-4-5",
        "provider": {"anthropic": {"options": {"baseURL": f"{url}/v1", "apiKey": "none"}}},
        "permission": {"bash": "ask", "edit": "ask"},
        "autoupdate": False,
        "share": "disabled",
    }
    path = place.root / "opencode.json"
    path.write_text(json.dumps(config))
    return {"OPENCODE_CONFIG": str(path), "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


def _codex(place: Place, url: str) -> dict[str, str]:
    home = place.root / "codex"
    home.mkdir()
    (home / "config.toml").write_text(
        'model = "rehearsed"\nmodel_provider = "rehearsal"\napproval_policy = "on-request"\nsandbox_mode = "read-only"\n'
        "[model_providers.rehearsal]\n"
        f'name = "rehearsal"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "REHEARSAL_KEY"\n'
        f'[projects.{json.dumps(str(place.project))}]\ntrust_level = "untrusted"\n'
    )
    return {"CODEX_HOME": str(home), "REHEARSAL_KEY": "none"}


def _gemini(place: Place, url: str) -> dict[str, str]:
    folder = place.home / ".gemini"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _goose(_place: Place, url: str) -> dict[str, str]:
    own = {"GOOSE_PROVIDER": "anthropic", "GOOSE_MODEL": "claude-sonnet-4-5", "GOOSE_MODE": "approve"}
    quiet = {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"}
    return own | quiet | {"ANTHROPIC_HOST": url, "ANTHROPIC_API_KEY": "none"}


SCRIPTS = E2E / "agents"
AGENTS = [
    Agent(
        "claude-agent-acp", E2E / "acp" / "talk.toml", "acp", ["@agentclientprotocol/claude-agent-acp/dist/index.js"], _claude,
        thinks=True,
    ),
    Agent(
        "opencode", SCRIPTS / "opencode.toml", "agents", ["opencode-linux-x64/bin/opencode", "acp"], _opencode,
        thinks=True,
    ),
    Agent("codex", SCRIPTS / "codex.toml", "agents", ["@agentclientprotocol/codex-acp/dist/index.js"], _codex),
    Agent(
        "gemini", SCRIPTS / "gemini.toml", "agents", ["@google/gemini-cli/bundle/gemini.js", "--acp"], _gemini,
        # Version 0.61.0 answers `session/load` with "No previous sessions found for this project".
        asks_about="Tool", continues=False, lists=False,
    ),
    Agent("goose", SCRIPTS / "goose.toml", "goose", ["@aaif/goose-binary-linux-x64/bin/goose", "acp"], _goose),
]
