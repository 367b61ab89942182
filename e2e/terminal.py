"""Sessions that a person starts in a terminal: the real CLI in tmux, the hooks, and `tidings serve`.

`RACES=n` sets the number of races between the keyboard and the API, `SEED=n` the random seed.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
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
from lib.cli import E2E, OTHER_CLAUDE, Place, Programs
from lib.serve import Server
from lib.terminal import SECONDS_MAX, Pane, Terminal, poll_seconds
from lib.web import Web

NAME = "terminal"
SCRIPT = E2E / "terminal" / "talk.toml"
RACES = 4
# Keys and answers of a race come so many seconds after the dialog, which ignores keys in its first 0.2 s.
RACE_SECONDS = (0.2, 0.5)
# Limit in seconds for showing a new session. Checked with `BARS=1`, on an idle machine.
SHOWN_SECONDS_MAX = 2
# Time that a hook waits for a reply of the server, in milliseconds.
REPLY_MS = 4000
MANUAL = ["--permission-mode", "default"]
DIALOG = "Do you want to proceed"
QUESTION = "Like the sea"
DONE = "That is done"
REASON = "this is risky"
# Events that the session file has too.
CONVERSATION = {"TextChunk", "ToolExecuting", "ToolCompleted", "Complete"}


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    return play_cases(programs, root, NAME, CASES)


def play_cases(
    programs: Programs, root: Path, name: str, cases: list[Callable[[Run], list[str]]],
) -> tuple[list[str], str]:
    """The same for other cases."""
    place = Place.make(programs, root, name)
    for name in ("first", "second"):
        (place.root / f"{name}.txt").write_text(f"{name}\n")
    script = place.root / "script.toml"
    script.write_text(place.fill(SCRIPT.read_text()).replace("@ROOT@", str(place.root)))
    with Api(programs, script, place.root / "api.ndjson", "--log-bodies") as api, Run(place, api) as run:
        for case in cases:
            run.play(case)
        problems = run.problems
    return problems, f"{run.said}: {'FAILED' if problems else 'ok'}"


class HostedTerminal(Terminal):
    """`tidings claude` or `tidings resume` in a pane of tmux. Closing the pane leaves the CLI running."""

    def __init__(self, place: Place, base_url: str, args: list[str], program: list[str] | None = None) -> None:
        self._folder = place.root / "data"
        self._others = self._records(self._folder)
        super().__init__(
            place, base_url, args, program=program or [str(place.programs.tidings), "claude"], env=environment(place),
        )

    def _find_cli(self) -> int:
        def look() -> dict[str, Any] | None:
            found = self._records(self._folder)
            return next((record for name, record in found.items() if name not in self._others), None)

        self.record: dict[str, Any] = self.wait(look, "the record of the terminal's host")
        return self.record["pid"]

    @staticmethod
    def _records(folder: Path) -> dict[str, dict[str, Any]]:
        return {record["id"]: record for record in terminal_hosts(folder)}

    def detach(self) -> None:
        """Closes the window of the user."""
        Pane.close(self)

    def close(self) -> None:
        self.detach()
        if hasattr(self, "record") and self.is_running():
            os.kill(self.record["host_pid"], signal.SIGTERM)
        super().close()


def terminal_hosts(data: Path) -> list[dict[str, Any]]:
    """The hosts with a terminal whose program runs, also those of an earlier version: their ids and processes."""
    records = [json.loads(path.read_text()) for path in data.glob("hosts/*/host.json")]
    held = [{"id": record["id"]} | record["terminal"] for record in records if record.get("terminal")]
    held += [json.loads(path.read_text()) for path in data.glob("terminals/*.json")]
    return [record for record in held if record["pid"]]


def environment(place: Place) -> dict[str, str]:
    """Variables of a user whose server has the data folder of the place."""
    return {
        "TIDINGS_DATA_DIR": str(place.root / "data"), "CLAUDE_CLI_PATH": str(place.programs.claude),
        "TIDINGS_HOOK_REPLY_MS": str(REPLY_MS),
    }


class Run:
    """A server, and the terminal of the person whose prompts and keys it must not disturb."""

    def __init__(self, place: Place, api: Api) -> None:
        self.place, self.api = place, api
        self.chance = random.Random(int(os.environ.get("SEED", 1)))
        self.problems: list[str] = []
        self.said = ""
        self.prompts: list[str] = []
        self._server: Server | None = None
        self._terminal: Terminal | None = None
        self._install()

    def play(self, case: Callable[[Run], list[str]]) -> None:
        """Runs a case. After a failure the next one gets a new terminal, since an old dialog may be open."""
        name = case.__name__.strip("_").replace("_", " ")
        # After a late reply hooks leave the server alone for some seconds; that must not fail the next case.
        (self.place.root / "data" / "hook-backoff").unlink(missing_ok=True)
        try:
            self.problems += [f"{name}: {problem}" for problem in case(self)]
        except (RuntimeError, OSError, LookupError, http.client.HTTPException, subprocess.TimeoutExpired) as error:
            self.problems.append(f"{name}: {type(error).__name__}: {error}")
            self.leave()

    # The programs.

    def _install(self) -> None:
        done = subprocess.run(
            [str(self.place.programs.tidings), "hook", "install", "--data", str(self.place.root / "data")],
            env=self.place.env(), cwd=self.place.root, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS_MAX, check=False, **self.place.programs.as_user(),
        )
        if done.returncode != 0:
            raise RuntimeError(f"tidings hook install: {done.returncode} {done.stdout} {done.stderr}")
        # On a busy machine a reply may take longer than a hook waits for; the time limit has tests of its own.
        hooks = self.place.config / "skills" / "tidings" / "hooks" / "hooks.json"
        patient = json.loads(hooks.read_text())
        for groups in patient["hooks"].values():
            for hook in (hook for group in groups for hook in group["hooks"]):
                hook["args"] += ["--reply-ms", str(REPLY_MS)]
        hooks.write_text(json.dumps(patient))

    def serve(self, lease_seconds: int = 0, *flags: str) -> None:
        """Starts a server; the next one after a kill has the same data."""
        self._server = Server(self.place, self.api.url, lease_seconds, None, *flags)

    def kill(self) -> None:
        """kill -9 of the server."""
        self._server.kill()

    def stop(self) -> None:
        """Stops the server in order."""
        if problems := self._server.close():
            raise RuntimeError("; ".join(problems))

    def signal(self, number: int) -> None:
        """Sends a signal to the server."""
        self._server.signal(number)

    @property
    def web(self) -> Web:
        return self._server.web

    @property
    def terminal(self) -> Terminal:
        """The terminal in which most cases happen."""
        if self._terminal is None:
            self._terminal = Terminal(self.place, self.api.url, MANUAL)
            self.prompts = []
        return self._terminal

    def resume(self, *program: str) -> Terminal:
        """Another terminal in place of the last one, with its session."""
        last, self._terminal = self.terminal, None
        if program:
            self._terminal = HostedTerminal(self.place, self.api.url, [], list(program))
        else:
            self._terminal = Terminal(self.place, self.api.url, [*MANUAL, "--resume", last.session_id])
        last.close()
        return self._terminal

    def leave(self) -> None:
        """Closes the terminal."""
        if self._terminal:
            self._terminal.close()
            self._terminal = None

    @contextmanager
    def another(self, *args: str) -> Iterator[Terminal]:
        """One more terminal in the same project."""
        with Terminal(self.place, self.api.url, list(args)) as terminal:
            yield terminal

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        if self._server:
            self._server.__exit__()

    # The person at the terminal.

    def say(self, prompt: str, terminal: Terminal | None = None) -> None:
        if terminal is None:
            self.terminal.say(prompt)
            self.prompts.append(prompt)
        else:
            terminal.say(prompt)

    def idle(self) -> None:
        """Waits for the end of the turn."""
        self.terminal.wait_status("idle")

    def result(self, tool_use_id: str) -> dict[str, Any]:
        """The result of a tool call for the model."""
        return next(self._results(self._written(tool_use_id)[0], tool_use_id))

    def winner(self, tool_use_id: str) -> str:
        """The source of the decision that the CLI took: `hook`, `keyboard`, or `both`.

        With `both`, Escape stopped a command that the hook had allowed. The CLI then records a rejection, and the
        command may have run.
        """
        entry, later = self._written(tool_use_id)
        if entry.get("toolDenialKind") == "user-rejected":
            stopped = self.wait(lambda: later() and later()[0], "the entry about the interruption")
            return "both" if "interruptedMessageId" in stopped else "keyboard"
        if OTHER_CLAUDE:
            # Earlier versions do not name the source in the result.
            found = [entry.get("attachment", {}) for entry in self.terminal.entries()]
            hook = any(
                each.get("type") == "hook_permission_decision" and each.get("toolUseID") == tool_use_id for each in found
            )
            if entry.get("toolUseResult") == "User rejected tool use":
                return "both" if hook else "keyboard"
            return "hook" if hook else "keyboard"
        return "hook" if entry.get("permissionDecision", {}).get("source") == "hook" else "keyboard"

    def _written(self, tool_use_id: str) -> tuple[dict[str, Any], Callable[[], list[dict[str, Any]]]]:
        """The entry of the session file with the result of a call, and the user's entries after it.

        The CLI writes them up to a moment after the turn.
        """

        def users() -> list[dict[str, Any]]:
            entries = [entry for entry in self.terminal.entries() if entry["type"] == "user"]
            found = [at for at, entry in enumerate(entries) if any(self._results(entry, tool_use_id))]
            return entries[found[0]:] if found else []

        return self.wait(users, f"the result of {tool_use_id}")[0], lambda: users()[1:]

    @staticmethod
    def _results(entry: dict[str, Any], tool_use_id: str) -> Iterator[dict[str, Any]]:
        content = entry["message"]["content"]
        blocks = content if isinstance(content, list) else []
        return (block for block in blocks if block.get("tool_use_id") == tool_use_id)

    def counted(self) -> int:
        """Number of times that the counting command ran."""
        path = self.place.project / "count.txt"
        return len(path.read_text().splitlines()) if path.exists() else 0

    # The user of the API.

    def row(self, terminal: Terminal | None = None) -> dict[str, Any]:
        """The session of a terminal in the list, once it is there."""
        wanted = (terminal or self.terminal).session_id

        def look() -> dict[str, Any] | None:
            rows = self.web.call("GET", "/v1/sessions")[1]["items"]
            return next((row for row in rows if wanted in row["cli_session_ids"]), None)

        return self.wait(look, f"the session {wanted} in the list")

    def asked(
        self, kind: str = "permissions", count: int = 1, terminal: Terminal | None = None,
    ) -> list[dict[str, Any]]:
        """The pending permission requests or questions of the session, once there are so many."""
        key = self.row(terminal)["key"]

        def look() -> list[list[dict[str, Any]]] | None:
            items = self.web.call("GET", f"/v1/{kind}?session={key}")[1]["items"]
            return [items] if len(items) == count else None

        return self.wait(look, f"{count} {kind} of the session {key}")[0]

    def decide(self, item: dict[str, Any], decision: str, message: str | None = None) -> tuple[int, dict[str, Any]]:
        body = {"decision": decision} | ({"message": message} if message else {})
        return self.web.call("POST", f"/v1/sessions/{item['session']}/permissions/{item['tool_use_id']}", body)

    def reply(self, item: dict[str, Any], answer: str) -> tuple[int, dict[str, Any]]:
        """Answers the first question."""
        replies = [{"question_id": item["request"]["questions"][0]["id"], "answer": [answer]}]
        path = f"/v1/sessions/{item['session']}/questions/{item['tool_use_id']}"
        return self.web.call("POST", path, {"answers": replies})

    def history(self, key: str) -> list[dict[str, Any]]:
        """All events of a session."""
        events: list[dict[str, Any]] = []
        before = ""
        while True:
            page = self.web.call("GET", f"/v1/sessions/{key}/history?limit=1000{before}")[1]
            events = [item["event"] for item in page["items"]] + events
            if "prev" not in page:
                return events
            before = f"&before={page['prev']}"

    def wait(self, look: Callable[[], Any], what: str) -> Any:
        """Waits until `look` returns something."""
        began = time.monotonic()
        while not (found := look()):
            if time.monotonic() > began + SECONDS_MAX:
                screen = f"; the screen:\n{self._terminal.screen()}" if self._terminal else ""
                raise RuntimeError(f"{what} did not come within {SECONDS_MAX} s{screen}")
            time.sleep(poll_seconds(began))
        return found

    def differences(self) -> list[str]:
        """Compares the events of the server with those of the session file, after the end of a turn."""
        key = self.row()["key"]

        def same() -> bool:
            return _outline(self.history(key)) == _outline(self._events_of_file())

        problems = []
        try:
            self.wait(same, "equal events")
        except RuntimeError:
            shown, filed = _outline(self.history(key)), _outline(self._events_of_file())
            same_until = [left == right for left, right in zip(shown, filed)] + [False]
            at = same_until.index(False)
            problems.append(f"event {at} is {shown[at:at + 1]}, and {filed[at:at + 1]} in the file")
        said = [event["UserPrompt"]["text"] for event in self.history(key) if "UserPrompt" in event]
        if said != self.prompts:
            problems.append(f"the prompts are {said}, not {self.prompts}")
        return problems

    def _events_of_file(self) -> list[dict[str, Any]]:
        path = self.terminal.transcript()
        done = subprocess.run(
            [str(self.place.programs.tidings), "sessions", "export", str(path), "--to", "ui"], env=self.place.env(),
            capture_output=True, text=True, timeout=SECONDS_MAX, check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]


def _outline(events: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The conversation without numbers of sessions and turns, and with texts joined."""
    found: list[tuple[str, ...]] = []
    for name, body in (pair for event in events for pair in event.items() if pair[0] in CONVERSATION):
        if name == "TextChunk" and found and found[-1][0] == name:
            found[-1] = (name, found[-1][1] + body["text"])
        elif name == "TextChunk":
            found.append((name, body["text"]))
        elif name == "ToolExecuting":
            found.append((name, body["tool_use_id"], body["tool_name"], json.dumps(body["input"], sort_keys=True)))
        elif name == "ToolCompleted":
            found.append((name, body["tool_use_id"], json.dumps(body["result"])))
        else:
            # The file's events are those of server mode, which has fewer stop reasons.
            found.append((name,))
    return found


