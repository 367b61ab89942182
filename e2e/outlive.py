"""Servers that are killed while the real CLI runs: the agent continues, and subscribers miss no event.

`KILLS=n` sets the number of kills, `SEED=n` the random seed.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import Place, Programs
from lib.serve import Server
from lib.watcher import Watcher
from server import dense, same_history

NAME = "outlive"
KILLS = 20
# Each request contains the whole conversation so far.
KILLS_PER_SESSION = 50
LEASE_SECONDS = 60
# Limit in seconds for the end of everything that an agent started, and for showing a signal; it only bounds a hang.
GONE_SECONDS_MAX = 60
# Limit in seconds for showing that an agent or a host was killed or stopped. Checked with `BARS=1`, on an
# idle machine.
SHOWN_SECONDS_MAX = 2
STORY = (
    "There was once a server that was killed in the middle of every sentence, "
    "and nobody noticed, for the agent went on. "
)
PACE = {"chunk_chars": 8, "chunk_delay_ms": 40}


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    left, seed = int(os.environ.get("KILLS", KILLS)), int(os.environ.get("SEED", 1))
    chance = random.Random(seed)
    kills: Counter[str] = Counter()
    problems: list[str] = []
    events = 0
    while left > 0:
        found, run = _conversation(programs, root, min(left, KILLS_PER_SESSION), chance)
        problems += found
        kills += run.kills
        events += len(run.watcher.seen)
        left -= run.kills.total()
    found, shown = states(programs, root)
    problems += found
    said = ", ".join(f"{count} {what}" for what, count in kills.items())
    fine = "0 agents died, 0 prompts lost or answered twice, 0 of {} events lost, repeated or out of order, every text complete"
    verdict = fine.format(events) if not problems else "FAILED"
    return problems, f"{kills.total()} kills (seed {seed}): {said}: {verdict}; {shown}"


def _conversation(
    programs: Programs, root: Path, kills: int, chance: random.Random,
) -> tuple[list[str], Run]:
    """One session that outlives a number of servers."""
    rounds = [ROUNDS[number % len(ROUNDS)] for number in range(kills)]
    turns = [turn for number, each in enumerate(rounds) for turn in each.turns(number)]
    with _session(programs, root, turns, chance) as run:
        done = 0
        while run.kills.total() < kills:
            rounds[done].play(run, done)
            done += 1
        run.check([each.expected(number) for number, each in enumerate(rounds[:done])])
    return run.problems, run


@contextmanager
def _session(programs: Programs, root: Path, turns: list[str], chance: random.Random) -> Iterator[Run]:
    """A session with these turns of the model. Processes left over at its end are a problem."""
    place = Place.make(programs, root, NAME)
    script = place.root / "script.toml"
    script.write_text(place.fill("".join(turns)))
    with Api(programs, script, place.root / "api.ndjson") as api:
        run = Run(place, api.url, chance, allowed_tools=["Bash"])
        try:
            yield run
            run.stop()
        finally:
            run.server.kill()
        left_over = api.close()
    # A CLI whose host was killed may run for a moment, and its requests have no answer then.
    run.problems += [left_over] if left_over and not run.is_cut_short else []


def states(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Kills and stops agents and hosts: returns the problems, and the time until each was shown."""
    problems: list[str] = []
    took: dict[str, float] = {}
    # A process with the agents' name that the server did not start.
    bystander = subprocess.Popen([str(programs.claude), "600"], executable="/bin/sleep")
    try:
        for who in ("agent", "host"):
            with _session(programs, root, Permission.turns(0), random.Random(1)) as run:
                took[f"killed {who}"] = _killed(run, who)
            problems += run.problems
            with _session(programs, root, Streaming.turns(0), random.Random(1)) as run:
                took[f"stopped {who}"] = _stopped(run, who)
                run.check([Streaming.expected(0)])
            problems += run.problems
        if bystander.poll() is not None:
            problems.append("a process that the server did not start was ended")
    finally:
        bystander.kill()
        bystander.wait()
    if os.environ.get("BARS"):
        late = {what: seconds for what, seconds in took.items() if seconds > SHOWN_SECONDS_MAX}
        problems += [f"{what} was shown after {seconds:.1f} s" for what, seconds in late.items()]
    return problems, "shown after " + ", ".join(f"{seconds:.2f} s ({what})" for what, seconds in took.items())


