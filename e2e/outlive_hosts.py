"""Servers, agent hosts, and both are killed at random moments of a turn, for each kind of host: with pipes, with the filter of
another agent, and with a terminal. Afterwards every event is there once, and the next prompt is answered.

`KILLS=n` sets the number of kills, `SEED=n` the random seed. The agents on pipes are stand-ins, the one in the terminal is
the real CLI.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import Place, Programs
from lib.serve import Server
from outlive import LEASE_SECONDS, Run
from server import dense, same_history
from terminal import MANUAL, SCRIPT, HostedTerminal
from terminal_steering import SteeredRun
from upgrade import ANOTHER_KIND, CHUNK_CHARS, CHUNK_MS, another_kind, stand_in

NAME = "outlive-hosts"
KILLS = 27
TARGETS = ("server", "host", "both")
CHUNKS = 20
TEXT = "".join(f"{number:7} " for number in range(CHUNKS)).strip()
TURN_SECONDS = CHUNKS * CHUNK_MS / 1000
# Limit in seconds for showing that a host is gone; it only bounds a hang.
GONE_SECONDS_MAX = 30
# States of a session whose agent has ended.
ENDED = {"interrupted", "failed", "parked"}


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    count, seed = int(os.environ.get("KILLS", KILLS)), int(os.environ.get("SEED", 1))
    chance = random.Random(seed)
    problems: list[str] = []
    said = []
    for at, (kind, play_kind) in enumerate(KINDS.items()):
        # Each kind gets its share, and in it each target.
        targets = [TARGETS[number % len(TARGETS)] for number in range(len(range(at, count, len(KINDS))))]
        place = Place.make(programs, root, f"{NAME}-{at}")
        found, events = play_kind(place, targets, chance)
        problems += [f"{kind}: {problem}" for problem in found]
        kills = ", ".join(f"{times} {target}" for target, times in Counter(targets).items())
        said.append(f"{kind}: {kills} killed, {events} events")
    verdict = "FAILED" if problems else "0 events lost, repeated or out of order, every text complete"
    return problems, f"{count} kills (seed {seed}), {'; '.join(said)}: {verdict}"


def _on_pipes(place: Place, targets: list[str], chance: random.Random) -> tuple[list[str], int]:
    return _followed(KilledRun(place, chance), targets)


def _behind_a_filter(place: Place, targets: list[str], chance: random.Random) -> tuple[list[str], int]:
    return _followed(KilledRun(place, chance, backend=ANOTHER_KIND), targets)


def _followed(run: KilledRun, targets: list[str]) -> tuple[list[str], int]:
    """A kill per turn, with a subscriber that continues after its cursor."""
    try:
        for number, target in enumerate(targets):
            run.turn(number, target)
        run.check_texts(targets)
        run.stop()
    finally:
        run.server.kill()
    return run.problems, len(run.watcher.seen)


class KilledRun(Run):
    """One session with a stand-in, and the servers and hosts that it outlives."""

    def __init__(self, place: Place, chance: random.Random, **settings: Any) -> None:
        self._flags = (stand_in(place, TEXT), "--config", str(another_kind(place, TEXT)))
        super().__init__(place, "", chance, **settings)

    def _start(self) -> Server:
        return Server(self.place, "", LEASE_SECONDS, *self._flags)

    def turn(self, number: int, target: str) -> None:
        """One turn, and a kill at some moment of it."""
        self.say(f"p{number}", "tell")
        if target != "server" or not self.hosts():
            # Without a host, a prompt without a sign of a turn would be in doubt, and not be sent again.
            self.watcher.until_named("TextChunk")
        self.pause(TURN_SECONDS)
        hosts = self.hosts()
        if len(hosts) != 1:
            raise RuntimeError(f"{len(hosts)} hosts run")
        steps = {"server": self.server.kill, "host": lambda: os.kill(hosts[0], signal.SIGKILL)}
        for victim in self.chance.sample(list(steps), 2) if target == "both" else [target]:
            steps[victim]()
        if target != "host":
            self.watcher.drain()
            self.server = self._start()
            self.watcher.join(self.server.web, self.chance.choice(["ws", "sse"]))
        if target == "server":
            self.watcher.until_named("Complete")
            if self.hosts() != hosts:
                self.problems.append(f"turn {number}: the hosts were {hosts} and are {self.hosts()}")
        else:
            self.watcher.catch_up(self._ended()["cursor"])

    def _ended(self) -> dict[str, Any]:
        """The session, once the end of its agent is shown."""
        began = time.monotonic()
        while (view := self.server.web.call("GET", f"/v1/sessions/{self.key}")[1])["state"] not in ENDED:
            if time.monotonic() - began > GONE_SECONDS_MAX:
                raise RuntimeError(f"the end of the host is not shown: {view}")
            time.sleep(0.02)
        return view

    def check_texts(self, targets: list[str]) -> None:
        """Every event once, and of every text its beginning up to the kill, or all of it if the host lived."""
        events = [each["event"] for each in self.watcher.seen]
        self.problems += self.watcher.problems + dense(self.watcher.seen, self.watcher.first)
        self.problems += same_history(self.server.web, self.key, events)
        shown: list[str] = []
        for event in events:
            if "UserPrompt" in event:
                shown.append("")
            elif "TextChunk" in event:
                shown[-1] += event["TextChunk"]["text"]
        if len(shown) != len(targets):
            self.problems.append(f"{len(shown)} prompts, not {len(targets)}")
        for number, (text, target) in enumerate(zip(shown, targets)):
            is_right = text == TEXT if target == "server" else text and TEXT.startswith(text)
            self.problems += [] if is_right else [f"turn {number} ({target} killed) said {text!r}"]


def _in_a_terminal(place: Place, targets: list[str], chance: random.Random) -> tuple[list[str], int]:
    """The events of a session in a terminal are those of its file."""
    script = place.root / "script.toml"
    story = (
        '[[turn]]\nwhen = { last_contains = "[tell]", has_tool = "Bash" }\nrepeat = true\noptional = true\n'
        f"pace = {{ chunk_chars = {CHUNK_CHARS}, chunk_delay_ms = {CHUNK_MS} }}\n[[turn.block]]\ntext = \"{TEXT}\"\n"
    )
    script.write_text(story + place.fill(SCRIPT.read_text()).partition("\n")[2].replace("@ROOT@", str(place.root)))
    events = 0
    with Api(place.programs, script, place.root / "api.ndjson") as api, SteeredRun(place, api) as run:
        run.serve()
        for number, target in enumerate(targets):
            run.play(_killed(number, target, chance))
        events = len(run.history(run.row()["key"]))
    return run.problems, events


def _killed(number: int, target: str, chance: random.Random) -> Callable[[SteeredRun], list[str]]:
    def case(run: SteeredRun) -> list[str]:
        prompt, host = f"{number}, please [tell]", run.terminal.record["host_pid"]
        run.row()
        run.say(prompt)
        run.said_to_model(prompt)
        time.sleep(chance.uniform(0, TURN_SECONDS))
        steps = {"server": run.kill, "host": lambda: os.kill(host, signal.SIGKILL)}
        for victim in chance.sample(list(steps), 2) if target == "both" else [target]:
            steps[victim]()
        if target != "host":
            run.serve()
        if target == "server":
            run.idle()
            return run.differences()
        last = run.terminal
        run.wait(lambda: not last.is_running(), "the end of the CLI")
        last.close()
        run._terminal = HostedTerminal(run.place, run.api.url, [*MANUAL, "--resume", last.session_id])
        # What the CLI writes while it ends may be shown when its session continues.
        return run.differences()

    case.__name__ = f"kill {number} of the {target}"
    return case


KINDS: dict[str, Callable[[Place, list[str], random.Random], tuple[list[str], int]]] = {
    "pipes": _on_pipes,
    "another agent": _behind_a_filter,
    "terminal": _in_a_terminal,
}
