"""One scenario through our SDK and the official Python SDK, on the real CLI: both must behave the same.

Each driver prints a log. Before the logs are compared, varying parts are normalised: ids are renamed
by their first occurrence, folders get one name, times are removed, and the deltas of a streamed block are joined.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .api import Api
from .check import fits
from .cli import E2E, Place, Programs
from .compare import INTERNAL_FRAMES, INTERNAL_KEYS
from .scenario import Scenario, write_script

SECONDS_MAX = 60
KINDS = ("message", "call", "reply")
# Normalised messages, requests, replies and texts of errors.
Normal = tuple[list[Any], list[Any], list[Any], list[Any]]
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Keys whose values are ids of another form, which may also occur inside other texts.
ID_KEYS = {"message_id", "request_id", "task_id", "agent_id", "agentId", "prompt_id", "run_id", "runId"}
TIME_KEYS = {"timestamp", "totalDurationMs", "durationMs", "elapsed_time_seconds", "end_time", "pid"}
# Token counts depend on the name of the SDK, which is part of the request.
SIZE_KEYS = {"input_tokens", "inputTokens", "costUSD", "total_cost_usd", "total_tokens", "totalTokens"}
# The CLI's own texts with parts that are generated anew each time.
MADE_UP = [
    (re.compile(r"127\.0\.0\.1:\d+"), "@API@"),
    (re.compile(r"((?:total_tokens|subagent_tokens|duration_ms): )\d+"), r"\1@SIZE@"),
    (re.compile(r"plans/[a-z-]+\.md"), "plans/@PLAN@.md"),
    (re.compile(r"(Total duration \(\w+\): +)\d+s"), r"\1@TIME@"),
]


@dataclass
class Lines:
    """The output of a driver, ordered per kind, since answers to requests come at any time."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    replies: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        for line in filter(None, text.split("\n")):
            try:
                (kind, value), = json.loads(line).items()
            except ValueError:
                self.problems.append(f"not a line of the driver: {line[:200]}")
                continue
            target = {"message": self.messages, "call": self.calls, "reply": self.replies, "error": self.errors}
            target.get(kind, []).append(value)


def play(programs: Programs, place: Place, scenario: Scenario, who: str) -> Lines:
    """All runs of a scenario through one SDK: `rs` or `py`."""
    seen = Lines()
    if (scenario.folder / "files").is_dir():
        shutil.copytree(scenario.folder / "files", place.project, dirs_exist_ok=True)
        place.hand_over()
    for number, plan in enumerate(scenario.sdk_runs(place), 1):
        script = write_script(place, scenario.folder / plan.pop("script", "script.toml"), number)
        expect = plan.pop("expect", [])
        path = place.root / f"plan-{number}.json"
        said = [message["uuid"] for message in seen.messages if message["type"] == "assistant"]
        text = json.dumps(plan)
        for at, uuid in enumerate(said, 1):
            text = text.replace(f"@ASSISTANT{at}@", uuid)
        path.write_text(text)
        before = len(seen.messages), len(seen.calls), len(seen.replies), len(seen.errors)
        with Api(programs, script, place.root / f"api-{number}.ndjson") as api:
            _drive(programs, place, path, who, place.env(api.url), seen, number)
            left_over = api.close()
        if left_over and not seen.problems:
            seen.problems.append(left_over)
        parts = (seen.messages, seen.calls, seen.replies, seen.errors)
        seen.problems += unmet([part[at:] for part, at in zip(parts, before)], expect)
    return seen


