"""The official SDKs as clients: each check is a small program, run on the stand-in and on the real CLI."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from .api import Api
from .cli import CACHE, E2E, Place, Programs
from .scenario import Scenario, write_script

SECONDS_MAX = 60


def problems_of(programs: Programs, place: Place, scenario: Scenario, column: str, who: str) -> list[str]:
    """Runs the check named like the scenario, without its `sdk-`; returns its problems."""
    script = write_script(place, scenario.script)
    name = scenario.name.removeprefix("sdk-")
    if who == "agent":
        shim = _shim(programs, place, [str(programs.tidings), "rehearse", "agent", "--script", str(script)])
        return _check(place, column, name, shim, None)
    shim = _shim(programs, place, [str(programs.claude)])
    with Api(programs, script, place.root / "api.ndjson") as api:
        problems = _check(place, column, name, shim, api.url)
        left_over = api.close()
    return problems + ([left_over] if left_over and not problems else [])


def _shim(programs: Programs, place: Place, command: list[str]) -> Path:
    """The `claude` for the SDK. It has no suffix, otherwise the TypeScript SDK would run it with node."""
    shim = place.root / "claude-shim"
    words = " ".join(shlex.quote(word) for word in [*programs.drop_rights(), *command])
    shim.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    shim.chmod(0o755)
    return shim


def _check(place: Place, column: str, name: str, shim: Path, base_url: str | None) -> list[str]:
    env = place.env(base_url, {"TIDINGS_E2E_CLAUDE": str(shim), "TIDINGS_E2E_VERSION": place.fill("@CLI@")})
    if column == "py-sdk":
        command = [*place.programs.python, str(E2E / "sdk_py.py"), name]
    else:
        # Node looks for packages beside the file, and they are in the cache.
        program = place.root / "node" / "sdk.mjs"
        program.parent.mkdir()
        shutil.copy(E2E / "ts" / "sdk.mjs", program)
        (program.parent / "node_modules").symlink_to(CACHE / "ts" / "node_modules")
        command = ["node", str(program), name]
        env["PATH"] = f"{Path(shutil.which('node') or '/usr/bin/node').parent}:{env['PATH']}"
    with open(place.root / "sdk.txt", "w+b") as talk:
        child = subprocess.Popen(
            command, cwd=place.project, env=env, stdin=subprocess.DEVNULL, stdout=talk, stderr=talk,
            start_new_session=True)
        try:
            code: int | None = child.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(child)
        talk.seek(0)
        said = talk.read().decode(errors="replace").strip()[-1500:]
    if code is None:
        return [f"no end within {SECONDS_MAX} s: {said}"]
    return [f"exit code {code}: {said}"] if code else []


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kills the check and the `claude` that it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
