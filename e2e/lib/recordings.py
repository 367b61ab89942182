"""Recorded runs of the official Python SDK on the real CLI, with which runs of our SDK are compared.

`run.py --record` writes `recordings/NAME.ndjson`: a line with its origin, then a line per normalised message, request,
reply and error. A recording with another origin fails its cell: another version of the CLI or of the SDK, or
another scenario.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from .cli import CACHE, E2E, OTHER_CLAUDE, PINNED, Missing
from .scenario import Scenario
from .twins import KINDS, Normal

FOLDER = E2E / "recordings"
SDK = re.search(r"claude-agent-sdk==(\S+)", (E2E / "requirements-sdk.txt").read_text())[1]
# Another version of the CLI has no recordings: the Python SDK runs on it.
ARE_USED = OTHER_CLAUDE is None
HINT = "run `e2e/run.py --record --only {name} --column rs=py`, and read the difference"


def origin(scenario: Scenario) -> dict[str, str]:
    """What a recording depends on: the versions, and the files of which the run is made."""
    files = [E2E / "driver_py.py", E2E / "requirements.txt", *sorted(each for each in scenario.folder.rglob("*") if each.is_file())]
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(E2E)} {len(content)}\n".encode() + content)
    return {"claude": PINNED, "claude-agent-sdk": SDK, "files": digest.hexdigest()}


def read(scenario: Scenario) -> tuple[Normal, list[str]]:
    """The recording of a scenario, and why it cannot be used."""
    parts: Normal = ([], [], [], [])
    path = _path(scenario.name)
    if not path.exists():
        return parts, [f"{path.relative_to(E2E.parent)} is missing: {HINT.format(name=scenario.name)}"]
    first, *lines = path.read_text(encoding="utf-8").split("\n")
    recorded, now = json.loads(first), origin(scenario)
    changed = ", ".join(f"{key} was {recorded.get(key)} and is {now[key]}" for key in now if recorded.get(key) != now[key])
    if changed:
        return parts, [f"{path.relative_to(E2E.parent)} is out of date: {changed}; {HINT.format(name=scenario.name)}"]
    for line in filter(None, lines):
        (kind, value), = json.loads(line).items()
        parts[(*KINDS, "error").index(kind)].append(value)
    return parts, []


def write(scenario: Scenario, run: Normal) -> None:
    """Records a run."""
    if not next((CACHE / "venv").glob(f"lib/python*/site-packages/claude_agent_sdk-{SDK}.dist-info"), None):
        raise Missing(f"claude-agent-sdk {SDK} is not installed: run e2e/install.sh")
    FOLDER.mkdir(exist_ok=True)
    lines: list[Any] = [origin(scenario)]
    lines += [{kind: value} for kind, part in zip((*KINDS, "error"), run) for value in part]
    # ASCII only, since texts may contain lone surrogates and other separators of lines.
    _path(scenario.name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def left_over(scenarios: list[Scenario]) -> list[Path]:
    """Recordings that no scenario is compared with."""
    wanted = {_path(each.name) for each in scenarios if each.is_twins and each.has_recording}
    return [path.relative_to(E2E.parent) for path in sorted(FOLDER.glob("*")) if path not in wanted]


def _path(name: str) -> Path:
    return FOLDER / f"{name}.ndjson"
