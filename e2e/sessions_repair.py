"""A session of the real CLI is damaged, repaired by `tidings sessions repair`, and resumed by the CLI.

The next request to the API must contain the whole earlier conversation, with a result for every tool call.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable

from lib import check
from lib.api import Api
from lib.cli import E2E, Place, Programs
from lib.host import BASE_ARGS, Host
from lib.recorder import Recorder

NAME = "sessions-repair"
SESSION = "11111111-2222-4333-8444-555555555555"
CALL = "toolu_01Look"
FIRST_PROMPT, SECOND_PROMPT, LAST_PROMPT = "look around", "remember 7", "what now?"
CONVERSATION = [
    FIRST_PROMPT, "I will look.", CALL, "It is a small project.", SECOND_PROMPT, "I will remember.", LAST_PROMPT,
]
# The CLI's own text for a call without a result is different.
STAND_IN = "was lost from the session file"
NOWHERE = "00000000-0000-4000-8000-000000000000"


def problems_of(programs: Programs, root: Path) -> list[str]:
    """Returns the problems."""
    place = Place.make(programs, root, NAME)
    prompts = [{"user": FIRST_PROMPT}, {"wait": "result"}, {"user": SECOND_PROMPT}, {"wait": "result"}]
    first = {"steps": [{"initialize": {}}, *prompts],
             "answers": [{"to": "can_use_tool", "with": {"behavior": "allow", "updatedInput": "$input"}}],
             "expect": [{"frame": "result:success", "count": 2}]}
    problems, _ = run(place, ["--session-id", SESSION], first, "first")
    if problems:
        return [f"first run: {problem}" for problem in problems]
    (file,) = place.config.glob(f"projects/*/{SESSION}.jsonl")
    whole = file.read_bytes().split(b"\n")[:-1]
    problems += [f"undamaged: {problem}" for problem in _findings(programs, file)]
    for name, damage in DAMAGES.items():
        file.write_bytes(damage(list(whole)))
        problems += [f"{name}: {problem}" for problem in _repaired_and_resumed(place, file, name)]
    return problems


def _repaired_and_resumed(place: Place, file: Path, name: str) -> list[str]:
    copy = place.root / f"{name}.jsonl"
    shutil.copy(file, place.root / f"{name}.damaged.jsonl")
    problems = [] if _findings(place.programs, file) else ["check finds nothing in the damaged file"]
    done = _tidings(place.programs, "repair", str(file), "-o", str(copy))
    if done.returncode:
        return [*problems, f"repair ended with {done.returncode}: {done.stderr}"]
    problems += [f"after the repair: {problem}" for problem in _findings(place.programs, copy)]
    # Written into the existing file, which belongs to the user that runs the CLI.
    file.write_bytes(copy.read_bytes())
    plan = {"steps": [{"initialize": {}}, {"user": LAST_PROMPT}, {"wait": "result"}],
            "expect": [{"frame": "result:success", "has": {"result": "Still here.", "session_id": SESSION}}]}
    found, requests = run(place, ["--resume", SESSION], plan, "second")
    problems += found
    problems += _missing(requests[-1]["messages"]) if requests else ["the API received no request"]
    if (STAND_IN in json.dumps(requests)) != (name in ("lost-result", "everything")):
        problems.append("exactly the lost result should be replaced")
    # The lines that the CLI appended continue the repaired ones.
    return problems + [f"after the resume: {problem}" for problem in _findings(place.programs, file)]


def run(place: Place, args: list[str], plan: dict[str, Any], script: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Runs the CLI once; returns the problems, and the requests to the API."""
    with Api(place.programs, E2E / "repair" / f"{script}.toml", place.root / f"{script}.api.ndjson") as api:
        with Recorder(api.url) as recorder:
            command = [str(place.programs.claude), *BASE_ARGS, *args]
            host = Host(command, place.env(recorder.url), place.project, plan, place.programs.as_user())
            record = host.run()
        left_over = api.close()
    problems = check.problems_of(record, plan) + ([left_over] if left_over else [])
    return problems, [request for request in recorder.requests if "messages" in request]