def _killed(run: Run, who: str) -> float:
    """kill -9 during a permission request: the turn is interrupted with a reason, and the request is lost."""
    run.say("p", "[note 0]")
    asked = run.watcher.until_named("PermissionRequired")["tool_use_id"]
    run.is_cut_short = True
    took = run.signal(who, signal.SIGKILL, lambda view: view["state"] == "interrupted" and view["error"])
    resolved = run.watcher.until_named("PermissionResolved")
    if (resolved["tool_use_id"], resolved["outcome"]) != (asked, "Lost"):
        run.problems.append(f"killed {who}: the request ended as {resolved}")
    return took


def _stopped(run: Run, who: str) -> float:
    """SIGSTOP in the middle of a sentence: the session is marked, and continues after SIGCONT."""
    run.say("p", "[stream 0]")
    run.watcher.until_named("TextChunk")
    took = run.signal(who, signal.SIGSTOP, lambda view: view.get("stalled"))
    run.signal(who, signal.SIGCONT, lambda view: not view.get("stalled"))
    run.watcher.until_named("Complete")
    return took


class Run:
    """One session, and a sequence of servers for it."""

    def __init__(self, place: Place, base_url: str, chance: random.Random, **settings: Any) -> None:
        self.place, self.base_url, self.chance = place, base_url, chance
        self.kills: Counter[str] = Counter()
        self.problems: list[str] = []
        self.is_cut_short = False
        self.server = self._start()
        new = {"cwd": str(place.project)} | settings
        status, session = self.server.web.call("POST", "/v1/sessions", new)
        if status != 201:
            raise RuntimeError(f"no session: {status} {session}")
        self.key = session["key"]
        self.watcher = Watcher(self.key)
        self.watcher.join(self.server.web, "ws")
        self.agent: int | None = None

    def _start(self) -> Server:
        return Server(self.place, self.base_url, LEASE_SECONDS)

    def say(self, name: str, content: str) -> None:
        """Sends a prompt; the same name again is the same prompt."""
        body = {"content": content, "client_id": name}
        status, answer = self.server.web.call("POST", f"/v1/sessions/{self.key}/input", body)
        if status not in (200, 202):
            raise RuntimeError(f"the prompt was rejected: {status} {answer}")

    def answer(self, what: str, body: dict[str, Any], outcome: str) -> None:
        """Sends an answer; repeating it has no further effect."""
        status, answer = self.server.web.call("POST", f"/v1/sessions/{self.key}/{what}", body)
        if (status, answer.get("outcome")) != (200, outcome):
            self.problems.append(f"{what}: {status} {answer}")

    def pause(self, seconds_max: float) -> None:
        time.sleep(self.chance.uniform(0, seconds_max))

    def kill(self, situation: str) -> dict[str, Any]:
        """Sends kill -9, and starts another server on the same data; returns the state of the session."""
        if self.agent is None:
            self.agent = self._agents()[0]
        self.server.kill()
        self.kills[situation] += 1
        self.watcher.drain()
        if self.chance.random() < 0.2:
            # Killed again before it is ready.
            self.server = self._start()
            self.pause(0.3)
            self.server.kill()
            self.kills["starting"] += 1
        self.pause(0.1)
        if (agents := self._agents()) != [self.agent]:
            self.problems.append(f"killed while {situation}: the agent was {self.agent} and now there is {agents}")
        self.server = self._start()
        return self.watcher.join(self.server.web, self.chance.choice(["ws", "sse"]))

    def kill_during(self, situation: str, call: Callable[[], None], seconds_max: float) -> None:
        """Kills the server during a request, which is then repeated."""

        def send() -> None:
            try:
                call()
            except (OSError, ValueError, http.client.HTTPException):
                pass

        sending = threading.Thread(target=send)
        sending.start()
        self.pause(seconds_max)
        self.kill(situation)
        sending.join()
        call()

    def kill_while_asked(self, what: str, asked: str, body: dict[str, Any], outcome: str) -> None:
        """Kills the server while a request is pending, and again while it is answered."""
        self.pause(0.1)
        waiting = self.kill(f"{what} pending")[f"pending_{what}s"]
        if [each["tool_use_id"] for each in waiting] != [asked]:
            self.problems.append(f"{asked} is not pending after a kill: {waiting}")
        self.kill_during(
            f"{what} being answered", lambda: self.answer(f"{what}s/{asked}", body, outcome), 0.03,
        )
        self.watcher.until_named("Complete")

    def signal(self, who: str, number: int, wanted: Callable[[dict[str, Any]], Any]) -> float:
        """Sends a signal to the agent or to its host; returns the time until the wanted state was shown."""
        found = self._agents() if who == "agent" else self.hosts()
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} processes could be the {who}")
        began = time.monotonic()
        os.kill(found[0], number)
        while not wanted(view := self.server.web.call("GET", f"/v1/sessions/{self.key}")[1]):
            if time.monotonic() - began > GONE_SECONDS_MAX:
                self.problems.append(f"signal {number} to the {who} is never shown: {view}")
                break
            time.sleep(0.02)
        return time.monotonic() - began

    def check(self, expected: list[tuple[list[tuple[str, str]], dict[str, str]]]) -> None:
        """Checks that every text and tool call occurred once and in order."""
        prompts = [prompt for turns, _ in expected for prompt, _ in turns]
        texts = [text for turns, _ in expected for _, text in turns]
        events = [each["event"] for each in self.watcher.seen]
        problems = self.problems
        problems += self.watcher.problems
        problems += dense(self.watcher.seen, self.watcher.first)
        problems += same_history(self.server.web, self.key, events)
        said = [event["UserPrompt"]["text"] for event in events if "UserPrompt" in event]
        if said != prompts:
            problems.append(f"prompts were {said}")
        shown = [""]
        for event in events:
            if "TextChunk" in event:
                shown[-1] += event["TextChunk"]["text"]
            if "Complete" in event:
                shown.append("")
        problems += [f"a turn said {text!r}, not {meant!r}" for text, meant in zip(shown, texts) if text != meant]
        if len(shown) != len(texts) + 1:
            problems.append(f"{len(shown) - 1} turns, not {len(texts)}")
        problems += _asked_once(events)
        for name, content in (file for _, files in expected for file in files.items()):
            path = self.place.project / name
            if (found := path.read_text() if path.exists() else None) != content:
                problems.append(f"{name} has {found!r}: the tool did not run once")

    def stop(self) -> None:
        """Ends the agent, and waits until all its processes are gone."""
        self.server.web.call("POST", f"/v1/sessions/{self.key}/stop", {})
        began = time.monotonic()
        while (left := self._processes()) and time.monotonic() - began < GONE_SECONDS_MAX:
            time.sleep(0.1)
        self.problems += [f"process {pid} ({line}) is still running" for pid, line in left.items()]

    def hosts(self) -> list[int]:
        return [pid for pid, line in self._processes().items() if " host " in line]

    def _agents(self) -> list[int]:
        """The CLI under its host. Its child processes look like itself for a moment."""
        hosts = self.hosts()
        program = str(self.place.programs.claude)
        found = [pid for pid, line in self._processes().items() if line.startswith(program)]
        return [pid for pid in found if _parent(pid) in hosts]

    def _processes(self) -> dict[int, str]:
        """Processes of the run except the server: the host, the CLI and its tools."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                cwd = os.readlink(folder / "cwd")
            except OSError:
                continue
            is_host = " host " in line and str(self.place.root) in line
            if is_host or cwd.startswith(str(self.place.project)):
                found[int(folder.name)] = line
        return found


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
    except OSError:
        return None


def _asked_once(events: list[dict[str, Any]]) -> list[str]:
    """Checks that every request was sent once and settled once."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in events:
        for name in ("PermissionDetails", "QuestionDetails", "PermissionRequired", "UserInteractionRequired",
                     "PermissionResolved", "InteractionResolved"):
            if name in event:
                counts[name, event[name]["tool_use_id"]] += 1
    problems = [f"{name} of {asked} came {count} times" for (name, asked), count in counts.items() if count != 1]
    for told, settled in (("PermissionDetails", "PermissionResolved"), ("QuestionDetails", "InteractionResolved")):
        for name, asked in counts:
            if name == told and not counts[settled, asked]:
                problems.append(f"{asked} was asked and never settled")
    return problems


