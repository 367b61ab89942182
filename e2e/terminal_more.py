"""Sessions in terminals, in rarer situations: `/clear`, sub-agents, identical calls, `--bg`, a server that stands still.

`LONG=1` runs all of them; without it only the quick ones run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lib.cli import OTHER_CLAUDE, Programs
from lib.terminal import SECONDS_MAX, Pane, Terminal
from terminal import DIALOG, DONE, MANUAL, REPLY_MS, Run, play_cases

NAME = "terminal-more"
# Longer than a dialog ignores keys.
DIALOG_SECONDS = 0.5


def play(programs: Programs, root: Path) -> tuple[list[str], str]:
    """Returns the problems, and a summary."""
    return play_cases(programs, root, NAME, CASES + LONG_CASES * bool(os.environ.get("LONG")))


def _served(run: Run) -> list[str]:
    run.serve()
    return []


def _identical_calls(run: Run) -> list[str]:
    """Two calls with the same input form a group: each answer settles one of them."""
    run.say("please [read twice]")
    first, second = run.asked(count=2)
    problems = []
    if first["tool_use_id"] == second["tool_use_id"]:
        problems.append("both requests have the same call")
    problems += [] if run.decide(first, "allow")[0] == 200 else ["the first answer was refused"]
    left, = run.asked(count=1)
    problems += [] if run.decide(left, "allow")[0] == 200 else ["the second answer was refused"]
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("[read twice]")[2])
    run.idle()
    run.asked(count=0)
    for item in (first, second):
        if run.result(item["tool_use_id"]).get("is_error"):
            problems.append(f"a result is an error: {run.result(item['tool_use_id'])}")
    return problems + run.differences()


def _cleared(run: Run) -> list[str]:
    """`/clear` ends the session, and begins another one in the same process."""
    run.say("please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("[greet]")[2])
    run.idle()
    problems, before, old = run.differences(), run.row(), run.terminal.session_id
    run.terminal.type("/clear")
    run.terminal.wait_screen(lambda screen: "/clear" in screen)
    run.terminal.keys("Enter")
    run.terminal.session_id = run.wait(
        lambda: (found := run.terminal.status_file().get("sessionId")) != old and found, "another session",
    )
    # The new file begins with the command.
    run.prompts = ["/clear"]
    run.say("anew, please [greet]")
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("anew")[2])
    run.idle()
    row = run.row()
    if row["key"] == before["key"] or row["origin"] != "terminal":
        problems.append(f"the session after /clear is {row}")
    rows = run.web.call("GET", "/v1/sessions")[1]["items"]
    ended = next(each for each in rows if each["key"] == before["key"])
    if ended["state"] != "stopped" or "prompt" not in ended["capabilities"]:
        problems.append(f"the session before /clear is {ended}")
    return problems + run.differences()


def _stopped_server(run: Run) -> list[str]:
    """A server that stands still while it holds a request: the dialog works, and later hooks give up soon."""
    before = run.counted()
    run.say("please [count]")
    run.asked()
    run.terminal.wait_screen(DIALOG)
    run.signal(signal.SIGSTOP)
    try:
        run.terminal.answer("Enter", DIALOG)
        run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("[count]")[2])
        run.idle()
    finally:
        run.signal(signal.SIGCONT)
    run.asked(count=0)
    ran = run.counted() - before
    return ([] if ran == 1 else [f"the command ran {ran} times"]) + run.differences()


def _sub_agent(run: Run) -> list[str]:
    """The request of a sub-agent names its call, and its answer from the API runs it once."""
    before = run.counted()
    run.say("please [delegate]")
    item, = run.asked()
    problems = [] if run.decide(item, "allow")[0] == 200 else ["the answer was refused"]
    run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("[delegate]")[2])
    run.idle()
    run.asked(count=0)
    ran = run.counted() - before
    problems += [] if ran == 1 else [f"the command ran {ran} times"]
    key = run.row()["key"]

    def in_lane() -> bool:
        lanes = [event["Lane"]["event"] for event in run.history(key) if "Lane" in event]
        return any(event.get("ToolCompleted", {}).get("tool_use_id") == item["tool_use_id"] for event in lanes)

    run.wait(in_lane, "the result of the sub-agent's call in its lane")
    return problems + run.differences()


def _plan_from_the_keyboard(run: Run) -> list[str]:
    """A plan that is approved in the terminal; a later answer is told so."""
    with run.another("--permission-mode", "plan") as terminal:
        run.say("please [greet]", terminal)
        terminal.wait_screen(DONE)
        terminal.wait_status("idle")
        # The CLI chooses the file of the plan, and tells only the model.
        path = Path(re.findall(r'[^\s"\\`]*/plans/[^\s"\\`]*\.md', run.api.log.read_text())[-1])
        path.parent.mkdir(exist_ok=True)
        path.write_text("# The plan\n\n1. Count to one.\n")
        run.say("please [plan]", terminal)
        item, = run.asked("questions", terminal=terminal)
        terminal.answer("Enter", "Would you like to proceed")
        screen = terminal.wait_screen(lambda screen: DONE in screen and "Would you like" not in screen)
        terminal.wait_status("idle")
        run.asked("questions", count=0, terminal=terminal)
        status, body = run.reply(item, "Approve")
    problems = [] if status == 409 and body.get("winner") else [f"a late answer got {status} {body}"]
    return problems + ([] if "plan mode on" not in screen else [f"still in plan mode:\n{screen}"])


def _background(run: Run) -> list[str]:
    """A session of `claude --bg` is shown with its origin, and its requests hold nothing up."""
    known = {row["key"] for row in run.web.call("GET", "/v1/sessions")[1]["items"]}
    _claude(run, "--bg", "please [greet]", *MANUAL)

    def look() -> dict[str, Any] | None:
        rows = run.web.call("GET", "/v1/sessions")[1]["items"]
        return next((row for row in rows if row["key"] not in known), None)

    try:
        row = run.wait(look, "the session in the background")
        problems = [] if row["origin"] == "background" else [f"its origin is {row['origin']}"]
        problems += [] if "take_over" not in row["capabilities"] else ["it can be taken over"]
        run.wait(lambda: DONE in json.dumps(run.history(row["key"])), "its answer")
        return problems
    finally:
        _end_background(run)


def _growing_file(run: Run) -> list[str]:
    """A container shares the folder with the session files, and nothing else."""
    inside = run.place.root / "inside"
    inside.mkdir()
    (inside / "projects").symlink_to(run.place.config / "projects")
    if run.place.programs.uid is not None:
        shutil.chown(inside, run.place.programs.uid, run.place.programs.gid)
    known = {row["key"] for row in run.web.call("GET", "/v1/sessions")[1]["items"]}
    _claude(run, "-p", "please [greet]", *MANUAL, env={"CLAUDE_CONFIG_DIR": str(inside)})

    def look() -> dict[str, Any] | None:
        rows = run.web.call("GET", "/v1/sessions")[1]["items"]
        return next((row for row in rows if row["key"] not in known), None)

    row = run.wait(look, "the session of the container")
    run.wait(lambda: DONE in json.dumps(run.history(row["key"])), "its answer")
    problems = [] if row["capabilities"] == [] else [f"it can {row['capabilities']}"]
    problems += [] if "only shown" in row["limited"] else [f"it says {row['limited']!r}"]
    status, body = run.web.call("POST", f"/v1/sessions/{row['key']}/input", {"content": "please [greet]"})
    return problems + ([] if status == 409 else [f"a prompt got {status} {body}"])


def _r2_waits_without_hooks(run: Run) -> list[str]:
    """What the CLI says of itself: a session without hooks waits in the list and in the inbox, also after a restart."""
    before = run.counted()
    with run.another(*MANUAL, "--settings", json.dumps({"disableAllHooks": True})) as terminal:
        key = run.row(terminal)["key"]
        run.say("please [count]", terminal)
        terminal.wait_screen(DIALOG)
        problems = _waits(run, terminal)
        if "answer" in run.row(terminal)["capabilities"]:
            problems.append("an answer is offered")
        run.kill()
        run.serve()
        problems += _waits(run, terminal)
        terminal.answer("Enter", DIALOG)
        terminal.wait_status("idle")
        run.wait(lambda: run.row(terminal)["state"] == "idle", "the end of the turn")
        run.wait(lambda: not _dialogs(run, key), "the end of the item in the inbox")
    ran = run.counted() - before
    return problems + ([] if ran == 1 else [f"the command ran {ran} times"])


def _dialogs(run: Run, key: str) -> list[dict[str, Any]]:
    items = run.web.call("GET", f"/v1/inbox?state=waiting&session={key}")[1]["items"]
    return [item for item in items if item["kind"] == "dialog"]


def _waits(run: Run, terminal: Terminal) -> list[str]:
    run.wait(lambda: run.row(terminal)["state"] == "needs_you", "a session that needs its person")
    row = run.row(terminal)
    run.wait(lambda: _dialogs(run, row["key"]), "an item in the inbox")
    done = subprocess.run(
        [str(run.place.programs.tidings), "ps", "--data", str(run.place.root / "data")], env=run.place.env(),
        capture_output=True, text=True, timeout=SECONDS_MAX, check=True, **run.place.programs.as_user(),
    )
    problems = [] if row.get("waits_for") == "permission prompt" else [f"it waits for {row.get('waits_for')}"]
    return problems + ([] if "needs you" in done.stdout else [f"ps says {done.stdout}"])


def _r2_paused_server(run: Run) -> list[str]:
    """A server that stands still while a dialog opens: the hook is patient beside it, and the request arrives."""
    hooks = run.place.config / "skills" / "tidings" / "hooks" / "hooks.json"
    with_patience = hooks.read_text()
    hooks.write_text(re.sub(rf', "--reply-ms", "{REPLY_MS}"', "", with_patience))
    before = run.counted()
    try:
        with run.another(*MANUAL) as terminal:
            run.row(terminal)
            run.signal(signal.SIGSTOP)
            try:
                run.say("please [count]", terminal)
                terminal.wait_screen(DIALOG)
            finally:
                run.signal(signal.SIGCONT)
            item, = run.asked(terminal=terminal)
            status, body = run.decide(item, "allow")
            terminal.wait_screen(DONE)
            terminal.wait_status("idle")
            run.asked(count=0, terminal=terminal)
    finally:
        hooks.write_text(with_patience)
    problems = [] if status == 200 else [f"the answer got {status} {body}"]
    return problems + ([] if run.counted() == before + 1 else ["the command did not run once"])


def _r11_rejected_meanwhile(run: Run) -> list[str]:
    """Esc while the server stands still, and while there is none: the call ends once."""
    problems = []
    for stop, go_on in (
        (lambda: run.signal(signal.SIGSTOP), lambda: run.signal(signal.SIGCONT)), (run.kill, run.serve), (run.stop, run.serve),
    ):
        run.say("please [count]")
        item, = run.asked()
        run.terminal.wait_screen(DIALOG)
        stop()
        try:
            # A second Escape would open another dialog.
            time.sleep(DIALOG_SECONDS)
            run.terminal.keys("Escape")
            run.terminal.wait_screen(lambda screen: DIALOG not in screen)
            run.idle()
            run.result(item["tool_use_id"])
        finally:
            go_on()
        run.asked(count=0)
        # Everything before it has become events.
        run.say("once more, please [greet]")
        run.terminal.wait_screen(lambda screen: DONE in screen.rpartition("once more")[2])
        run.idle()
        run.wait(lambda: run.row()["state"] == "idle", "the end of the turn")
        ends = [event for event in run.history(run.row()["key"]) if "ToolCompleted" in event]
        ended = [event["ToolCompleted"]["tool_use_id"] for event in ends].count(item["tool_use_id"])
        problems += [] if ended == 1 else [f"the call ended {ended} times"]
    return problems + run.differences()


def _r4_finished_runs(run: Run) -> list[str]:
    """`claude -p` exits a moment after its last turn, whose end is not in the file."""
    known = {row["key"] for row in run.web.call("GET", "/v1/sessions")[1]["items"]}
    _claude(run, "-p", "please [greet]", *MANUAL)

    def ended() -> dict[str, Any] | None:
        rows = run.web.call("GET", "/v1/sessions")[1]["items"]
        return next((row for row in rows if row["key"] not in known and row["state"] in ("stopped", "interrupted")), None)

    row = run.wait(ended, "the end of the session")
    problems = [] if row["state"] == "stopped" and "error" not in row else [f"it is {row['state']}: {row.get('error')}"]
    items = run.web.call("GET", f"/v1/inbox?state=all&session={row['key']}")[1]["items"]
    return problems + [f"in the inbox: {item}" for item in items]


def _r8_background_waits(run: Run) -> list[str]:
    """A session of `claude --bg` waits with its request; `claude agents` keeps a process ready, which is no session."""
    before = run.counted()
    known = {row["key"] for row in run.web.call("GET", "/v1/sessions")[1]["items"]}
    _claude(run, "--bg", "please [count]", *MANUAL)

    def new() -> list[dict[str, Any]]:
        return [row for row in run.web.call("GET", "/v1/sessions")[1]["items"] if row["key"] not in known]

    try:
        run.wait(lambda: new() and new()[0]["pending_permissions"] == 1, "the request of the session in the background")
        row, = new()
        item, = run.web.call("GET", f"/v1/permissions?session={row['key']}")[1]["items"]
        problems = [] if row["state"] == "needs_you" and "answer" in row["capabilities"] else [f"it waits as {row}"]
        status, body = run.decide(item, "allow")
        problems += [] if status == 200 else [f"the answer got {status} {body}"]
        run.wait(lambda: DONE in json.dumps(run.history(row["key"])), "its answer")
        pane = Pane(run.place, run.api.url, [str(run.place.programs.claude), "agents"])
        try:
            spare = '"spare":true'
            files = run.place.config / "sessions"
            run.wait(lambda: any(spare in path.read_text() for path in files.glob("*.json")), "a process that is kept ready")
            # A hook of an unknown session makes the server look for processes before it answers.
            with run.another(*MANUAL) as terminal:
                key = run.row(terminal)["key"]
            problems += [f"another row: {each}" for each in new() if each["key"] not in (row["key"], key)]
        finally:
            pane.close()
        return problems + ([] if run.counted() == before + 1 else ["the command did not run once"])
    finally:
        _end_background(run)


def _claude(run: Run, *args: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(run.place.programs.claude), *args], env=run.place.env(run.api.url, env), cwd=run.place.project,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX, check=False,
        **run.place.programs.as_user(),
    )
    if done.returncode != 0:
        raise RuntimeError(f"claude {args[0]}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout


def _end_background(run: Run) -> None:
    """Ends the processes that `--bg` started: the session, and the program that keeps it."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            is_ours = f"CLAUDE_CONFIG_DIR={run.place.config}".encode() in environment.split(b"\0")
            program = (process / "exe").resolve()
        except OSError:
            continue
        if is_ours and program == run.place.programs.claude and int(process.name) != run.terminal.pid:
            os.kill(int(process.name), signal.SIGTERM)


CASES: list[Callable[[Run], list[str]]] = [
    _served,
    _identical_calls,
    _cleared,
    _stopped_server,
    _growing_file,
    _r2_waits_without_hooks,
    _r2_paused_server,
    _r11_rejected_meanwhile,
    _r4_finished_runs,
]
LONG_CASES: list[Callable[[Run], list[str]]] = [
    _sub_agent,
    _plan_from_the_keyboard,
    _background,
    # Earlier versions make requests of such sessions in another way.
    *[_r8_background_waits] * (not OTHER_CLAUDE),
]