def _lost(answer: tuple[int, dict[str, Any]]) -> list[str]:
    """Checks that an answer came second, and that its sender is told the first one."""
    status, body = answer
    return [] if status == 409 and body.get("winner") else [f"a late answer got {status} {body}"]


def _won(answer: tuple[int, dict[str, Any]], outcome: str) -> list[str]:
    status, body = answer
    return [] if (status, body.get("outcome")) == (200, outcome) else [f"the answer got {status} {body}"]


def _ran(run: Run, before: int, times: int) -> list[str]:
    ran = run.counted() - before
    return [] if ran == times else [f"the command ran {ran} times, not {times}"]


def _without_a_server(run: Run) -> list[str]:
    """The CLI works as if there were no hooks, and a server that starts later finds the session."""
    before = run.counted()
    with run.another(*MANUAL) as terminal:
        run.say("please [count]", terminal)
        terminal.wait_screen(DIALOG)
        terminal.answer("Enter", DIALOG)
        terminal.wait_screen(DONE)
        terminal.wait_status("idle")
        screen = terminal.wait_screen(lambda screen: "esc to interrupt" not in screen)
        run.serve()
        row = run.row(terminal)
    problems = _ran(run, before, 1)
    if re.search("hook", screen, re.IGNORECASE):
        problems.append(f"hooks are not silent:\n{screen}")
    return problems + ([] if row["origin"] == "terminal" else [f"another origin: {row}"])


