"""Compares the session calls of the official Python SDK with ours, on the files of a run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from .cli import E2E, Place, Programs

SECONDS_MAX = 300


def problems_of(programs: Programs, place: Place) -> list[str]:
    """Compares on files of the real CLI."""
    if not (place.config / "projects").is_dir():
        return []
    scratch = place.root / "sessions"
    scratch.mkdir()
    return _run(programs, [str(place.config), str(place.project), str(scratch)])


def problems_of_made(programs: Programs, root: Path) -> list[str]:
    """Compares on files that `sessions_sdk.py` writes itself."""
    scratch = root / "sessions-made"
    scratch.mkdir()
    return _run(programs, ["made", str(scratch)])


def _run(programs: Programs, args: list[str]) -> list[str]:
    command = [*programs.python, str(E2E / "sessions_sdk.py"), str(programs.tidings), *args]
    # As root the files belong to another user, and git needs permission to read them.
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **git}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        return [f"no end within {SECONDS_MAX} s"]
    said = f"{done.stdout}{done.stderr}".strip()
    return [said[-3000:]] if done.returncode else []