class Streaming:
    """Kills a server while text is streamed."""

    @staticmethod
    def turns(number: int) -> list[str]:
        return [_turn(f"[stream {number}]", f"{number}: {STORY}", PACE)]

    @staticmethod
    def expected(number: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
        return [(f"[stream {number}]", f"{number}: {STORY}")], {}

    @staticmethod
    def play(run: Run, number: int) -> None:
        run.say(f"p{number}", f"[stream {number}]")
        run.watcher.until_named("TextChunk")
        run.pause(0.6)
        run.kill("streaming")
        run.watcher.until_named("Complete")


class Prompting:
    """Kills a server while a prompt is being delivered."""

    @staticmethod
    def turns(number: int) -> list[str]:
        return [_turn(f"[quick {number}]", f"Quick {number}.")]

    @staticmethod
    def expected(number: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
        return [(f"[quick {number}]", f"Quick {number}.")], {}

    @staticmethod
    def play(run: Run, number: int) -> None:
        run.kill_during("taking a prompt", lambda: run.say(f"p{number}", f"[quick {number}]"), 0.04)
        run.watcher.until_named("Complete")


class Tool:
    """Kills a server while a tool runs."""

    @staticmethod
    def turns(number: int) -> list[str]:
        command = f"sleep 0.8; echo ran >> tool-{number}.txt; echo '[ran {number}]'"
        call = _tool("Bash", {"command": command, "description": "Take a while"})
        return [_turn(f"[tool {number}]", f"Running {number}.", call=call), _turn(f"[ran {number}]", f"Ran {number}.")]

    @staticmethod
    def expected(number: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
        return [(f"[tool {number}]", f"Running {number}.Ran {number}.")], {f"tool-{number}.txt": "ran\n"}

    @staticmethod
    def play(run: Run, number: int) -> None:
        run.say(f"p{number}", f"[tool {number}]")
        run.watcher.until_named("ToolExecuting")
        run.pause(0.5)
        run.kill("tool running")
        run.watcher.until_named("Complete")


class Permission:
    """Kills a server while a permission request is pending, and again while it is answered."""

    @staticmethod
    def turns(number: int) -> list[str]:
        call = _tool("Write", {"file_path": f"@CWD@/note-{number}.txt", "content": "noted\n"})
        return [
            _turn(f"[note {number}]", f"Noting {number}.", call=call), _turn(f"note-{number}.txt", f"Noted {number}."),
        ]

    @staticmethod
    def expected(number: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
        return [(f"[note {number}]", f"Noting {number}.Noted {number}.")], {f"note-{number}.txt": "noted\n"}

    @staticmethod
    def play(run: Run, number: int) -> None:
        run.say(f"p{number}", f"[note {number}]")
        asked = run.watcher.until_named("PermissionRequired")["tool_use_id"]
        run.kill_while_asked("permission", asked, {"decision": "allow", "client_id": f"yes {number}"}, "allowed")


class Question:
    """Kills a server while a question is pending, and again while it is answered."""

    @staticmethod
    def turns(number: int) -> list[str]:
        options = [{"label": word, "description": word} for word in ("Red", "Blue")]
        question = {"question": f"Which colour, {number}?", "header": "Colour", "options": options}
        call = _tool("AskUserQuestion", {"questions": [question | {"multiSelect": False}]})
        return [
            _turn(f"[ask {number}]", f"Asking {number}.", call=call), _turn(f"colour, {number}?", f"Blue {number}."),
        ]

    @staticmethod
    def expected(number: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
        return [(f"[ask {number}]", f"Asking {number}.Blue {number}.")], {}

    @staticmethod
    def play(run: Run, number: int) -> None:
        run.say(f"p{number}", f"[ask {number}]")
        shown = run.watcher.until_named("UserInteractionRequired")
        replies = [{"question_id": each["id"], "answer": ["Blue"]} for each in shown["request"]["questions"]]
        body = {"answers": replies, "client_id": f"answer {number}"}
        run.kill_while_asked("question", shown["tool_use_id"], body, "answered")


class Queue:
    """Kills a server while prompts are queued."""

    @staticmethod
    def turns(number: int) -> list[str]:
        first = _turn(f"[first {number}]", f"First {number}: {STORY}", PACE)
        return [first, *(_turn(f"[{word} {number}]", f"The {word}, {number}.") for word in ("second", "third"))]

    @staticmethod
    def expected(number: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
        rest = [(f"[{word} {number}]", f"The {word}, {number}.") for word in ("second", "third")]
        return [(f"[first {number}]", f"First {number}: {STORY}"), *rest], {}

    @staticmethod
    def play(run: Run, number: int) -> None:
        for word in ("first", "second", "third"):
            run.say(f"p{number} {word}", f"[{word} {number}]")
        run.watcher.until_named("TextChunk")
        run.pause(0.2)
        waiting = run.server.web.call("GET", f"/v1/sessions/{run.key}/queue")[1]
        run.kill("queue not empty" if waiting else "streaming")
        for _ in range(3):
            run.watcher.until_named("Complete")


ROUNDS = [Streaming, Tool, Permission, Question, Queue, Prompting]


def _turn(when: str, text: str, pace: dict[str, int] | None = None, call: str = "") -> str:
    """A turn of the script that answers a request whose last message contains this text."""
    lines = ["[[turn]]", "optional = true", f"when = {{ last_contains = {json.dumps(when)} }}"]
    if pace:
        lines.append("pace = { " + ", ".join(f"{key} = {value}" for key, value in pace.items()) + " }")
    return "\n".join([*lines, "[[turn.block]]", f"text = {json.dumps(text)}", call, ""])


def _tool(name: str, parameters: dict[str, Any]) -> str:
    return f"[[turn.block]]\ntool = {json.dumps(name)}\ninput = {_toml(parameters)}\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
