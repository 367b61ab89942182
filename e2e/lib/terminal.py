"""The real CLI in a terminal, as a person runs it: a pane of tmux with simulated keys."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from .cli import OTHER_CLAUDE, Place

# Waits end as soon as their condition holds; the limit is for a slow machine.
SECONDS_MAX = 30
POLL_SECONDS, POLL_SECONDS_MAX = 0.03, 0.1
COMMAND_SECONDS_MAX = 10
# Longer than a dialog takes to close, so that no key is pressed twice.
AGAIN_SECONDS = 0.5
COLUMNS, LINES = 120, 50
SETTINGS = """
set -g remain-on-exit on
set -g status off
set -g focus-events on
set -g default-terminal screen-256color
"""


def poll_seconds(began: float) -> float:
    """Pause before the next look of a wait that began at this time. Each look starts a process: later ones are rarer."""
    return min(POLL_SECONDS + (time.monotonic() - began) / 10, POLL_SECONDS_MAX)


class Pane:
    """A program in its own tmux server, with the environment of a place and nothing else.

    It runs as the user that runs the place's other programs.
    """

    def __init__(
        self, place: Place, base_url: str, program: list[str], env: dict[str, str] | None = None,
        cwd: Path | None = None, size: tuple[int, int] = (COLUMNS, LINES),
    ) -> None:
        self.place = place
        self.cwd = cwd or place.project
        number = len(list(place.root.glob("tmux-*.conf")))
        # A socket of its own: the folder of the machine's tmux servers is left alone.
        self._socket = place.root / f"tmux-{number}"
        self._env = place.env(base_url, {"LANG": "C.UTF-8"} | (env or {}))
        settings = place.root / f"tmux-{number}.conf"
        settings.write_text(SETTINGS)
        skip_first_dialogs(place, self.cwd)
        self.began = time.monotonic()
        columns, lines = size
        self._tmux(
            "-f", str(settings), "new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(self.cwd), *program,
        )

    @property
    def pane_pid(self) -> int:
        """The process that tmux has started."""
        return int(self._tmux("display-message", "-p", "#{pane_pid}"))

    def screen(self) -> str:
        """The visible text."""
        return self._tmux("capture-pane", "-p").rstrip()

    def everything(self) -> str:
        """The text with the lines above, which the end of the program moves up."""
        return self._tmux("capture-pane", "-p", "-S", "-").rstrip()

    def exit_status(self) -> str:
        """The exit status of the program; empty while it runs."""
        dead, _, status = self._tmux("display-message", "-p", "#{pane_dead} #{pane_dead_status}").strip().partition(" ")
        if dead == "1" and not status:
            # tmux sometimes misses the signal about the end; that of another child makes it look again.
            self._tmux("run-shell", "true")
        return status

    def coloured(self) -> str:
        """The same with the codes of its colours."""
        return self._tmux("capture-pane", "-p", "-e").rstrip()

    def keys(self, *names: str) -> None:
        """Presses keys by tmux's names: `Enter`, `Escape`, `Down`, `C-c`, `1`."""
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        """Types text, character by character."""
        self._tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        """Pastes text as one piece, line breaks included (bracketed paste)."""
        self._tmux("load-buffer", "-", given=text)
        self._tmux("paste-buffer", "-p", "-d")

    def answer(self, key: str, dialog: str) -> None:
        """Presses a key until the dialog that matches a regular expression is gone.

        The CLI ignores keys during the first moment of a dialog.
        """
        pressed = -AGAIN_SECONDS

        def is_gone() -> bool:
            nonlocal pressed
            if not re.search(dialog, self.screen()):
                return True
            if time.monotonic() - pressed >= AGAIN_SECONDS:
                self.keys(key)
                pressed = time.monotonic()
            return False

        self.wait(is_gone, f"the end of the dialog `{dialog}`")

    def wait_screen(self, wanted: str | Callable[[str], bool], seconds_max: float = SECONDS_MAX) -> str:
        """Waits until the screen matches a regular expression or fulfils a condition; returns it."""
        fits = wanted if callable(wanted) else re.compile(wanted).search
        seen = ""

        def look() -> str | None:
            nonlocal seen
            seen = self.screen()
            return seen if fits(seen) else None

        what = f"`{wanted}` on the screen" if isinstance(wanted, str) else "the wanted screen"
        return self.wait(look, what, seconds_max)

    def wait(self, look: Callable[[], Any], what: str, seconds_max: float = SECONDS_MAX) -> Any:
        """Waits until `look` returns something; the error contains the screen."""
        began = time.monotonic()
        while not (found := look()):
            if time.monotonic() > began + seconds_max:
                raise RuntimeError(f"{what} did not come within {seconds_max:g} s; the screen:\n{self.screen()}")
            time.sleep(poll_seconds(began))
        return found

    def close(self) -> None:
        """Closes the terminal."""
        subprocess.run(
            ["tmux", "-S", str(self._socket), "kill-server"], env=self._env, capture_output=True, check=False,
            timeout=COMMAND_SECONDS_MAX, **self.place.programs.as_user(),
        )

    def resize(self, columns: int, lines: int) -> None:
        """Changes the size of the terminal."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tmux(self, *args: str, given: str | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self._socket), *args], env=self._env, cwd=self.place.root, input=given,
            stdin=subprocess.DEVNULL if given is None else None, capture_output=True, text=True, check=False,
            timeout=COMMAND_SECONDS_MAX, **self.place.programs.as_user(),
        )
        if done.returncode != 0:
            raise RuntimeError(f"tmux {args[0]}: {done.stderr.strip()}")
        return done.stdout


class Terminal(Pane):
    """One interactive CLI, killed when it is closed. A `program` may be given that replaces itself with the CLI."""

    def __init__(
        self, place: Place, base_url: str, args: list[str] | None = None, env: dict[str, str] | None = None,
        cwd: Path | None = None, program: list[str] | None = None,
    ) -> None:
        super().__init__(place, base_url, [*(program or [str(place.programs.claude)]), *(args or [])], env, cwd)
        try:
            self.pid = self._find_cli()
            self.session_id: str = self.wait(lambda: self.status_file().get("sessionId"), "its session file")
            # The input line is there a moment later than the file.
            self.wait_status("idle")
            self.wait_screen("❯")
        except BaseException:
            self.close()
            raise

    def _find_cli(self) -> int:
        return self.pane_pid

    def say(self, prompt: str) -> None:
        """Sends a prompt: pastes it, waits until it is in the input line, and presses Enter."""
        self.paste(prompt)
        last = prompt.splitlines()[-1]
        self.wait_screen(lambda screen: last in screen.rpartition("❯")[2])
        self.keys("Enter")
        # 2.1.197 takes no Enter right after its first paste.
        until = time.monotonic() + AGAIN_SECONDS
        while OTHER_CLAUDE and last in self.screen().rpartition("❯")[2]:
            if time.monotonic() > until:
                return self.keys("Enter")
            time.sleep(POLL_SECONDS)

    def wait_status(self, status: str, seconds_max: float = SECONDS_MAX) -> dict[str, Any]:
        """Waits for the CLI's own status (`idle`, `busy`, `waiting`); returns its session file."""
        def look() -> dict[str, Any] | None:
            return found if (found := self.status_file()).get("status") == status else None

        return self.wait(look, f"the status `{status}`", seconds_max)

    def status_file(self) -> dict[str, Any]:
        """The file in which the CLI describes its session; empty if it is not there."""
        try:
            return json.loads((self.place.config / "sessions" / f"{self.pid}.json").read_text())
        except (OSError, ValueError):
            return {}

    def transcript(self) -> Path | None:
        """The session file with the conversation, once it exists."""
        return next(self.place.config.glob(f"projects/*/{self.session_id}.jsonl"), None)

    def entries(self) -> list[dict[str, Any]]:
        """The whole lines of the conversation so far."""
        path = self.transcript()
        lines = path.read_text().splitlines(keepends=True) if path else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def is_running(self) -> bool:
        """False once the process is gone, or is a zombie that tmux has not reaped yet."""
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()[0]
        except OSError:
            return False
        return state != "Z"

    def kill(self) -> None:
        """kill -9 of the CLI; its screen stays."""
        os.kill(self.pid, signal.SIGKILL)
        self.wait(lambda: not self.is_running(), "the end of the process")

    def close(self) -> None:
        """Closes the terminal, and ends the CLI if it does not end by itself."""
        super().close()
        until = time.monotonic() + COMMAND_SECONDS_MAX
        while hasattr(self, "pid") and self.is_running():
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(POLL_SECONDS)


def skip_first_dialogs(place: Place, folder: Path) -> None:
    """Answers the CLI's first questions beforehand: the theme, the API key, the trust in the folder."""
    path = place.config / ".claude.json"
    text = path.read_text() if path.exists() else "{}"
    known = json.loads(text)
    known["hasCompletedOnboarding"] = True
    known["customApiKeyResponses"] = {"approved": [place.env()["ANTHROPIC_API_KEY"][-20:]], "rejected": []}
    known.setdefault("projects", {}).setdefault(str(folder), {})["hasTrustDialogAccepted"] = True
    # Other CLIs of the place may be running: the file is replaced as a whole, and only if it differs.
    if known != json.loads(text):
        new = path.with_name("claude.json.new")
        new.write_text(json.dumps(known))
        if place.programs.uid is not None:
            os.chown(new, place.programs.uid, place.programs.gid)
        new.rename(path)
