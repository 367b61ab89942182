"""`tidings run` with the real CLI: in pipes, for programs, and in a terminal with simulated keys."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time
from dataclasses import dataclass
from pathlib import Path

import run_command_console
from lib.api import Api
from lib.cli import E2E, Place, Programs

NAME = "run-command"
SCRIPT = E2E / "run_command" / "asks.toml"
PROMPT = "note it"
SECONDS_MAX = 120


@dataclass
class Ended:
    """Result of a run."""

    code: int
    data: str
    talk: str


def problems_of(programs: Programs, root: Path) -> list[str]:
    """Returns the problems."""
    problems: list[str] = []
    for name, check in CHECKS.items():
        place = Place.make(programs, root, f"{NAME}-{name}")
        with Api(programs, SCRIPT, place.root / "api.ndjson") as api:
            problems += [f"{name}: {problem}" for problem in check(place, api.url)]
            left_over = api.close()
        problems += [f"{name}: {left_over}"] if left_over else []
    return problems + run_command_console.problems_of(programs, root)


def _refused(place: Place, url: str) -> list[str]:
    ended = _piped(place, url, "--on-ask", "deny")
    problems = _expect(ended, 0, "I will **note** it.\n\nI may not.\n")
    return problems + [f"{text!r} is missing in {ended.talk!r}" for text in ["✗ Bash"] if text not in ended.talk]


def _allowed_before(place: Place, url: str) -> list[str]:
    problems = _expect(_piped(place, url, "--allowed-tools", "Bash"), 0, "I will **note** it.\n\nIt is noted.\n")
    return problems + ([] if (place.project / "note.txt").exists() else ["the command did not run"])


def _person_needed(place: Place, url: str) -> list[str]:
    ended = _piped(place, url)
    problems = [] if ended.code == 4 else [f"it ended with {ended.code}: {ended.talk}"]
    return problems + (["the command ran"] if (place.project / "note.txt").exists() else [])


def _for_programs(place: Place, url: str) -> list[str]:
    ended = _piped(place, url, "--allowed-tools", "Bash", "--output", "json")
    problems = [] if ended.code == 0 else [f"it ended with {ended.code}: {ended.talk}"]
    result = json.loads(ended.data)
    if (result["type"], result["result"]) != ("result", "It is noted."):
        problems.append(f"another result: {ended.data}")
    return problems + [f"{key} is missing" for key in ("session_id", "usage", "total_cost_usd") if key not in result]


def _same_frames(place: Place, url: str) -> list[str]:
    """`--output stream-json` equals the CLI's own output."""
    ended = _piped(place, url, "--allowed-tools", "Bash", "--output", "stream-json")
    ours = [_kind(line) for line in ended.data.splitlines()]
    other = Place.make(place.programs, place.root.parent, f"{NAME}-alone")
    with Api(place.programs, SCRIPT, other.root / "api.ndjson") as api:
        command = [str(place.programs.claude), "-p", PROMPT, "--verbose", "--output-format", "stream-json"]
        done = subprocess.run(
            [*command, "--allowedTools", "Bash"], env=other.env(api.url), cwd=other.project, capture_output=True,
            stdin=subprocess.DEVNULL, text=True, timeout=SECONDS_MAX, **place.programs.as_user(),
        )
    theirs = [_kind(line) for line in done.stdout.splitlines()]
    return [] if ours == theirs else [f"ours {ours}, the CLI's {theirs}"]


def _keys_allow(place: Place, url: str) -> list[str]:
    ended = _in_terminal(place, url, [("[n] no", "\r"), ("[n] no", "y")])
    problems = [] if ended.code == 0 and "It is noted." in ended.data else [f"{ended.code}: {ended.data!r}"]
    return problems + ([] if (place.project / "note.txt").exists() else ["the command did not run"])


def _keys_refuse(place: Place, url: str) -> list[str]:
    ended = _in_terminal(place, url, [("[e] no", "e"), ("Reason:", "not today\r")])
    problems = [] if ended.code == 0 and "Then not today." in ended.data else [f"{ended.code}: {ended.data!r}"]
    return problems + (["the command ran"] if (place.project / "note.txt").exists() else [])


def _keys_interrupt(place: Place, url: str) -> list[str]:
    ended = _in_terminal(place, url, [("[n] no", "\x03")])
    return [] if ended.code == 130 else [f"it ended with {ended.code}: {ended.data!r}"]


CHECKS = {
    "refused": _refused,
    "allowed-before": _allowed_before,
    "person-needed": _person_needed,
    "for-programs": _for_programs,
    "same-frames": _same_frames,
    "keys-allow": _keys_allow,
    "keys-refuse": _keys_refuse,
    "keys-interrupt": _keys_interrupt,
}


def _command(place: Place, *args: str) -> list[str]:
    return [str(place.programs.tidings), "run", PROMPT, "--claude-path", str(place.programs.claude), *args]


def _piped(place: Place, url: str, *args: str) -> Ended:
    done = subprocess.run(
        _command(place, *args), env=place.env(url), cwd=place.project, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=SECONDS_MAX, **place.programs.as_user(),
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _in_terminal(place: Place, url: str, keys: list[tuple[str, str]]) -> Ended:
    """Runs it in a terminal; each key is pressed after its text appeared since the previous key."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        _command(place), env=place.env(url, {"TERM": "xterm", "NO_COLOR": "1"}), cwd=place.project, stdin=slave,
        stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **place.programs.as_user(),
    )
    os.close(slave)
    late = time.monotonic() + SECONDS_MAX
    seen, waiting = "", list(keys)
    while time.monotonic() < late:
        if select.select([master], [], [], 0.1)[0]:
            try:
                seen += os.read(master, 65536).decode(errors="replace")
            except OSError:  # The terminal is closed when no process holds its other end.
                break
        if waiting and waiting[0][0] in seen:
            os.write(master, waiting.pop(0)[1].encode())
    else:
        child.kill()
    os.close(master)
    return Ended(child.wait(), seen, "")


def _expect(ended: Ended, code: int, data: str) -> list[str]:
    if (ended.code, ended.data) == (code, data):
        return []
    return [f"it ended with {ended.code}, and wrote {ended.data!r} {ended.talk!r}"]


def _kind(line: str) -> str:
    frame = json.loads(line)
    return "/".join(part for part in (frame["type"], frame.get("subtype")) if part)
