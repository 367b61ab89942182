"""The conversation of `tidings run` and `tidings attach` in tmux, with the real CLI.

Each width is seen with and without colour: once with everything that can be typed, once with a short conversation.
"""

from __future__ import annotations

import base64
import concurrent.futures
import json
import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lib.api import Api
from lib.cli import E2E, Place, Programs
from lib.serve import Server
from lib.terminal import Pane

SCRIPT = E2E / "run_command" / "console.toml"
# One pixel.
DOT = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
LINES = 45
ALLOWED = "Bash(sh wait.sh:*)"
WAIT = "while [ ! -e go-$1 ]; do sleep 0.05; done\necho went $1\n"
# Lines under the prompt: the model, the mode, the context and the cost.
STATUS = r"claude-\S+ · mode default ·\s+\S+\s+context\s+\(\d+\s+%\)\s+·\s+\$"
CODES = re.compile(r"\x1b\[[0-9;]*m")


class Talk:
    """A conversation in a terminal."""

    def __init__(self, place: Place, api: Api, pane: Pane) -> None:
        self.place, self.api, self.pane = place, api, pane

    def say(self, text: str, answer: str) -> None:
        """Types a prompt, and waits for the answer and the next input line."""
        self.pane.type(text)
        self.pane.wait_screen(lambda screen: text[-20:] in screen.rpartition("›")[2].replace("\n  ", ""))
        self.pane.keys("Enter")
        self.answered(answer)

    def answered(self, answer: str) -> None:
        """Waits for an answer after the last prompt, and for an idle input line."""
        self.pane.wait_screen(lambda screen: answer in screen and "Ctrl-C interrupts" not in screen and is_idle(screen))

    def go(self, number: int) -> None:
        """Lets a command of the agent end."""
        (self.place.project / f"go-{number}").touch()


def is_idle(screen: str) -> bool:
    """True if the input line is empty, and no turn runs."""
    return bool(re.search(r"^›\s*$\n^\? keys", screen, re.MULTILINE))