def _drive(programs: Programs, place: Place, plan: Path, who: str, env: dict[str, str], seen: Lines, number: int) -> None:
    if who == "rs":
        # Ours runs as the same user as the CLI: the files that it writes for the CLI are private.
        command = [str(programs.driver), str(plan), str(programs.claude)]
        user = programs.as_user()
    else:
        shim = place.root / "claude-shim"
        words = " ".join(shlex.quote(word) for word in [*programs.drop_rights(), str(programs.claude)])
        shim.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        shim.chmod(0o755)
        command = [*programs.python, str(E2E / "driver_py.py"), str(plan), str(shim)]
        user = {}
    child = subprocess.Popen(
        command, cwd=place.project, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, text=True, encoding="utf-8", errors="surrogatepass", **user)
    try:
        out, err = child.communicate(timeout=SECONDS_MAX)
        if child.returncode:
            seen.problems.append(f"the driver ended with {child.returncode}: {err.strip()[-800:]}")
    except subprocess.TimeoutExpired:
        _end(child)
        out, err = child.communicate()
        seen.problems.append(f"no end within {SECONDS_MAX} s: {err.strip()[-800:]}")
    finally:
        _end(child)
    (place.root / f"{who}-{number}.ndjson").write_text(out, errors="surrogatepass")
    (place.root / f"{who}-{number}.stderr").write_text(err, errors="replace")
    seen.add(out)


def _end(child: subprocess.Popen[str]) -> None:
    """Kills the driver and its process group, with a CLI that it left, unless that has a group of its own."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def unmet(parts: list[list[dict[str, Any]]], expected: list[dict[str, Any]]) -> list[str]:
    """`{"message" | "call" | "reply" | "error": {…}}`: one has these members; `count` is their number."""
    found = []
    for each in expected:
        kind = next(key for key in each if key != "count")
        those = parts[["message", "call", "reply", "error"].index(kind)]
        fitting = [one for one in those if fits(each[kind], one)]
        if ("count" in each and len(fitting) != each["count"]) or ("count" not in each and not fitting):
            shown = json.dumps(those[-2:])[:900]
            found.append(f"{len(fitting)} times {json.dumps(each)}; the last of {len(those)}: {shown}")
    return found


# The comparison


def differences(theirs: Normal, ours: Normal) -> list[str]:
    """Differences of our SDK, one sentence each."""
    found: list[str] = []
    for what, a, b in zip(KINDS, theirs[:3], ours[:3]):
        names_a, names_b = [name(what, each) for each in a], [name(what, each) for each in b]
        for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, names_a, names_b, autojunk=False).get_opcodes():
            if tag == "equal":
                for one, other, called in zip(a[a1:a2], b[b1:b2], names_a[a1:a2]):
                    found += [f"other {what} {called} {words}" for words in inside(one, other, "")]
                continue
            found += [f"only theirs {what} {called}" for called in names_a[a1:a2]]
            found += [f"only ours {what} {called}" for called in names_b[b1:b2]]
    if len(theirs[3]) != len(ours[3]):
        found.append(f"other errors: theirs {theirs[3]}, ours {ours[3]}")
    return list(dict.fromkeys(found))


def name(what: str, each: dict[str, Any]) -> str:
    if what == "reply":
        return f"{each['to']}{' refused' if 'refused' in each else ''}"
    kind = str(each.get("type"))
    if kind == "can_use_tool":
        return f"{kind}:{each['tool']}"
    if kind == "hook":
        return f"{kind}:{each['input'].get('hook_event_name')}"
    if kind == "stream_event":
        return f"{kind}:{each['event']['type']}"
    if isinstance(each.get("content"), list):
        return f"{kind}:{'+'.join(block['type'] for block in each['content'])}"
    return f"{kind}:{each['subtype']}" if each.get("subtype") else kind


def inside(theirs: Any, ours: Any, path: str) -> list[str]:
    """The innermost differences of two values."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found = []
        for key in sorted(theirs.keys() | ours.keys()):
            step = f"{path}.{key}" if path else key
            if key not in ours:
                found.append(f"{step}: only theirs, {_short(theirs[key])}")
            elif key not in theirs:
                found.append(f"{step}: only ours, {_short(ours[key])}")
            else:
                found += inside(theirs[key], ours[key], step)
        return found
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return [words for at, pair in enumerate(zip(theirs, ours)) for words in inside(*pair, f"{path}[{at}]")]
    same = theirs == ours and type(theirs) is type(ours) or (
        isinstance(theirs, (int, float)) and isinstance(ours, (int, float)) and math.isclose(theirs, ours))
    return [] if same else [f"{path}: theirs {_short(theirs)}, ours {_short(ours)}"]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 160 else text[:160] + "…"


