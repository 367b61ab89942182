"""A scenario's own assertions, and a check that every frame can be decoded."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from .cli import Programs
from .compare import INTERNAL_FRAMES
from .host import Record, is_named


def problems_of(record: Record, plan: dict[str, Any]) -> list[str]:
    """Failed assertions of the plan's `expect`, `order`, `exit`, `stdout` and `stderr`."""
    found = list(record.problems)
    if record.exit != plan.get("exit", 0):
        said = record.stderr.strip()[-300:]
        found.append(f"exit code {record.exit}, expected {plan.get('exit', 0)}; stderr: {said!r}")
    for name in ("stdout", "stderr"):
        if name in plan:
            said = record.stdout.decode(errors="replace") if name == "stdout" else record.stderr
            if not fits(plan[name], said):
                found.append(f"{name} is {said[:300]!r}, expected {plan[name]!r}")
    if "order" in plan:
        found += missing_in_order([seen.name for seen in record.seen], plan["order"])
    for expected in plan.get("expect", []):
        found += unmet(record, expected)
    return found


def missing_in_order(names: list[str], order: list[str]) -> list[str]:
    """Every name must occur, in order; others may stand between them."""
    at = 0
    for pattern in order:
        while at < len(names) and not is_named(names[at], pattern):
            at += 1
        if at == len(names):
            return [f"{pattern} did not come in order; came: {' '.join(names)}"]
        at += 1
    return []


def unmet(record: Record, expected: dict[str, Any]) -> list[str]:
    """`frame` is the kind; `nth` selects one of them, `count` is their number, `has` the required members."""
    those = [seen.frame for seen in record.seen if is_named(seen.name, expected["frame"])]
    if "count" in expected and len(those) != expected["count"]:
        return [f"{len(those)} times {expected['frame']}, expected {expected['count']}"]
    if "has" not in expected:
        return [] if those or "count" in expected else [f"no {expected['frame']} came"]
    if "nth" in expected:
        those = those[expected["nth"]:][:1]
    if any(fits(expected["has"], frame) for frame in those):
        return []
    shown = json.dumps(those[-1])[:600] if those else "none came"
    return [f"no {expected['frame']} has {json.dumps(expected['has'])}; the last: {shown}"]


def fits(expected: Any, actual: Any) -> bool:
    """True if everything expected is present; more is allowed.

    `{"$contains": text}` and `{"$length": n}` match parts.
    """
    if isinstance(expected, dict):
        if "$contains" in expected:
            return isinstance(actual, (str, list)) and expected["$contains"] in actual
        if "$length" in expected:
            return isinstance(actual, (str, list, dict)) and len(actual) == expected["$length"]
        if "$lacks" in expected:
            return isinstance(actual, dict) and expected["$lacks"] not in actual
        return isinstance(actual, dict) and all(key in actual and fits(v, actual[key]) for key, v in expected.items())
    if isinstance(expected, list):
        return (isinstance(actual, list) and len(expected) == len(actual)
                and all(fits(left, right) for left, right in zip(expected, actual)))
    return type(expected) is type(actual) and expected == actual or (
        isinstance(expected, (int, float)) and not isinstance(expected, bool) and expected == actual)


def undecodable(programs: Programs, stdout: Path) -> list[str]:
    """Findings of `tidings frames check`: with a pinned CLI every frame is typed and lossless."""
    done = subprocess.run(
        [str(programs.tidings), "frames", "check", "--json", str(stdout)], capture_output=True, timeout=60, check=False)
    try:
        counts = json.loads(done.stdout)
    except ValueError:
        return [f"frames check failed: {done.stderr.decode(errors='replace').strip()}"]
    # Unpublished frames need no type.
    internal = {name.replace(":", "/") for name in INTERNAL_FRAMES}
    counts["unknown"] -= sum(count for kind, count in counts["kinds"].items() if kind in internal)
    bad = {key: counts[key] for key in ("invalid", "noise", "lossy", "refused", "unknown") if counts[key] > 0}
    if not bad:
        return []
    details = subprocess.run(
        [str(programs.tidings), "frames", "check", str(stdout)], capture_output=True, timeout=60, check=False)
    return [f"frames check: {bad}\n{details.stdout.decode(errors='replace').strip()}"]