def problems_of(programs: Programs, root: Path) -> list[str]:
    """Returns the problems."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tasks = {name: pool.submit(check, programs, root, name) for name, check in CHECKS.items()}
    problems = []
    for name, task in tasks.items():
        try:
            problems += [f"{name}: {problem}" for problem in task.result()]
        except RuntimeError as error:
            problems.append(f"{name}: {error}")
    return problems


def _run_at(columns: int, colour: bool, play: Callable[[Talk], list[str]]) -> Callable[[Programs, Path, str], list[str]]:
    def check(programs: Programs, root: Path, name: str) -> list[str]:
        place = _place(programs, root, name)
        with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
            command = [str(programs.tidings), "run", "--claude-path", str(programs.claude), "--allowed-tools", ALLOWED]
            with Pane(place, api.url, command, _env(place, colour), size=(columns, LINES)) as pane:
                talk = Talk(place, api, pane)
                pane.wait_screen(is_idle)
                problems = play(talk) + _colours(pane, colour)
        return problems

    return check


def _attach_at(columns: int, colour: bool, remote: bool) -> Callable[[Programs, Path, str], list[str]]:
    def check(programs: Programs, root: Path, name: str) -> list[str]:
        place = _place(programs, root, name)
        api = Api(programs, SCRIPT, place.root / "api.ndjson")
        with api, Server(place, api.url) as server:
            new = {"cwd": str(place.project), "allowed_tools": [ALLOWED]}
            status, made = server.web.call("POST", "/v1/sessions", new)
            if status not in (200, 201):
                return [f"no session: {made}"]
            web, env = server.web, _env(place, colour)
            where = ["--server", f"http://{web.host}"] if remote else ["--data", str(place.root / "data")]
            env |= {"TIDINGS_TOKEN": web.token} if remote else {}
            with Pane(place, api.url, [str(programs.tidings), "attach", *where], env, size=(columns, LINES)) as pane:
                talk = Talk(place, api, pane)
                # No session was named: a list is shown, and Enter chooses.
                pane.wait_screen("Sessions of the server")
                pane.keys("Enter")
                pane.wait_screen(is_idle)
                problems = _attached(talk) + _colours(pane, colour)
            problems += server.close()
        return problems

    return check


def _everything(talk: Talk) -> list[str]:
    """Everything that can be typed, in one conversation."""
    pane = talk.pane
    problems = _short(talk)
    pane.paste("alpha\nbeta\ngamma")
    pane.wait_screen(r"› alpha\n  beta\n  gamma")
    pane.keys("Enter")
    talk.answered("Got three lines.")
    pane.type("alpha")
    pane.keys("M-Enter")
    pane.type("beta")
    pane.keys("C-j")
    pane.type("gamma")
    pane.keys("Enter")
    pane.wait_screen(lambda screen: screen.count("Got three lines.") == 2 and is_idle(screen))
    # The history, and Ctrl-C that clears the line.
    pane.keys("Up")
    pane.wait_screen(lambda screen: re.search(r"› alpha\n  beta\n  gamma\nclaude", screen))
    pane.keys("C-c")
    pane.wait_screen(is_idle)
    # The user's own editor.
    pane.type("before ")
    pane.keys("C-g")
    pane.wait_screen("› before from the editor")
    pane.keys("Enter")
    talk.answered("Got the edited text.")
    # A dragged image, and one of the clipboard.
    pane.paste(str(talk.place.root / "dot one.png").replace(" ", "\\ "))
    pane.wait_screen(r"› \[image 1: dot one.png\]")
    pane.keys("C-v")
    pane.wait_screen(r"\[image 2\]")
    talk.say("what is this", "Got two images.")
    if talk.api.log.read_text().count('"image"') < 2:
        problems.append("the model did not receive the images")
    problems += _steered(talk)
    # A request that comes while a prompt is typed gets no key of it.
    pane.type("please [long 3]")
    pane.keys("Enter")
    pane.wait_screen("Bash.*wait.sh 3")
    pane.type("yes no")
    talk.go(3)
    pane.wait_screen(r"\[Esc\] answer the request first")
    pane.type(" always")
    pane.wait_screen("› yes no always")
    if (talk.place.project / "note.txt").exists():
        problems.append("typed text has decided a request")
    pane.keys("Escape")
    pane.wait_screen(lambda screen: "[n] no" in screen and "[Esc]" not in screen)
    pane.keys("y")
    pane.wait_screen(lambda screen: "It is noted." in screen and "› yes no always" in screen)
    pane.keys("C-c")
    pane.wait_screen(is_idle)
    # Ctrl-C interrupts the turn, and then leaves.
    pane.type("please [long 4]")
    pane.keys("Enter")
    pane.wait_screen("Bash.*wait.sh 4")
    pane.keys("C-c")
    pane.wait_screen(lambda screen: "interrupted" in screen and is_idle(screen))
    pane.keys("C-c")
    pane.wait_screen("press Ctrl-C again to leave")
    pane.keys("C-c")
    if pane.wait(pane.exit_status, "the end") != "130":
        problems.append(f"it ended with {pane.exit_status()}")
    return problems


def _steered(talk: Talk) -> list[str]:
    """Steering: the prompt becomes part of the turn that runs."""
    pane = talk.pane
    pane.type("please [long 2]")
    pane.keys("Enter")
    pane.wait_screen("Bash.*wait.sh 2")
    pane.type("be brief")
    pane.wait_screen("Enter queues · Ctrl-S steers")
    pane.keys("C-s")
    pane.wait_screen(r"(?m)^› be brief$(.|\n)*^›$")
    talk.go(2)
    talk.answered("Briefly then.")
    is_late = "At length." in pane.everything().rpartition("be brief")[2]
    return ["the prompt did not steer the turn"] if is_late else []


def _short(talk: Talk) -> list[str]:
    """Completion, the status line, keys and a queued prompt."""
    pane = talk.pane
    problems: list[str] = []
    pane.type("/comp")
    pane.wait_screen(r"› /comp\n +/compact")
    pane.keys("C-c")
    pane.type("see @REA")
    pane.wait_screen(r"› see @REA\n +@README.md")
    pane.keys("Tab")
    pane.wait_screen(r"› see @README.md")
    pane.keys("Enter")
    talk.answered("Got the file.")
    pane.wait_screen(lambda screen: re.search(STATUS, screen.replace("\n", " ")))
    pane.type("?")
    pane.wait_screen(lambda screen: "Ctrl-G" in screen and "$EDITOR" in screen and is_idle(screen))
    pane.type("please [long 1]")
    pane.keys("Enter")
    pane.wait_screen("Bash.*wait.sh 1")
    pane.type("queued words")
    pane.keys("Enter")
    pane.wait_screen(r"⋯ queued: queued words")
    talk.go(1)
    talk.answered("Got the queued one.")
    order = pane.everything()
    if not order.index("At length.") < order.rindex("Got the queued one."):
        problems.append("the queued prompt did not wait for the turn")
    if "⋯ queued" in pane.screen():
        problems.append("the queued prompt is still shown")
    return problems


def _left(talk: Talk) -> list[str]:
    """The short conversation, left with Ctrl-D."""
    problems = _short(talk)
    talk.pane.keys("C-d")
    status = talk.pane.wait(talk.pane.exit_status, "the end")
    if not re.search(r"tidings run --resume [0-9a-f]{8}$", talk.pane.everything(), re.MULTILINE):
        problems.append("the hint how to resume is missing")
    return problems + ([] if status == "0" else [f"it ended with {status}"])


def _resumed(talk: Talk) -> list[str]:
    """The same, continued in the CLI's own terminal."""
    problems = _left(talk)
    # The session is chosen from the list, with its last lines as a preview.
    command = [str(talk.place.programs.tidings), "resume", "--claude-path", str(talk.place.programs.claude)]
    with Pane(talk.place, talk.api.url, command, _env(talk.place, True), size=(100, LINES)) as pane:
        pane.wait_screen(r"▸ [0-9a-f]{8}  (.|\n)*Got the queued one\.")
        pane.type("demo")
        pane.wait_screen("› demo  1 of 1")
        pane.keys("Enter")
        pane.wait_screen(lambda screen: "Got the queued one." in screen and "❯" in screen)
    # The CLI outlives its window, and must not outlive the tests.
    for record in (talk.place.home / ".local/share/tidings/hosts").glob("*/host.json"):
        with suppress(OSError, ValueError, KeyError):
            os.kill(json.loads(record.read_text())["terminal"]["host_pid"], signal.SIGTERM)
    return problems


