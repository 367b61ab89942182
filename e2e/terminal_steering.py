"""`tidings claude` with the real CLI: a terminal that outlives its viewers, and prompts that are typed into it.

`LONG=1` runs all cases; without it only the quick ones run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import OTHER_CLAUDE, Place, Programs
from lib.terminal import COLUMNS, LINES, POLL_SECONDS, SECONDS_MAX, Pane
from lib.web import Socket, Web
from terminal import DIALOG, DONE, MANUAL, SCRIPT, HostedTerminal, Run, environment

NAME = "terminal-steering"
SLOW = "That was slow"
# Size of a second terminal, smaller than the first one.
SMALL = (90, 30)
KEYS_BYTES_MAX = 64 << 10
# Time for three attempts of the server to type a prompt.
ATTEMPTS_SECONDS = 1.5


class SteeredRun(Run):
    """A run whose terminal is one of `tidings claude`."""

    @property
    def terminal(self) -> HostedTerminal:
        if self._terminal is None:
            self._terminal = HostedTerminal(self.place, self.api.url, MANUAL)
            self.prompts = []
        return self._terminal

    def send(self, content: str, web: Web | None = None) -> tuple[int, dict[str, Any]]:
        """A prompt over the API."""
        return (web or self.web).call("POST", f"/v1/sessions/{self.row()['key']}/input", {"content": content})

    def queued(self) -> list[dict[str, Any]]:
        return self.web.call("GET", f"/v1/sessions/{self.row()['key']}/queue")[1]["items"]

    def said_to_model(self, text: str) -> None:
        """Waits until the session file has a prompt with exactly this text."""
        def texts() -> Iterator[str]:
            for entry in self.terminal.entries():
                content = entry.get("message", {}).get("content", entry.get("attachment", {}).get("prompt"))
                blocks = content if isinstance(content, list) else [{"text": content}]
                yield from (block.get("text") for block in blocks)

        self.wait(lambda: text in texts(), f"the prompt {text!r} in the session file")

    def unchanged(self, fits: Callable[[str], bool], terminal: Pane | None = None) -> list[str]:
        """Looks at the screen while the server tries several times to type a prompt."""
        until = time.monotonic() + ATTEMPTS_SECONDS
        while time.monotonic() < until:
            if not fits(screen := (terminal or self.terminal).screen()):
                return [f"something was typed:\n{screen}"]
            time.sleep(POLL_SECONDS)
        return []

    def turn(self, prompt: str, shown: str = DONE) -> None:
        """Waits for the end of the turn of a prompt that was sent over the API."""
        last = prompt.splitlines()[-1]
        self.terminal.wait_screen(lambda screen: shown in screen.rpartition(last)[2])
        self.idle()
        self.prompts.append(prompt)

    def device(self, name: str, *scopes: str) -> Web:
        """A device with some of the scopes."""
        done = subprocess.run(
            [
                str(self.place.programs.tidings), "token", "create", "--name", name, "--scope", ",".join(scopes), "--json",
                "--data", str(self.place.root / "data"),
            ],
            env=self.place.env(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX,
            check=False, **self.place.programs.as_user(),
        )
        if done.returncode != 0:
            raise RuntimeError(f"tidings token: {done.stdout} {done.stderr}")
        return Web(f"http://{self.web.host}", json.loads(done.stdout)["token"])

    @contextmanager
    def attached(self, size: tuple[int, int] = (COLUMNS, LINES)) -> Iterator[Pane]:
        """`tidings attach` in a terminal of its own."""
        program = [str(self.place.programs.tidings), "attach", self.terminal.record["id"]]
        pane = Pane(self.place, self.api.url, program, environment(self.place), size=size)
        try:
            yield pane
        finally:
            pane.close()


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    place = Place.make(programs, root, NAME)
    script = place.root / "script.toml"
    script.write_text(place.fill(SCRIPT.read_text()).replace("@ROOT@", str(place.root)))
    cases = CASES + LONG_CASES * bool(os.environ.get("LONG")) + OLD_CASES * bool(programs.old)
    with Api(programs, script, place.root / "api.ndjson") as api, SteeredRun(place, api) as run:
        run.serve()
        for case in cases:
            run.play(case)
        problems = run.problems
    return problems, f"{len(cases)} cases: {'FAILED' if problems else 'ok'}"


def _accepted(answer: tuple[int, dict[str, Any]]) -> list[str]:
    return [] if answer[0] in (200, 202) else [f"the prompt got {answer[0]} {answer[1]}"]


def _typed_when_idle(run: SteeredRun) -> list[str]:
    """A prompt of several lines, with control characters and an end mark of a paste inside."""
    # It is listed together with its terminal.
    row = run.row()
    wanted = {"prompt", "interrupt", "terminal"}
    problems = [] if wanted <= set(row["capabilities"]) else [f"only {row['capabilities']}"]
    problems += _accepted(run.send("a first \x1b[201~\x03line\r\n\tand \x07another\nplease [greet]"))
    run.turn("a first line\n    and another\nplease [greet]")
    run.wait(lambda: not run.queued(), "an empty queue")
    return problems + run.differences()


def _asked_once(run: SteeredRun) -> list[str]:
    """The hooks come with `--settings`; those that are installed too report nothing a second time."""
    before = run.counted()
    problems = _accepted(run.send("please [count]"))
    item, = run.asked()
    status, body = run.decide(item, "allow")
    problems += [] if status == 200 else [f"the answer got {status} {body}"]
    run.turn("please [count]")
    shown = [event for event in run.history(run.row()["key"]) if "PermissionDetails" in event]
    problems += [] if len(shown) == 1 else [f"{len(shown)} requests"]
    return problems + ([] if run.counted() == before + 1 else ["it did not run once"]) + run.differences()


def _typed_when_busy(run: SteeredRun) -> list[str]:
    """The CLI has a queue of its own for prompts that come during a turn."""
    run.say("please [slow]")
    run.terminal.wait_status("busy")
    problems = _accepted(run.send("meanwhile, please [greet]"))
    run.said_to_model("meanwhile, please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("meanwhile")[2])
    run.idle()
    run.wait(lambda: not run.queued(), "an empty queue")
    said = [event["UserPrompt"]["text"] for event in run.history(run.row()["key"]) if "UserPrompt" in event]
    if said.count("meanwhile, please [greet]") != 1:
        problems.append(f"the prompts are {said}")
    run.prompts = said
    return problems


def _waits_for_a_dialog(run: SteeredRun) -> list[str]:
    before = run.counted()
    run.say("please [count]")
    run.asked()
    run.terminal.wait_screen(DIALOG)
    problems = _accepted(run.send("afterwards, please [greet]"))
    item, = run.wait(run.queued, "the prompt in the queue")
    problems += run.unchanged(lambda screen: DIALOG in screen and "afterwards" not in screen)
    problems += [] if item["state"] == "waiting" else [f"the prompt is {item}"]
    run.terminal.answer("Enter", DIALOG)
    run.said_to_model("afterwards, please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("afterwards")[2])
    run.idle()
    run.wait(lambda: not run.queued(), "an empty queue")
    return problems + ([] if run.counted() == before + 1 else ["the command did not run once"])


def _waits_for_a_draft(run: SteeredRun) -> list[str]:
    run.terminal.type("a draft")
    run.terminal.wait_screen("❯.a draft")
    problems = _accepted(run.send("after the draft, please [greet]"))
    run.wait(run.queued, "the prompt in the queue")
    problems += run.unchanged(lambda screen: "after the draft" not in screen)
    for _ in "a draft":
        run.terminal.keys("BSpace")
    run.said_to_model("after the draft, please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("after the draft")[2])
    run.idle()
    return problems


def _prefixes(run: SteeredRun) -> list[str]:
    """The first visible character decides what the CLI takes a text for."""
    run.row()
    prompts, always = run.device("prompts", "read", "prompt"), run.device("always", "read", "prompt", "decide", "always")
    made = run.place.project / "made.txt"
    problems = []
    for web, text, status in (
        (prompts, "!touch made.txt", 403), (prompts, " \u200b\x1b[201~!touch made.txt", 403), (always, "!touch made.txt", 403),
        (prompts, "/clear", 403), (prompts, "#note", 403), (prompts, "& later", 403), (prompts, "\x1b\x07", 400),
    ):
        got, body = run.send(text, web)
        if got != status:
            problems.append(f"{text!r} got {got} {body}")
    if run.queued() or made.exists():
        problems.append(f"something was queued: {run.queued()}")
    problems += _accepted(run.send("!touch made.txt"))
    run.wait(made.exists, "the file of the shell command")
    run.idle()
    problems += _accepted(run.send("/context", prompts))
    run.terminal.wait_screen("Context usage")
    run.wait(lambda: not run.queued(), "an empty queue")
    problems += _accepted(run.send("after the commands, please [greet]", prompts))
    run.said_to_model("after the commands, please [greet]")
    said = [event["UserPrompt"]["text"] for event in run.history(run.row()["key"]) if "UserPrompt" in event]
    if sum("touch made.txt" in text for text in said) != 1 or said.count("/context") != 1:
        problems.append(f"the prompts are {said}")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("after the commands")[2])
    run.idle()
    return problems


def _r6_screens(run: SteeredRun) -> list[str]:
    """Commands that open a screen: it is closed, and prompts and interrupts reach the session afterwards."""
    problems = []
    for command in ("/usage", "/status", "/help", "/config"):
        problems += _accepted(run.send(command))
        run.wait(lambda: run.terminal.status_file().get("status") == "waiting", f"the screen of {command}")
        run.terminal.wait_status("idle")
        run.wait(lambda: not run.queued(), "an empty queue")
    problems += _accepted(run.send("after the screens, please [slow]"))
    run.terminal.wait_status("busy")
    run.terminal.wait_screen("esc to interrupt")
    status, body = run.web.call("POST", f"/v1/sessions/{run.row()['key']}/interrupt", {})
    problems += [] if status in (200, 202) else [f"the interrupt got {status} {body}"]
    run.idle()
    run.terminal.keys("C-u")
    return problems


def _interrupted(run: SteeredRun) -> list[str]:
    path = f"/v1/sessions/{run.row()['key']}/interrupt"
    status, body = run.web.call("POST", path, {})
    problems = [] if status == 409 else [f"while idle: {status} {body}"]
    run.say("once more, please [slow]")
    run.terminal.wait_status("busy")
    run.terminal.wait_screen("esc to interrupt")
    status, body = run.web.call("POST", path, {})
    problems += [] if status in (200, 202) else [f"while busy: {status} {body}"]
    # The CLI puts a prompt without an answer back into the input line.
    run.terminal.wait_screen(lambda screen: "Interrupted" in screen or "❯ once more" in screen.replace("\xa0", " "))
    run.idle()
    run.terminal.keys("C-u")
    return problems


def _seen_from_the_page(run: SteeredRun) -> list[str]:
    """The terminal over a WebSocket: looking needs `read`, keys need `admin`."""
    key = run.row()["key"]
    looker, keys = run.device("looker", "read").terminal(key), run.web.terminal(key)
    problems = []
    for socket, has_keys in ((looker, False), (keys, True)):
        first = socket.next()
        if first != {"type": "ready", "rows": LINES, "cols": COLUMNS, "keys": has_keys}:
            problems.append(f"the first message is {first}")
        if not isinstance(screen := socket.next(), bytes) or "❯".encode() not in screen:
            problems.append(f"the second message is {screen!r}")
    looker.press(b"x")
    refusal = looker.hear()
    problems += [] if (refusal["type"], refusal["code"]) == ("error", "forbidden") else [f"keys without `admin`: {refusal}"]
    keys.press(b"x" * (KEYS_BYTES_MAX + 1))
    refusal = keys.hear()
    problems += [] if refusal["code"] == "too_large" else [f"too many keys: {refusal}"]
    keys.press(b"from the page")
    run.terminal.wait_screen("❯.from the page")
    _seen(looker, b"page")
    keys.say({"type": "resize", "rows": SMALL[1], "cols": SMALL[0]})
    size = keys.hear()
    problems += [] if size == {"type": "size", "rows": SMALL[1], "cols": SMALL[0]} else [f"the size: {size}"]
    for _ in "from the page":
        keys.press(b"\x7f")
    # Keys that are still on their way are lost with the connection.
    run.terminal.wait_screen(lambda screen: "from the page" not in screen)
    keys.cut()
    looker.cut()
    return problems


def _seen(socket: Socket, text: bytes) -> None:
    """Waits for a text in the output."""
    shown = b""
    while text not in shown:
        message = socket.next()
        shown += message if isinstance(message, bytes) else b""


def _detached_and_attached(run: SteeredRun) -> list[str]:
    """Closing the window leaves the CLI running; two other terminals show the same screen."""
    run.say("before leaving, please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("before leaving")[2])
    run.idle()
    before = run.terminal.screen()
    pane_pid = run.terminal.pane_pid
    run.terminal.detach()
    run.wait(lambda: not Path(f"/proc/{pane_pid}").exists(), "the end of the viewer")
    problems = [] if run.terminal.is_running() else ["the CLI ended with its window"]
    with run.attached() as first:
        same = _last_turn(before)
        first.wait_screen(lambda screen: _last_turn(screen) == same)
        with run.attached(SMALL) as second:
            second.wait_screen("before leaving")
            first.type("two viewers")
            for pane in (first, second):
                pane.wait_screen("❯.two viewers")
            wide = max(map(len, first.screen().splitlines()))
            # Earlier versions have no screen of their own: lines that were drawn before keep their width.
            if wide > SMALL[0] and not OTHER_CLAUDE:
                problems.append(f"the larger terminal shows {wide} columns")
        # The second one is gone, so the first one has its whole width again.
        first.wait_screen(lambda screen: max(map(len, screen.splitlines())) > SMALL[0])
        first.resize(100, 40)
        first.wait_screen(lambda screen: "─" * 100 in screen and "─" * 101 not in screen)
        first.keys(*["BSpace"] * len("two viewers"))
        first.wait_screen(lambda screen: "two viewers" not in screen)
        # Ctrl-\ detaches.
        first.keys("C-\\")
        run.wait(lambda: "Detached" in first.everything(), "the message about detaching")
    problems += [] if run.terminal.is_running() else ["the CLI ended with the second window"]
    problems += _accepted(run.send("without a viewer, please [greet]"))
    run.said_to_model("without a viewer, please [greet]")
    return problems


def _last_turn(screen: str) -> list[str]:
    """The last turn on a screen. Hints and notices change with time, and lines before it scroll out of sight for them."""
    lines = screen.rpartition("before leaving")[2].splitlines()
    return [line.strip() for line in lines if line.strip().startswith(("❯", "●"))]


def _killed_server(run: SteeredRun) -> list[str]:
    """The terminal goes on without the server, and the next one types into it."""
    run.kill()
    run.terminal.wait_status("idle")
    run.serve()
    row = run.row()
    problems = [] if "terminal" in row["capabilities"] else [f"only {row['capabilities']}"]
    problems += _accepted(run.send("after the restart, please [greet]"))
    run.said_to_model("after the restart, please [greet]")
    return problems


def _tmux_pane(run: SteeredRun) -> list[str]:
    """A plain `claude` in tmux: prompts are typed into its pane if the server may."""
    run.leave()
    with run.another(*MANUAL) as terminal:
        refused = run.web.call("POST", f"/v1/sessions/{run.row(terminal)['key']}/input", {"content": "please [greet]"})
        problems = [] if refused[0] == 409 else [f"without the flag: {refused}"]
    run.kill()
    run.serve(0, "--type-into", "tmux")
    with run.another(*MANUAL) as terminal:
        path = f"/v1/sessions/{run.row(terminal)['key']}/input"
        run.wait(lambda: "prompt" in run.row(terminal)["capabilities"], "the pane")
        terminal.type("a draft")
        terminal.wait_screen("❯.a draft")
        problems += _accepted(run.web.call("POST", path, {"content": "first line\n\x1b[201~please [greet]"}))
        problems += run.unchanged(lambda screen: "please" not in screen, terminal)
        terminal.keys(*["BSpace"] * len("a draft"))
        terminal.wait_screen(lambda screen: DONE in screen.rpartition("please [greet]")[2])
        status, body = run.device("prompts only", "read", "prompt").call("POST", path, {"content": "!touch pane.txt"})
        problems += [] if status == 403 else [f"a shell command without `admin` got {status} {body}"]
        problems += _accepted(run.web.call("POST", path, {"content": "!touch pane.txt"}))
        run.wait((run.place.project / "pane.txt").exists, "the file of the shell command")
        prompts = [entry["message"]["content"] for entry in terminal.entries() if entry["type"] == "user"]
    return problems + ([] if "first line\nplease [greet]" in prompts else [f"the prompts are {prompts}"])


def _messages(run: SteeredRun) -> list[str]:
    """A plain `claude`: prompts are messages of another session if the server may send them."""
    run.leave()
    run.kill()
    run.serve(0, "--type-into", "messages")
    with run.another(*MANUAL) as terminal:
        row = run.row(terminal)
        if OTHER_CLAUDE:
            # Earlier versions have no such socket.
            return [] if "prompt" not in row["capabilities"] else [f"the capabilities are {row['capabilities']}"]
        path = f"/v1/sessions/{row['key']}"
        problems = [] if {"prompt", "interrupt"} & set(row["capabilities"]) == {"prompt"} else [f"it can {row['capabilities']}"]
        problems += [] if "another Claude session" in row["limited"] else [f"it says {row['limited']!r}"]
        prompts = run.device("for messages", "read", "prompt")
        for text in ("!touch sent.txt", "/clear", "#note"):
            status, body = prompts.call("POST", f"{path}/input", {"content": text})
            problems += [] if status == 403 else [f"{text!r} got {status} {body}"]
        # A draft is not touched.
        terminal.type("a draft")
        terminal.wait_screen("❯.a draft")
        problems += _accepted(prompts.call("POST", f"{path}/input", {"content": "first line\n\x1b[201~please [greet]"}))
        terminal.wait_screen(lambda screen: DONE in screen.rpartition("another Claude session")[2])
        terminal.wait_status("idle")
        problems += [] if "a draft" in terminal.screen() else [f"the draft is gone:\n{terminal.screen()}"]
        terminal.keys(*["BSpace"] * len("a draft"))
        run.wait(lambda: not run.web.call("GET", f"{path}/queue")[1]["items"], "an empty queue")
        said = [event["UserPrompt"]["text"] for event in run.history(row["key"]) if "UserPrompt" in event]
        if said != ["first line\nplease [greet]"]:
            problems.append(f"the prompts are {said}")
        # A message does not answer a dialog: it waits.
        terminal.say("please [count]")
        terminal.wait_screen(DIALOG)
        problems += _accepted(run.web.call("POST", f"{path}/input", {"content": "later, please [greet]"}))
        problems += run.unchanged(lambda screen: DIALOG in screen, terminal)
        terminal.answer("Enter", DIALOG)
        terminal.wait_screen(lambda screen: DONE in screen.rpartition("later, please")[2])
        run.wait(lambda: not run.web.call("GET", f"{path}/queue")[1]["items"], "an empty queue")
        status, body = run.web.call("POST", f"{path}/interrupt", {})
        problems += [] if status == 409 else [f"an interrupt got {status} {body}"]
        said = [event["UserPrompt"]["text"] for event in run.history(row["key"]) if "UserPrompt" in event]
        if sorted(said) != ["first line\nplease [greet]", "later, please [greet]", "please [count]"]:
            problems.append(f"the prompts are {said}")
    return problems


def _killed_host(run: SteeredRun) -> list[str]:
    """Without its host the terminal is gone, and so is the CLI."""
    run.leave()
    terminal = run.terminal
    run.row()
    os.kill(terminal.record["host_pid"], signal.SIGKILL)
    run.wait(lambda: "has ended" in terminal.everything(), "the message about the end")
    run.wait(lambda: not terminal.is_running(), "the end of the CLI")
    run.wait(lambda: run.row(terminal)["state"] == "stopped", "the end of the session")
    run.leave()
    return []


def _of_an_earlier_version(run: SteeredRun) -> list[str]:
    """The terminal of an earlier version, with a server and an `attach` of this one."""
    run.leave()
    program = [str(run.place.programs.old), "claude"]
    run._terminal = HostedTerminal(run.place, run.api.url, MANUAL, program)
    run.prompts = []
    problems = [case for check in (_typed_when_idle, _detached_and_attached) for case in check(run)]
    run.leave()
    run.wait(lambda: not any((run.place.root / "data" / "terminals").iterdir()), "the end of the host")
    return problems


def _killed_cli(run: SteeredRun) -> list[str]:
    """The exit code is that of a killed program, and nothing is left."""
    terminal = run.terminal
    run.row()
    terminal.kill()
    run.wait(lambda: not Path(f"/proc/{terminal.record['host_pid']}").exists(), "the end of the host")
    status = run.wait(terminal.exit_status, "the end of the viewer")
    problems = [] if status == "137" else [f"the exit status is {status}"]
    left = [path.name for path in (run.place.root / "data" / "hosts").iterdir()]
    # The record of the host that was killed before is removed by the next one.
    problems += [f"files are left: {left}"] if left else []
    run.leave()
    return problems


CASES: list[Callable[[SteeredRun], list[str]]] = [
    _typed_when_idle,
    _asked_once,
    _typed_when_busy,
    _waits_for_a_dialog,
    _waits_for_a_draft,
    _prefixes,
    _r6_screens,
    _seen_from_the_page,
    _detached_and_attached,
    _killed_host,
]

OLD_CASES: list[Callable[[SteeredRun], list[str]]] = [_of_an_earlier_version]

LONG_CASES: list[Callable[[SteeredRun], list[str]]] = [
    _interrupted,
    _killed_server,
    _killed_cli,
    _tmux_pane,
    _messages,
]