def _missing(messages: list[dict[str, Any]]) -> list[str]:
    """Parts of the conversation that were not sent or not in order, and calls without a result."""
    texts = [json.dumps(message["content"]) for message in messages]
    at, problems = 0, []
    for part in CONVERSATION:
        here = next((number for number in range(at, len(texts)) if part in texts[number]), None)
        if here is None:
            problems.append(f"{part!r} was not sent in order; sent: {texts}")
        else:
            at = here
    for number, message in enumerate(messages):
        for block in message["content"] if isinstance(message["content"], list) else []:
            after = texts[number + 1] if number + 1 < len(texts) else ""
            if block["type"] == "tool_use" and f'"tool_use_id": "{block["id"]}"' not in after:
                problems.append(f"{block['id']} has no result")
    return problems


def _findings(programs: Programs, file: Path) -> list[str]:
    """Errors and warnings of `tidings sessions check`."""
    done = _tidings(programs, "check", "--json", str(file))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or not lines or "summary" not in lines[-1]:
        return [f"check ended with {done.returncode}: {done.stderr}"]
    serious = [line for line in lines[:-1] if line["severity"] != "note"]
    return [f"line {line['line']}: {line['rule']}: {line['message']}" for line in serious]


def _tidings(programs: Programs, *args: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent"}
    return subprocess.run(
        [str(programs.tidings), "sessions", *args], capture_output=True, text=True, env=env, timeout=60, check=False)


# --- damage to the file ---

Lines = list[bytes]


def _with(lines: Lines, kind: str, text: str) -> int:
    """Index of the first entry of a type that contains a text."""
    for number, line in enumerate(lines):
        if json.loads(line)["type"] == kind and text.encode() in line:
            return number
    raise LookupError(f"no {kind} with {text!r}")


def _file(lines: Lines) -> bytes:
    return b"\n".join(lines) + b"\n"


def torn_tail(lines: Lines) -> bytes:
    return _file(lines) + lines[_with(lines, "assistant", "I will remember.")][:200]


def glued(lines: Lines) -> bytes:
    """Cuts an attachment, and joins the next line to it."""
    at = _with(lines, "attachment", "")
    lines[at:at + 2] = [lines[at][:90] + lines[at + 1]]
    return _file(lines)


def nul_run(lines: Lines) -> bytes:
    return nul_run_inside(lines) + b"\0" * 500


def nul_run_inside(lines: Lines) -> bytes:
    at = _with(lines, "assistant", "It is a small project.")
    lines[at] = b"\0" * 9000 + lines[at]
    return _file(lines)


def lost_result(lines: Lines) -> bytes:
    del lines[_with(lines, "user", "tool_result")]
    return _file(lines)


def phantom_parent(lines: Lines) -> bytes:
    at = _with(lines, "user", SECOND_PROMPT)
    lines[at] = re.sub(rb'"parentUuid":"[^"]*"', f'"parentUuid":"{NOWHERE}"'.encode(), lines[at], count=1)
    return _file(lines)


def repeated(lines: Lines) -> bytes:
    at = _with(lines, "user", FIRST_PROMPT)
    changed = lines[at].replace(b'"gitBranch":"main"', b'"gitBranch":"other"')
    return _file(lines[:at + 3] + lines[at:at + 3] + lines[at + 3:] + [changed])


def everything(lines: Lines) -> bytes:
    # The last two produce lines without valid JSON, which the others could not read.
    for damage in (repeated, phantom_parent, lost_result, nul_run_inside, glued):
        lines = damage(lines).split(b"\n")[:-1]
    return _file(lines) + lines[-1][:50]


DAMAGES: dict[str, Callable[[Lines], bytes]] = {
    "torn-tail": torn_tail,
    "glued": glued,
    "nul-run": nul_run,
    "lost-result": lost_result,
    "phantom-parent": phantom_parent,
    "repeated": repeated,
    "everything": everything,
}