def _attached(talk: Talk) -> list[str]:
    """Typing, deciding and interrupting in a session of the server."""
    pane = talk.pane
    talk.say("hello", "Got something else.")
    problems = _short(talk) + _steered(talk)
    pane.paste(f"'{talk.place.root}/dot one.png'")
    pane.wait_screen(r"› \[image 1: dot one.png\]")
    talk.say("what is this", "Got two images.")
    if '"image"' not in talk.api.log.read_text():
        problems.append("the model did not receive the image")
    talk.go(3)
    pane.type("please [long 3]")
    pane.keys("Enter")
    pane.wait_screen(r"\[n\] no")
    pane.keys("y")
    talk.answered("It is noted.")
    if not (talk.place.project / "note.txt").exists():
        problems.append("the command did not run")
    pane.type("please [long 4]")
    pane.keys("Enter")
    pane.wait_screen("Bash.*wait.sh 4")
    pane.keys("C-c")
    pane.wait_screen(lambda screen: "interrupted; press Ctrl-C again to detach" in screen and is_idle(screen))
    pane.keys("C-d")
    status = pane.wait(pane.exit_status, "the end")
    return problems + ([] if status == "0" else [f"it ended with {status}"])


def _suspended(programs: Programs, root: Path, name: str) -> list[str]:
    """Ctrl-Z returns to the shell, and `fg` to the conversation."""
    place = _place(programs, root, name)
    with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
        run = f"{programs.tidings} run --claude-path {programs.claude}; stty -a | tr ' ' '\n' | grep icanon; fg"
        with Pane(place, api.url, ["bash", "--norc", "-ic", run], _env(place, True), size=(80, LINES)) as pane:
            talk = Talk(place, api, pane)
            pane.wait_screen(is_idle)
            pane.type("half")
            pane.wait_screen("› half")
            pane.keys("C-z")
            pane.wait_screen(lambda screen: re.search(r"^icanon$", screen, re.MULTILINE) and "› half" in screen)
            talk.say(" a prompt", "Got something else.")
            pane.keys("C-d")
            status = pane.wait(pane.exit_status, "the end")
    return [] if status == "0" else [f"it ended with {status}"]


CHECKS = {
    "60-colour": _run_at(60, True, _everything),
    "60-plain": _run_at(60, False, _left),
    "80-colour": _run_at(80, True, _resumed),
    "80-plain": _run_at(80, False, _everything),
    "200-colour": _run_at(200, True, _everything),
    "200-plain": _run_at(200, False, _left),
    "attach-60-colour": _attach_at(60, True, remote=False),
    "attach-200-plain": _attach_at(200, False, remote=True),
    "suspended": _suspended,
}


def _place(programs: Programs, root: Path, name: str) -> Place:
    place = Place.make(programs, root, f"run-console-{name}")
    (place.project / "wait.sh").write_text(WAIT)
    (place.root / "dot one.png").write_bytes(DOT)
    tools = place.root / "bin"
    tools.mkdir()
    for tool, text in {
        "wl-paste": f'#!/bin/sh\ncat "{place.root}/dot one.png"\n',
        "my-editor": '#!/bin/sh\nprintf "%sfrom the editor\\n" "$(cat "$2")  " | tr -s " " > "$2.new" && mv "$2.new" "$2"\n',
    }.items():
        (tools / tool).write_text(text)
        (tools / tool).chmod(0o755)
    place.hand_over()
    return place


def _env(place: Place, colour: bool) -> dict[str, str]:
    tools = place.root / "bin"
    env = {"TERM": "screen-256color", "EDITOR": f"{tools}/my-editor --wait", "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"}
    return env if colour else env | {"NO_COLOR": "1"}


def _colours(pane: Pane, colour: bool) -> list[str]:
    has = bool(CODES.search(pane.coloured()))
    return [] if has == colour else [f"colours are {'shown' if has else 'missing'}"]
