"""Every file of a data folder, damaged, and the server started on it: repaired or reported, never silent.

A file is damaged by a flipped bit or a cut, at a 64th of its length. `DAMAGE=n` sets the number of cases, `DAMAGE=all` takes
every one of them. `DAMAGE_TABLE=FILE` writes the table of docs/operating.md.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

from lib.cli import Place, Programs
from lib.serve import Server
from lib.web import SECONDS_MAX, Web

NAME = "damage"
CASES = 40
PARTS = 64
# The lock and SQLite's index of its log hold nothing; sockets and hosts are those of running agents.
IGNORED = (".lock", "-shm", ".sock", ".part")


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    place = Place.make(programs, root, NAME)
    program = _stand_in(place)
    problems: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    wanted = os.environ.get("DAMAGE", str(CASES))
    for left in ("killed", "stopped"):
        whole, truth = _left(place, program, left)
        cases = [
            (path, kind, part)
            for path in sorted(path.relative_to(whole) for path in whole.rglob("*") if _is_tried(path))
            for kind in ("flip", "cut")
            for part in range(PARTS)
        ]
        if wanted != "all":
            cases = random.Random(7).sample(cases, min(len(cases), int(wanted) // 2))
        for path, kind, part in cases:
            outcome, why = _try(place, program, whole, truth, path, kind, part)
            counts[path.name, outcome] += 1
            if outcome == "silent":
                problems.append(f"{left}: {kind} at {part}/{PARTS} of {path} is silent: {why}")
    _write(counts)
    if not any(outcome == "unharmed" for _, outcome in counts):
        problems.append("no damage was repaired, so the cases do not tell anything")
    said = ", ".join(f"{sum(n for (_, it), n in counts.items() if it == name)} {name}" for name in OUTCOMES)
    return problems, f"{sum(counts.values())} cases: {said}"


OUTCOMES = ("unharmed", "reported", "refused", "silent")


def _is_tried(path: Path) -> bool:
    return path.is_file() and path.stat().st_size >= PARTS and not path.name.endswith(IGNORED)


def _left(place: Place, program: Path, left: str) -> tuple[Path, dict[str, Any]]:
    """A data folder as a server left it, and what it showed."""
    shutil.rmtree(place.root / "data", ignore_errors=True)
    (place.root / "credential").unlink(missing_ok=True)
    with Server(place, "", 0, program) as server:
        web = server.web
        for _ in range(3):
            status, session = web.call("POST", "/v1/sessions", {"cwd": str(place.project), "prompt": "tell"})
            if status != 201:
                raise RuntimeError(f"no session: {status} {session}")
            for event in web.events(f"/v1/sessions/{session['key']}/events"):
                if "Complete" in event["data"]:
                    break
            web.call("POST", f"/v1/sessions/{session['key']}/stop", {})
        truth = _shown(web)
        if left == "killed":
            server.kill()
        elif problems := server.close():
            raise RuntimeError(problems)
    whole = place.root / left
    shutil.copytree(place.root / "data", whole, ignore=shutil.ignore_patterns("*.sock", "hosts"))
    with Server(place, "", 0, program) as server:
        if (again := _shown(server.web)) != truth:
            raise RuntimeError(f"an undamaged folder shows something else: {again} and not {truth}")
        server.kill()
    return whole, truth


def _try(
    place: Place, program: Path, whole: Path, truth: dict[str, Any], path: Path, kind: str, part: int,
) -> tuple[str, str]:
    """Starts the server on a damaged copy; returns the outcome, and what is wrong."""
    data = place.root / "data"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(whole, data)
    damaged = bytearray((data / path).read_bytes())
    at = len(damaged) * part // PARTS
    if kind == "flip":
        damaged[at] ^= 1 << (part % 8)
        (data / path).write_bytes(damaged)
    else:
        (data / path).write_bytes(damaged[:at])
    place.hand_over()
    with Server(place, "", 0, program) as server:
        try:
            web = server.web
        except RuntimeError as error:
            return ("refused", str(error)) if "hint" in str(error) else ("silent", f"refused without a hint: {error}")
        shown = _shown(web)
        ready, said = _ready(web)
        server.signal(signal.SIGKILL)
    if ready != 200:
        return "reported", said
    return ("unharmed", "") if shown == truth else ("silent", _difference(shown, truth))


def _ready(web: Web) -> tuple[int, str]:
    try:
        status, said = web.call("GET", "/readyz")
    except json.JSONDecodeError:
        return 200, ""
    return status, str(said)


def _shown(web: Web) -> dict[str, Any]:
    """Everything that the server shows of its sessions, and the audit log."""
    shown: dict[str, Any] = {}
    status, listed = web.call("GET", "/v1/sessions")
    for session in (listed or {}).get("sessions", []) if status == 200 else []:
        status, history = web.call("GET", f"/v1/sessions/{session['key']}/history?limit=1000")
        events = history["events"] if status == 200 else history
        shown[session["key"]] = [session.get("cwd"), session.get("title"), [_event(event) for event in events]]
    shown["audit"] = _audit(web)
    return shown


def _audit(web: Web) -> list[str]:
    """The decisions in the audit log; each start adds lines of its own."""
    connection = http.client.HTTPConnection(web.host, timeout=SECONDS_MAX)
    connection.request("GET", "/v1/audit", None, {"Authorization": f"Bearer {web.token}"})
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return [line for line in lines if '"decision":"allowed"' in line]


def _event(event: Any) -> Any:
    return event["event"] if isinstance(event, dict) and "event" in event else event


def _difference(shown: dict[str, Any], truth: dict[str, Any]) -> str:
    missing = [key for key in truth if key not in shown]
    changed = [key for key in shown if key in truth and shown[key] != truth[key]]
    return f"missing {missing}, changed {changed}, new {[key for key in shown if key not in truth]}"


def _stand_in(place: Place) -> Path:
    """A program in place of `claude` that says a few sentences."""
    script, program = place.root / "story.toml", place.root / "claude"
    text = " ".join(f"sentence {number}." for number in range(400))
    script.write_text(f"[[turn]]\ntext = {json.dumps(text)}\n")
    words = f"'{place.programs.tidings}' rehearse agent --script '{script}' --config-dir '{place.config}'"
    program.write_text(f'#!/bin/sh\nexec {words} -- "$@"\n')
    program.chmod(0o755)
    return program


def _write(counts: Counter[tuple[str, str]]) -> None:
    """The table of docs/operating.md, into a file that `DAMAGE_TABLE` names."""
    if not (target := os.environ.get("DAMAGE_TABLE")):
        return
    rows = ["| file | cases | unharmed or repaired | reported | refused with a reason | silent |", "|---|---|---|---|---|---|"]
    for name in sorted({name for name, _ in counts}):
        each = [counts[name, outcome] for outcome in OUTCOMES]
        rows.append(f"| `{name}` | {sum(each)} | {' | '.join(map(str, each))} |")
    Path(target).write_text("\n".join(rows) + "\n")
