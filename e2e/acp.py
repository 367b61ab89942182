"""Editors: `tidings acp` driven by the official TypeScript SDK of the Agent Client Protocol, with the stand-in, with the
real CLI, and over a server that is killed; and the same conversation through another agent, claude-agent-acp.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import CACHE, E2E, Place, Programs, reachable_folder
from lib.serve import Server

NAME = "acp"
SCRIPT = E2E / "acp" / "talk.toml"
SECONDS_MAX = 60
LEASE_SECONDS = 60
# Accepted differences from claude-agent-acp, with the reason.
ONLY_OURS = {
    "config_option_update": "the CLI starts with the first prompt, and its model is known then; theirs starts with the session",
}
ONLY_THEIRS: dict[str, str] = {}


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    if not (CACHE / "acp" / "node_modules").exists():
        return ["the SDK of the protocol is not installed: run e2e/install.sh"], ""
    problems: list[str] = []
    ours: dict[str, Any] = {}
    for case in ("talk", "cancel"):
        found, _ = _stand_in(programs, root, case)
        problems += [f"stand-in: {case}: {problem}" for problem in found]
        found, seen = _real(programs, root, case)
        problems += [f"CLI: {case}: {problem}" for problem in found]
        ours = ours or seen
    problems += [f"restart: {problem}" for problem in _restart(programs, root)]
    found, theirs = _theirs(programs, root)
    problems += [f"claude-agent-acp: {problem}" for problem in found]
    if ours and theirs:
        problems += _compared(ours["prompt"], theirs["prompt"])
    said = "the SDK drove the stand-in, the CLI and a killed server; kinds of updates equal those of claude-agent-acp"
    return problems, "FAILED" if problems else said


class Editor:
    """`acp/editor.mjs` with an agent."""

    def __init__(self, place: Place, case: str, env: dict[str, str], command: list[str]) -> None:
        # Node looks for packages beside the file, and they are in the cache.
        folder = place.root / "node"
        folder.mkdir(exist_ok=True)
        shutil.copy(E2E / "acp" / "editor.mjs", folder)
        if not (folder / "node_modules").exists():
            (folder / "node_modules").symlink_to(CACHE / "acp" / "node_modules")
        node = shutil.which("node") or "/usr/bin/node"
        env = env | {"PATH": f"{Path(node).parent}:{env['PATH']}"}
        self._stderr = open(place.root / f"{case}.stderr", "w+b")
        self._child = subprocess.Popen(
            [node, str(folder / "editor.mjs"), case, *command], cwd=place.project, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self._stderr, text=True, start_new_session=True,
        )
        self._late = threading.Timer(SECONDS_MAX, self._kill)
        self._late.start()

    def line(self) -> dict[str, Any]:
        """The next line that it prints."""
        line = self._child.stdout.readline()
        return json.loads(line) if line else {}

    def end(self) -> tuple[list[str], dict[str, Any]]:
        """Waits for its end: the problems, and what it saw."""
        seen = self.line()
        code = self._child.wait()
        self._late.cancel()
        self._kill()
        self._child.stdout.close()
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace").strip()[-1500:]
        self._stderr.close()
        return ([f"exit code {code}: {said}"] if code else []), seen

    def _kill(self) -> None:
        try:
            os.killpg(self._child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _stand_in(programs: Programs, root: Path, case: str) -> tuple[list[str], dict[str, Any]]:
    """`tidings acp` by itself, with the stand-in."""
    place = Place.make(programs, root, f"{NAME}-stand-in-{case}")
    shim = place.root / "claude"
    shim.write_text(f'#!/bin/sh\nexec {programs.tidings} rehearse agent --script {SCRIPT} "$@"\n')
    shim.chmod(0o755)
    command = [str(programs.tidings), "acp", "--standalone", "--claude-path", str(shim)]
    return Editor(place, case, place.env(), command).end()


def _real(programs: Programs, root: Path, case: str) -> tuple[list[str], dict[str, Any]]:
    """`tidings acp` by itself, with the real CLI."""
    place = Place.make(programs, root, f"{NAME}-cli-{case}")
    with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
        command = [*programs.drop_rights(), str(programs.tidings), "acp", "--standalone", "--claude-path", str(programs.claude)]
        return Editor(place, case, place.env(api.url), command).end()


def _restart(programs: Programs, root: Path) -> list[str]:
    """`tidings acp` over a server that is killed while a request is pending; another client answers it."""
    place = Place.make(programs, root, f"{NAME}-restart")
    with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
        with Server(place, api.url, LEASE_SECONDS) as server:
            server.web  # noqa: B018 - waits until it listens
            command = [*programs.drop_rights(), str(programs.tidings), "acp", "--data", str(place.root / "data")]
            editor = Editor(place, "restart", place.env(api.url), command)
            key = editor.line().get("asked")
            server.kill()
        with Server(place, api.url, LEASE_SECONDS) as server:
            if key:
                status, waiting = server.web.call("GET", "/v1/permissions")
                asks = [each["tool_use_id"] for each in waiting.get("items", []) if each["session"] == key]
                if len(asks) == 1:
                    path = f"/v1/sessions/{key}/permissions/{asks[0]}"
                    status, _ = server.web.call("POST", path, {"decision": "allow"})
                if len(asks) != 1 or status != 200:
                    return [f"the request was not pending after the restart: {status} {waiting}"]
            problems, _ = editor.end()
            return problems + server.close()


def _theirs(programs: Programs, root: Path) -> tuple[list[str], dict[str, Any]]:
    """The same conversation through claude-agent-acp."""
    place = Place.make(programs, root, f"{NAME}-theirs")
    packages = reachable_folder(CACHE / "acp/node_modules", place.root / "node_modules")
    entry = packages / "@agentclientprotocol/claude-agent-acp/dist/index.js"
    with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
        env = place.env(api.url, {"CLAUDE_CODE_EXECUTABLE": str(programs.claude)})
        # Its replay may lack what the CLI has not written yet, so it is not loaded.
        return Editor(place, "prompt", env, [*programs.drop_rights(), "node", str(entry)]).end()


def _compared(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Kinds of updates, kinds of permission options and kinds of tools that differ without a listed reason."""
    problems = []
    unused = set(ONLY_OURS) | set(ONLY_THEIRS)
    for what, of in (("updates", _kinds), ("options", _options), ("tools", _tools)):
        mine, other = of(ours), of(theirs)
        problems += [f"{what}: only ours has {kind}" for kind in sorted(mine - other - ONLY_OURS.keys())]
        problems += [f"{what}: only theirs has {kind}" for kind in sorted(other - mine - ONLY_THEIRS.keys())]
        unused -= mine ^ other
    return problems + [f"no longer occurs, remove it: {kind}" for kind in sorted(unused)]


def _kinds(seen: dict[str, Any]) -> set[str]:
    return {update["sessionUpdate"] for update in seen["updates"]}


def _options(seen: dict[str, Any]) -> set[str]:
    return {option["kind"] for asked in seen["asked"] for option in asked["options"]}


def _tools(seen: dict[str, Any]) -> set[str]:
    return {update["kind"] for update in seen["updates"] if update.get("kind")}