def _shown(run: Run) -> list[str]:
    """A new session is in the list soon after its start."""
    row = run.row()
    took = time.monotonic() - run.terminal.began
    run.said = f"a session was shown after {took:.2f} s"
    problems = [] if row["origin"] == "terminal" else [f"another origin: {row}"]
    if os.environ.get("BARS") and took > SHOWN_SECONDS_MAX:
        problems.append(run.said)
    return problems


def _typed_prompt(run: Run) -> list[str]:
    """A prompt of several lines, thinking, text and a tool call are the same in the events and in the file."""
    run.say("a first line\nplease [greet]")
    run.terminal.wait_screen(DONE)
    run.idle()
    return run.differences()


def _allowed_from_the_api(run: Run) -> list[str]:
    before = run.counted()
    run.say("please [count]")
    item, = run.asked()
    problems = _won(run.decide(item, "allow"), "allowed")
    run.terminal.wait_screen(lambda screen: DIALOG not in screen)
    run.idle()
    if item["details"]["tool_name"] != "Bash":
        problems.append(f"another request: {item}")
    return problems + _ran(run, before, 1) + run.asked(count=0)


def _denied_from_the_api(run: Run) -> list[str]:
    before = run.counted()
    run.say("please [count]")
    item, = run.asked()
    problems = _won(run.decide(item, "deny", "not while it rains"), "denied")
    run.terminal.wait_screen(lambda screen: DIALOG not in screen)
    run.idle()
    result = run.result(item["tool_use_id"])
    if "not while it rains" not in json.dumps(result):
        problems.append(f"the model was told something else: {result}")
    return problems + _ran(run, before, 0)


