"""A server is replaced twice while many agents write: killed once, and stopped once. No agent may be affected.

`AGENTS=n` sets the number of agents; one more is of another kind, and speaks the Agent Client Protocol.
`OLD_TIDINGS=path` names a program of an earlier version, which is the first server: its hosts have the adapter of that
agent as a process of its own. The agents are stand-ins, so that a small machine can run many.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lib.cli import Place, Programs
from lib.serve import Server
from lib.web import SECONDS_MAX, Socket, Web
from server import dense

NAME = "upgrade"
AGENTS = 5
LEASE_SECONDS = 120
GONE_SECONDS_MAX = 10
CHUNK_CHARS, CHUNK_MS = 8, 60
ANOTHER_KIND = "sample"
# In addition to the time for starting all of them.
CHUNKS_AT_LEAST, CHUNKS_PER_AGENT = 50, 8


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    count = int(os.environ.get("AGENTS", AGENTS)) + 1
    place = Place.make(programs, root, NAME)
    chunks = CHUNKS_AT_LEAST + CHUNKS_PER_AGENT * count
    text = "".join(f"{number:7} " for number in range(chunks)).strip()
    program, config = stand_in(place, text), another_kind(place, text)
    problems: list[str] = []
    flags = ("", LEASE_SECONDS, program, "--live-max", str(count), "--config", str(config))
    start, old = partial(Server, place, *flags), programs.old
    first = replace(place, programs=replace(programs, tidings=old)) if old else place
    server = Server(first, *flags)
    try:
        crowd = Crowd(place, server.web, count)
        crowd.until(lambda seen: any("TextChunk" in each["event"] for each in seen))
        agents = _agents(place)
        # A host of this version has the adapter in itself.
        if len(agents) != count + bool(old):
            problems.append(f"{len(agents)} agents and adapters run, not {count + bool(old)}")
        refusal = _second(start())
        said = []
        for how in ("kill -9", "SIGTERM"):
            busy = crowd.busy()
            if how == "SIGTERM":
                problems += server.close()
            else:
                server.kill()
            crowd.drain()
            server = start()
            crowd.join(server.web)
            said.append(f"{how} with {busy} of {count} in the middle of a turn")
            if _agents(place) != agents:
                problems.append(f"after {how} other agents run")
            more = {key: len(seen) + 3 for key, seen in crowd.seen.items()}
            crowd.until(lambda seen: crowd.is_done(seen) or len(seen) >= more[seen[0]["session"]])
        crowd.until(crowd.is_done)
        problems += crowd.problems(text)
        if _agents(place) != agents:
            problems.append("in the end other agents run")
        problems += refusal
        for key in crowd.seen:
            server.web.call("POST", f"/v1/sessions/{key}/stop", {})
        began = time.monotonic()
        while (left := _agents(place)) and time.monotonic() - began < GONE_SECONDS_MAX:
            time.sleep(0.1)
        problems += [f"process {pid} is still running" for pid in left]
    finally:
        server.kill()
    events = sum(map(len, crowd.seen.values()))
    verdict = f"0 died, {count} of {count} texts complete, 0 of {events} events lost, repeated or out of order"
    of_old = " of an earlier version" if old else ""
    return problems, f"{count} agents{of_old}, {', '.join(said)}: {verdict if not problems else 'FAILED'}"


class Crowd:
    """Many sessions, subscribed over one WebSocket, with the cursor of each."""

    def __init__(self, place: Place, web: Web, count: int) -> None:
        self.first: dict[str, str] = {}
        self.seen: dict[str, list[dict[str, Any]]] = {}
        self.wrong: list[str] = []
        for number in range(count):
            new = {"cwd": str(place.project), "prompt": "tell"} | ({} if number else {"backend": ANOTHER_KIND})
            status, session = web.call("POST", "/v1/sessions", new)
            if status != 201:
                raise RuntimeError(f"no session: {status} {session}")
            self.seen[session["key"]] = []
        self.join(web)

    def join(self, web: Web) -> None:
        self.socket: Socket = web.socket()
        for key, seen in self.seen.items():
            after = seen[-1]["cursor"] if seen else self.first.get(key)
            told = self.socket.ask({"type": "subscribe", "session": key} | ({"after": after} if after else {}))
            told = told["subscribed"]
            if after is None:
                self.first[key] = told["from"]
            elif (told["verdict"], told["from"]) != ("ok", after):
                self.wrong.append(f"reconnected after {after} and got the verdict {told['verdict']} from {told['from']}")

    def until(self, wanted: Any) -> None:
        """Reads events until each session has reached the wanted state."""
        began = time.monotonic()
        open_ones = {key for key, seen in self.seen.items() if not (seen and wanted(seen))}
        while open_ones:
            if time.monotonic() - began > SECONDS_MAX * 2:
                raise RuntimeError(f"waited for too long for {len(open_ones)} sessions")
            key = self._take(self.socket.hear())
            if key in open_ones and wanted(self.seen[key]):
                open_ones.discard(key)

    def drain(self) -> None:
        """Reads the events that a killed server had sent."""
        try:
            while True:
                self._take(self.socket.hear())
        except TimeoutError:
            raise
        except (OSError, ValueError, RuntimeError):
            pass

    def _take(self, message: dict[str, Any]) -> str | None:
        if message["type"] != "event":
            return None
        self.seen[message["session"]].append(message)
        return message["session"]

    @staticmethod
    def is_done(seen: list[dict[str, Any]]) -> bool:
        return any("Complete" in each["event"] for each in seen)

    def busy(self) -> int:
        """Number of agents in the middle of a turn, by the events received so far."""
        return sum(not self.is_done(seen) for seen in self.seen.values())

    def problems(self, text: str) -> list[str]:
        problems = list(self.wrong)
        for key, seen in self.seen.items():
            problems += dense(seen, self.first[key])
            events = [each["event"] for each in seen]
            said = "".join(event["TextChunk"]["text"] for event in events if "TextChunk" in event)
            if said != text:
                problems.append(f"a text of {len(said)} characters and not {len(text)}")
            for name in ("UserPrompt", "Complete"):
                if (times := sum(name in event for event in events)) != 1:
                    problems.append(f"{name} came {times} times")
        return problems


def stand_in(place: Place, text: str) -> Path:
    """A program in place of `claude` that streams this text."""
    script, program = place.root / "story.toml", place.root / "claude"
    pace = f"pace = {{ chunk_chars = {CHUNK_CHARS}, chunk_delay_ms = {CHUNK_MS} }}"
    script.write_text(f"[[turn]]\nrepeat = true\ntext = {json.dumps(text)}\n{pace}\n")
    words = f"'{place.programs.tidings}' rehearse agent --script '{script}' --config-dir '{place.config}'"
    program.write_text(f'#!/bin/sh\nexec {words} -- "$@"\n')
    program.chmod(0o755)
    return program


def another_kind(place: Place, text: str) -> Path:
    """A configuration of the server with an agent of another kind, a program that streams this text."""
    script, config = place.root / "another" / "story.toml", place.root / "serve.toml"
    script.parent.mkdir()
    chunks = [text[at:at + CHUNK_CHARS] for at in range(0, len(text), CHUNK_CHARS)]
    steps = ", ".join(f"{{ text = {json.dumps(chunk)} }}, {{ pause_ms = {CHUNK_MS} }}" for chunk in chunks)
    script.write_text(f"[[turn]]\nwhen = \"tell\"\nsteps = [{steps}]\n")
    args = ["rehearse", "acp", "--script", str(script)]
    agent = {"name": ANOTHER_KIND, "command": str(place.programs.tidings), "args": args}
    config.write_text("\n".join(["[[agent]]", *(f"{key} = {json.dumps(value)}" for key, value in agent.items())]))
    place.hand_over()
    return config


def _second(second: Server) -> list[str]:
    """A second server on the same data must refuse to start while the first one runs, with a reason."""
    try:
        said = second.refusal()
    except subprocess.TimeoutExpired:
        return ["a second server on the same data started"]
    finally:
        second.kill()
    return [] if "another server" in said else [f"a second server on the same data says: {said!r}"]


def _agents(place: Place) -> set[int]:
    """The processes of the stand-ins."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if any(str(place.root / name).encode() in line for name in ("story.toml", "another/story.toml")):
            found.add(int(folder.name))
    return found