def normal(lines: Lines, place: Place) -> Normal:
    """The lines without the parts that must vary."""
    internal = {kind.split(":")[0] for kind in INTERNAL_FRAMES if ":" not in kind}
    messages = [each for each in lines.messages if each["type"] not in internal]
    messages = [each for each in messages if f"{each['type']}:{each.get('subtype')}" not in INTERNAL_FRAMES]
    # The text of a refusal differs between SDKs; that it is one is in its name.
    replies = [{"to": each["to"], "refused": True} if "refused" in each else each for each in lines.replies]
    parts: list[Any] = [_sorted_results(_joined(messages)), lines.calls, replies, [error["text"] for error in lines.errors]]
    parts = [[_plain(each) for each in part] for part in parts]
    names = _names(parts)
    root, dashed = str(place.root), re.sub(r"[^a-zA-Z0-9]", "-", str(place.root))
    programs = str(place.programs.claude.parent)
    ids = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"\Z.")

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {rename(key): rename(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [rename(inner) for inner in value]
        if isinstance(value, str):
            value = ids.sub(lambda found: names[found.group()], value)
            value = value.replace(root, "@ROOT@").replace(dashed, "@ROOT@").replace(programs, "@PROGRAMS@")
            for pattern, word in MADE_UP:
                value = pattern.sub(word, value)
            return value
        return value

    messages, calls, replies, errors = (rename(part) for part in parts)
    return messages, calls, replies, errors


def _joined(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Joins the deltas of a streamed block, whose number depends on the network."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        event = message.get("event") or {}
        if event.get("type") == "content_block_delta":
            delta, last = dict(event["delta"]), joined[-1].get("event", {}) if joined else {}
            if last.get("type") == event["type"] and last["delta"]["type"] == delta["type"]:
                for key in ("text", "thinking", "partial_json"):
                    if key in delta:
                        last["delta"][key] += delta[key]
                continue
            message = message | {"event": event | {"delta": delta}}
        if message.get("subtype") == "thinking_tokens" and any(
                each.get("subtype") == "thinking_tokens" for each in joined[-2:]):
            continue
        joined.append(message)
    return joined


def _sorted_results(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sorts the results of parallel calls, which come as the tools end."""
    def tool(message: dict[str, Any]) -> str:
        content = message.get("content")
        return content[0].get("tool_use_id", "") if isinstance(content, list) and content else ""

    return [each for _, run in itertools.groupby(messages, lambda message: bool(tool(message)))
            for each in sorted(run, key=tool)]


def _plain(value: Any, kind: str = "") -> Any:
    """Removes times, unpublished members, and empty members, which one side omits."""
    if isinstance(value, list):
        return [_plain(inner, kind) for inner in value]
    if not isinstance(value, dict):
        return value
    if not kind and "type" in value:
        kind = f"{value['type']}:{value['subtype']}" if value.get("subtype") else str(value["type"])
    internal = INTERNAL_KEYS.get(kind, set())
    return {
        key: _plain(inner, kind) for key, inner in value.items()
        if not (key in TIME_KEYS or key in SIZE_KEYS or key.endswith("_ms") or key in internal or inner is None or inner == []
                or (key == "is_error" and inner is False))
    }


def _names(parts: list[Any]) -> dict[str, str]:
    """A name for each id by its first occurrence, so that one more on one side renames no others."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}

    def collect(value: Any, path: str, key: str = "") -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                collect(value[key], f"{path}.{key}", key)
        elif isinstance(value, list):
            for at, inner in enumerate(value):
                collect(inner, f"{path}[{at}]")
        elif isinstance(value, str) and value:
            whole = [value] if key in ID_KEYS else []
            for found in whole + UUID.findall(value):
                names.setdefault(found, f"<{path}>")

    for what, part in zip(KINDS, parts):
        for each in part:
            called = str(each.get("type", what))
            counts[called] = counts.get(called, 0) + 1
            collect(each, f"{called}#{counts[called]}")
    return names