def _keyboard_says_yes(run: Run) -> list[str]:
    before = run.counted()
    run.say("please [count]")
    item, = run.asked()
    run.terminal.wait_screen(DIALOG)
    run.terminal.answer("Enter", DIALOG)
    run.idle()
    run.asked(count=0)
    return _lost(run.decide(item, "deny")) + _ran(run, before, 1)


def _keyboard_says_esc(run: Run) -> list[str]:
    before = run.counted()
    run.say("please [count]")
    item, = run.asked()
    run.terminal.wait_screen(DIALOG)
    run.terminal.answer("Escape", DIALOG)
    run.asked(count=0)
    run.idle()
    return _lost(run.decide(item, "allow")) + _ran(run, before, 0)


def _interrupted_after_the_api(run: Run) -> list[str]:
    """Esc while an allowed command runs: the request stays allowed, in the events and in the audit log."""
    before = run.counted()
    run.say("please [wait]")
    item, = run.asked()
    run.terminal.wait_screen(DIALOG)
    problems = _won(run.decide(item, "allow"), "allowed")
    run.wait(lambda: run.counted() == before + 1, "the start of the command")
    run.terminal.keys("Escape")
    run.idle()
    run.result(item["tool_use_id"])
    run.say("and now, please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("and now")[2])
    run.idle()
    wanted = item["tool_use_id"]
    resolved = [
        event["PermissionResolved"]["outcome"] for event in run.history(item["session"])
        if event.get("PermissionResolved", {}).get("tool_use_id") == wanted
    ]
    if resolved != ["Allowed"]:
        problems.append(f"the outcomes are {resolved}")
    return problems + _ran(run, before, 1)


def _question_from_the_api(run: Run) -> list[str]:
    run.say("please [ask]")
    item, = run.asked("questions")
    problems = _won(run.reply(item, "Blue"), "answered")
    run.terminal.wait_screen(lambda screen: QUESTION not in screen)
    run.idle()
    return problems + _answered(run, item, "Blue")


def _question_from_the_keyboard(run: Run) -> list[str]:
    run.say("please [ask]")
    item, = run.asked("questions")
    run.terminal.wait_screen(QUESTION)
    run.terminal.answer("Enter", QUESTION)
    run.idle()
    run.asked("questions", 0)
    return _lost(run.reply(item, "Blue")) + _answered(run, item, "Red")


def _answered(run: Run, item: dict[str, Any], colour: str) -> list[str]:
    """Checks the answer that the model received."""
    result = json.dumps(run.result(item["tool_use_id"]))
    return [] if colour in result else [f"the model received another answer: {result}"]


def _plan_from_the_api(run: Run) -> list[str]:
    with run.another("--permission-mode", "plan") as terminal:
        run.say("please [greet]", terminal)
        terminal.wait_screen(DONE)
        terminal.wait_status("idle")
        # The CLI chooses the file of the plan, and tells only the model.
        path = Path(re.findall(r'[^\s"\\`]*/plans/[^\s"\\`]*\.md', run.api.log.read_text())[-1])
        path.parent.mkdir(exist_ok=True)
        path.write_text("# The plan\n\n1. Count to one.\n")
        run.say("please [plan]", terminal)
        item, = run.asked("questions", terminal=terminal)
        terminal.wait_screen("Would you like to proceed")
        problems = _won(run.reply(item, "Approve"), "answered")
        terminal.wait_screen(lambda screen: "Would you like to proceed" not in screen)
        screen = terminal.wait_screen(DONE)
        terminal.wait_status("idle")
    if "Count to one" not in json.dumps(item):
        problems.append(f"the plan is not shown: {item}")
    return problems + ([] if "plan mode on" not in screen else [f"still in plan mode:\n{screen}"])


def _parallel_requests(run: Run) -> list[str]:
    """Two requests at once, answered in reverse order."""
    run.say("please [read both]")
    items = run.asked(count=2)
    paths = {_path(item): item for item in items}
    problems = []
    for name, decision, outcome in (("second", "allow", "allowed"), ("first", "deny", "denied")):
        path = str(run.place.root / f"{name}.txt")
        if path not in paths:
            return [f"no request for {path}: {items}"]
        problems += _won(run.decide(paths[path], decision), outcome)
    run.idle()
    for name, failed in (("second", False), ("first", True)):
        result = run.result(paths[str(run.place.root / f"{name}.txt")]["tool_use_id"])
        if result.get("is_error", False) is not failed:
            problems.append(f"{name}.txt: the result is {result}")
    return problems + run.asked(count=0)


def _path(item: dict[str, Any]) -> str | None:
    found = re.search(r'"file_path": "([^"]*)"', json.dumps(item["details"]))
    return found and found[1]


def _killed_server(run: Run) -> list[str]:
    """The dialog works without the server, and the next server has the whole conversation."""
    before = run.counted()
    run.say("please [count]")
    run.asked()
    run.terminal.wait_screen(DIALOG)
    run.kill()
    run.terminal.answer("Enter", DIALOG)
    run.idle()
    run.say("please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("[greet]")[2])
    run.idle()
    run.serve()
    problems = _ran(run, before, 1) + run.asked(count=0) + run.differences()
    return problems + _allowed_from_the_api(run) + run.differences()


def _unattended(run: Run) -> list[str]:
    """`claude -p` has no dialog: nobody is asked, and the run ends."""
    before = run.counted()
    done = subprocess.run(
        [str(run.place.programs.claude), "-p", "please [count]", *MANUAL, "--output-format", "json"],
        env=run.place.env(run.api.url), cwd=run.place.project, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=SECONDS_MAX, check=False, **run.place.programs.as_user(),
    )
    problems = _ran(run, before, 0)
    if done.returncode != 0 or DONE not in done.stdout:
        problems.append(f"it ended with {done.returncode}: {done.stdout} {done.stderr}")
    pending = run.web.call("GET", "/v1/permissions")[1]["items"]
    return problems + [f"still pending: {item}" for item in pending]


def _auto_mode(run: Run) -> list[str]:
    """Auto mode runs a harmless command unasked; its denial of another one is shown with the reason."""
    before = run.counted()
    with run.another("--permission-mode", "auto") as terminal:
        run.say("please [count]", terminal)
        terminal.wait_screen(DONE)
        terminal.wait_status("idle")
        run.say("please [risky]", terminal)
        terminal.wait_screen(lambda screen: DONE in screen.rpartition("[risky]")[2])
        key = run.row(terminal)["key"]
        run.wait(lambda: REASON in json.dumps(run.history(key)), "the reason of the denial")
    if (run.place.project / "risky.txt").exists():
        return ["the flagged command ran"]
    return _ran(run, before, 1)


def _races(run: Run) -> list[str]:
    """The keyboard and the API answer at the same time: one of them wins, and the command runs accordingly."""
    problems: list[str] = []
    winners: Counter[str] = Counter()
    for number in range(int(os.environ.get("RACES", RACES))):
        key, decision = run.chance.choice(["Enter", "Escape"]), run.chance.choice(["allow", "deny"])
        winner, found = _race(run, key, decision)
        winners[winner] += 1
        problems += [f"race {number} ({key} against {decision}): {problem}" for problem in found]
    run.said += f", {winners.total()} races: " + ", ".join(f"{who} won {count}" for who, count in winners.items())
    return problems + run.differences()


def _race(run: Run, key: str, decision: str) -> tuple[str, list[str]]:
    before = run.counted()
    run.say("please [count]")
    item, = run.asked()
    run.terminal.wait_screen(DIALOG)
    answers: list[tuple[int, dict[str, Any]]] = []
    delays = run.chance.uniform(*RACE_SECONDS), run.chance.uniform(*RACE_SECONDS)

    def decide() -> None:
        time.sleep(delays[0])
        answers.append(run.decide(item, decision))

    deciding = threading.Thread(target=decide)
    deciding.start()
    time.sleep(delays[1])
    # Without a dialog Escape would interrupt the turn.
    if key == "Enter" or DIALOG in run.terminal.screen():
        run.terminal.keys(key)
    deciding.join()
    run.terminal.wait_screen(lambda screen: DIALOG not in screen)
    run.idle()
    run.asked(count=0)
    return _judge(run, item, key, decision, answers[0], run.counted() - before)


def _judge(
    run: Run, item: dict[str, Any], key: str, decision: str, answer: tuple[int, dict[str, Any]], ran: int,
) -> tuple[str, list[str]]:
    """The winner according to the session file; the answer of the API and the command must agree with it."""
    status, body = answer
    winner = run.winner(item["tool_use_id"])
    if OTHER_CLAUDE and winner == "keyboard" and key == "Escape" and ran == 1:
        # Earlier versions do not record that Escape stopped a command that the hook had allowed.
        winner = "both"
    result = body if status == 200 else body.get("winner")
    if status not in (200, 409) or not result:
        return winner, [f"the answer got {status} {body}"]
    problems = []
    if winner != "both":
        allowed = key == "Enter" if winner == "keyboard" else decision == "allow"
        # Two that agree may both be told that they won.
        agree = (decision == "allow") == (key == "Enter")
        if not agree and (status == 200) is not (winner == "hook") or (result["outcome"] == "allowed") is not allowed:
            problems.append(f"the answer got {status} {body}")
        if ran != int(allowed):
            problems.append(f"the command ran {ran} times")
    elif ran > 1:
        problems.append(f"the command ran {ran} times")
    return winner, [f"{winner} won, and {problem}" for problem in problems]


CASES: list[Callable[[Run], list[str]]] = [
    _without_a_server,
    _shown,
    _typed_prompt,
    _allowed_from_the_api,
    _denied_from_the_api,
    _keyboard_says_yes,
    _keyboard_says_esc,
    _interrupted_after_the_api,
    _question_from_the_api,
    _question_from_the_keyboard,
    _parallel_requests,
    _races,
    _killed_server,
    _plan_from_the_api,
    _unattended,
    # Earlier versions judge calls in another way.
    *[_auto_mode] * (not OTHER_CLAUDE),
]
