"""A session that goes from a terminal to the server and back: the real CLI in tmux, and `tidings serve`.

`TAKE_OVERS=n` sets how often.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lib.api import Api
from lib.cli import Place, Programs
from lib.terminal import SECONDS_MAX
from terminal import DIALOG, DONE, SCRIPT, Run

NAME = "take-over"
TAKE_OVERS = 2
# Agents run under hosts, which outlive the server.
LEASE_SECONDS = 60
SECOND_WRITER = "Another Claude Code process"


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    place = Place.make(programs, root, NAME)
    script = place.root / "script.toml"
    script.write_text(place.fill(SCRIPT.read_text()).replace("@ROOT@", str(place.root)))
    with Api(programs, script, place.root / "api.ndjson") as api, Run(place, api) as run:
        run.serve(LEASE_SECONDS)
        for case in (_refusals, _there_and_back, _busy_agent, _intact):
            run.play(case)
        problems = run.problems
    return problems, f"{run.said}: {'FAILED' if problems else 'ok'}"


def _command(run: Run, name: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    return run.web.call("POST", f"/v1/sessions/{run.row()['key']}/{name}", body or {})


def _tidings(run: Run, *args: str) -> None:
    done = subprocess.run(
        [str(run.place.programs.tidings), *args], env=run.place.env(), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=SECONDS_MAX, check=False, **run.place.programs.as_user(),
    )
    if done.returncode != 0:
        raise RuntimeError(f"tidings {args[0]}: {done.returncode} {done.stdout} {done.stderr}")


def _wait_row(run: Run, fits: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        return row if fits(row := run.row()) else None

    return run.wait(look, what)


def _say_here(run: Run, prompt: str) -> None:
    """A prompt in the terminal, and its turn."""
    turns = run.row()["totals"]["turns"]
    run.say(prompt)
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition(prompt)[2])
    run.idle()
    _wait_row(run, lambda row: row["totals"]["turns"] == turns + 1, f"the end of the turn of `{prompt}`")


def _say_there(run: Run, prompt: str) -> None:
    """A prompt to the server, and its turn."""
    before = run.row()
    status, body = run.web.call("POST", f"/v1/sessions/{before['key']}/input", {"content": prompt})
    if status != 202 and status != 200:
        raise RuntimeError(f"the prompt got {status} {body}")
    run.prompts.append(prompt)
    turns = before["totals"]["turns"] + 1
    _wait_row(
        run, lambda row: row["state"] == "idle" and row["totals"]["turns"] == turns, f"the end of the turn of `{prompt}`",
    )


def _refusals(run: Run) -> list[str]:
    """A terminal that works or shows a dialog is left alone."""
    run.say("please [count]")
    run.asked()
    run.terminal.wait_screen(DIALOG)
    status, body = _command(run, "take_over")
    problems = [] if status == 409 and "dialog" in body["detail"] else [f"with a dialog: {status} {body}"]
    run.terminal.answer("Enter", DIALOG)
    run.idle()
    problems += [] if run.terminal.is_running() else ["the terminal is gone"]
    _wait_row(run, lambda row: row["totals"]["turns"] == 1, "the end of the turn")
    return problems


def _there_and_back(run: Run) -> list[str]:
    problems = []
    times = int(os.environ.get("TAKE_OVERS", TAKE_OVERS))
    for number in range(times):
        problems += [f"round {number}: {problem}" for problem in _round(run, number)]
    run.said = f"{times} times there and back"
    return problems


def _round(run: Run, number: int) -> list[str]:
    _say_here(run, f"here {number}, please [greet]")
    seen = run.row()
    problems = [] if "take_over" in seen["capabilities"] else [f"not offered: {seen['capabilities']}"]
    if not seen["totals"]["cost_usd"] or not seen.get("model"):
        problems.append(f"neither model nor cost: {seen.get('model')} {seen['totals']}")
    tidings, data = str(run.place.programs.tidings), str(run.place.root / "data")
    if number % 2:
        status, body = _command(run, "take_over")
        if status != 200:
            raise RuntimeError(f"take_over: {status} {body}")
    else:
        _tidings(run, "take-over", seen["key"], "--data", data)
    if run.terminal.is_running() or run.terminal.status_file():
        problems.append("the terminal's process is still there")
    row = run.row()
    if row["state"] != "idle" or "prompt" not in row["capabilities"] or row["key"] != seen["key"]:
        problems.append(f"not taken over: {row}")
    _say_there(run, f"there {number}, please [greet]")
    claude = str(run.place.programs.claude)
    if number % 2:
        # The server has the session, and notices the second process.
        run.resume()
    else:
        run.resume(tidings, "resume", row["key"], "--data", data, "--claude-path", claude, "--", "--permission-mode", "default")
    back = _wait_row(run, lambda row: "take_over" in row["capabilities"], "the session in the terminal")
    if number % 2 == 0:
        # `tidings resume` runs `claude` as `tidings claude` does: prompts still reach it from elsewhere.
        problems += [] if {"prompt", "terminal"} <= set(back["capabilities"]) else [f"it can only {back['capabilities']}"]
        problems += _r11_steered(run, number)
    if back["key"] != seen["key"] or run.terminal.session_id not in back["cli_session_ids"]:
        problems.append(f"another session came back: {back}")
    warned = SECOND_WRITER in json.dumps(run.history(seen["key"])[-8:])
    if warned is not bool(number % 2):
        problems.append("a warning about a second process" if warned else "no warning about the second process")
    return problems + run.differences()


def _r11_steered(run: Run, number: int) -> list[str]:
    """A prompt from elsewhere, into the terminal that the session was resumed in."""
    prompt = f"from elsewhere {number}, please [greet]"
    status, body = run.web.call("POST", f"/v1/sessions/{run.row()['key']}/input", {"content": prompt})
    if status not in (200, 202):
        return [f"the prompt got {status} {body}"]
    run.prompts.append(prompt)
    run.terminal.wait_screen(lambda screen: prompt in screen and DONE in screen.rpartition(prompt)[2])
    run.idle()
    return []


def _busy_agent(run: Run) -> list[str]:
    """A second process while the server's agent works: a warning at once, and the agent ends after its turn."""
    status, body = _command(run, "take_over")
    if status != 200:
        raise RuntimeError(f"take_over: {status} {body}")
    key = run.row()["key"]
    turns = run.row()["totals"]["turns"]
    run.web.call("POST", f"/v1/sessions/{key}/input", {"content": "please [count]"})
    run.prompts.append("please [count]")
    item, = run.asked()
    run.resume()
    run.wait(lambda: SECOND_WRITER in json.dumps(run.history(key)[-4:]), "the warning")
    held = run.row()
    problems = [] if held["state"] == "needs_you" else [f"the turn is gone: {held['state']}"]
    run.decide(item, "allow")
    _wait_row(run, lambda row: "take_over" in row["capabilities"], "the session in the terminal")
    _wait_row(run, lambda row: row["totals"]["turns"] == turns + 1, "the end of the turn")
    # The second process has closed the open call in its own branch of the file, so the events are not compared.
    _say_here(run, "last, please [greet]")
    return problems


def _intact(run: Run) -> list[str]:
    """The session file is valid, and no process is left."""
    terminal, path = run.terminal, run.terminal.transcript()
    run.leave()
    run.wait(lambda: run.row(terminal)["state"] == "stopped", "the end of the session")
    done = subprocess.run(
        [str(run.place.programs.tidings), "sessions", "check", str(path)], env=run.place.env(), capture_output=True,
        text=True, timeout=SECONDS_MAX, check=False,
    )
    problems = [] if done.returncode == 0 else [f"sessions check: {done.stdout}{done.stderr}"]
    hosts = list((run.place.root / "data").glob("hosts/*/host.json"))
    problems += [f"a host is left: {host}" for host in hosts]
    return problems + [f"a process is left: {line}" for line in _processes(run.place) if " serve " not in line]


def _processes(place: Place) -> list[str]:
    """Command lines of the processes that work in the place."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve().is_relative_to(place.root):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass
    return found
