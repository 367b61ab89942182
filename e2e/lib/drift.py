"""The messages and the behaviour of one version of Claude Code, and the differences of two versions as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import money

# Objects whose keys are data and not fields: names of tools, models, servers and files.
DATA = {
    "annotations", "env", "headers", "input", "input_schema", "inputSchema", "modelUsage", "model_usage", "properties",
    "structured_output", "tool_input", "tool_response", "tool_use_result", "updatedInput", "updated_input",
}
DEPTH_MAX = 6
# Characters of a problem in the table.
PROBLEM_MAX = 240


@dataclass
class Inventory:
    """Names that a version uses, and the results of its scenarios."""

    version: str
    frames: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    options: set[str] = field(default_factory=set)
    hooks: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    # What sessions cost, by moment.
    money: dict[str, str] = field(default_factory=dict)
    # Problems by scenario and column.
    failed: dict[str, str] = field(default_factory=dict)
    cells: int = 0

    @classmethod
    def gather(cls, version: str, runs: Path, results: Path, help_text: str, sdk: Path | None) -> Inventory:
        found = cls(version)
        for path in runs.rglob("*-cli-*/*.stdout.ndjson"):
            for line in path.read_bytes().splitlines():
                found.read_line(line)
        for line in results.read_text().splitlines():
            result = json.loads(line)
            found.cells += 1
            if not result["ok"]:
                problem = " ".join(result["problem"].split()).replace(str(runs), "…")
                found.failed[result["case"]] = problem if len(problem) <= PROBLEM_MAX else problem[:PROBLEM_MAX] + "…"
        found.money = money.gather(runs)
        found.options = set(re.findall(r"^\s+(?:-\w, )?(--[a-z][\w-]*)", help_text, re.MULTILINE))
        if sdk:
            found.read_types("\n".join(path.read_text() for path in sorted(sdk.glob("*.d.ts"))))
        return found

    def read_line(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except ValueError:
            return
        if not isinstance(frame, dict) or "type" not in frame:
            return
        kind = kind_of(frame)
        self.frames.add(kind)
        self.fields.update(f"{kind} {path}" for path in paths(frame))

    def read_types(self, text: str) -> None:
        events = re.search(r"HOOK_EVENTS: readonly \[([^\]]*)\]", text)
        self.hooks = set(re.findall(r"['\"](\w+)['\"]", events[1])) if events else set()
        self.types = set(re.findall(r"^export declare (?:type|const|function|class|interface) (\w+)", text, re.MULTILINE))
        self.types |= {f"subtype {name}" for name in re.findall(r"\bsubtype: '(\w+)'", text)}
        options = re.search(r"^export declare type Options = \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL)
        if options:
            self.types |= {f"Options.{name}" for name in re.findall(r"^    (\w+)\??:", options[1], re.MULTILINE)}


def kind_of(frame: dict[str, Any]) -> str:
    """The name of a frame: its type and subtype, or those of what it carries."""
    inner = frame.get("request") or frame.get("response") or frame.get("event") or {}
    inner = inner if isinstance(inner, dict) else {}
    name = frame.get("subtype") or inner.get("subtype") or inner.get("type")
    return f"{frame['type']}/{name}" if name else str(frame["type"])


def paths(value: Any, before: str = "", depth: int = 0) -> Iterator[str]:
    """The paths of all fields; items of a list count as one, by their type."""
    if depth > DEPTH_MAX:
        return
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                label = item.get("type") if isinstance(item.get("type"), str) else ""
                yield from paths(item, f"{before}[{label}]", depth + 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            path = f"{before}.{key}" if before else key
            yield path
            if key not in DATA:
                yield from paths(inner, path, depth + 1)


def report(before: Inventory, after: Inventory) -> tuple[str, bool]:
    """The differences as a document, and whether a promise broke."""
    newly = {case: why for case, why in after.failed.items() if case not in before.failed}
    rows = []
    for name in ("frames", "fields", "hooks", "options", "types"):
        old, new = getattr(before, name), getattr(after, name)
        if name in ("hooks", "types") and not new:
            rows.append((name, "not compared: there is no SDK of this version", ""))
            continue
        # A new frame has new fields only, which are not listed again.
        skip = before.frames ^ after.frames if name == "fields" else set()
        differ = [sorted(each for each in side if each.split(" ")[0] not in skip) for side in (new - old, old - new)]
        rows.append((name, *(shown(side) for side in differ)))
    lines = [
        f"# Claude Code {after.version}, compared with {before.version}",
        "",
        f"Made by `make drift CLI={after.version}`: {after.cells} cells of the scenarios ran on each version.",
        "A field or frame is listed if one version sent it in these scenarios and the other did not.",
        "",
        "| what | only in " + after.version + " | only in " + before.version + " |",
        "|---|---|---|",
        *(f"| {name} | {new} | {old} |" for name, new, old in rows),
        "",
        *money.report(before.money, after.money, (before.version, after.version)),
        "## Changed behaviour",
        "",
    ]
    if newly:
        lines += ["| scenario | problem |", "|---|---|"]
        lines += [f"| {case} | {why.replace('|', chr(92) + '|')} |" for case, why in sorted(newly.items())]
    else:
        lines.append(f"None: every cell that passes on {before.version} passes on {after.version}.")
    both = sorted(set(before.failed) & set(after.failed))
    if both:
        lines += ["", f"These fail on both versions: {', '.join(both)}."]
    verdict = "broken, see the table above" if newly else "kept"
    lines += ["", f"Promises: {verdict}.", ""]
    return "\n".join(lines), bool(newly)


def shown(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"
