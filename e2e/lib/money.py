"""What a version says that sessions cost: totals after an interrupt, a compaction and a resume.

The meaning of a total is documented nowhere and has changed between versions: 2.1.327 counts an interrupted response,
2.1.325 did not. The scripts of these scenarios have token counts of their own, so that a total depends on the meaning
only, and not on the length of a version's system prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Scenarios, and what happens to the session in them.
SCENARIOS = {
    "compact-manual": "compacted",
    "interrupt-stream": "interrupted",
    "session-fork": "forked",
    "session-resume": "resumed",
}


def gather(runs: Path) -> dict[str, str]:
    """The total at each result of each scenario, and in the records that the session files end with."""
    found: dict[str, str] = {}
    for name, event in SCENARIOS.items():
        # A scenario that was tried again has two folders.
        folders = sorted(runs.rglob(f"{name}-cli-*"), key=lambda folder: folder.stat().st_mtime)
        for folder in folders[-1:]:
            for path in sorted(folder.glob("*.stdout.ndjson")):
                results = [frame for frame in lines(path) if frame.get("type") == "result"]
                process = path.name.split(".")[0]
                for number, frame in enumerate(results, 1):
                    what = f"{event}: process {process}, result {number} ({frame.get('subtype')})"
                    found[what] = said(frame.get("total_cost_usd"), frame.get("modelUsage"), frame.get("usage"))
            # Session files have random names, but few of them, and their records differ by their totals.
            records = (line for path in sorted(folder.rglob("*.jsonl")) for line in lines(path))
            states = sorted(said(line.get("totalCostUSD"), line.get("modelUsage"), None)
                            for line in records if line.get("type") == "cost-state")
            found[f"{event}: cost records in the session files"] = "; ".join(states) or "none"
    return found


def lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def said(total: Any, models: Any, usage: Any) -> str:
    """A total with its tokens: all input and output by model, and of the turn."""
    parts = [f"${total:.4f}" if isinstance(total, (int, float)) else f"total {total!r}"]
    if isinstance(models, dict):
        read = sum(each.get("inputTokens", 0) for each in models.values())
        written = sum(each.get("outputTokens", 0) for each in models.values())
        parts.append(f"models {read}+{written}")
    if isinstance(usage, dict):
        parts.append(f"turn {usage.get('input_tokens')}+{usage.get('output_tokens')}")
    return ", ".join(parts)


def report(before: dict[str, str], after: dict[str, str], versions: tuple[str, str]) -> list[str]:
    """The totals as a section of the drift report."""
    rows = [(what, after.get(what, "–"), before.get(what, "–")) for what in sorted({*before, *after})]
    different = sum(new != old for _, new, old in rows)
    verdict = (f"**{different} of {len(rows)} totals differ**: look at everything that adds costs up." if different
               else "The totals are the same.")
    return [
        "## Money",
        "",
        "Costs as Claude Code says them, with input and output tokens: of all models so far, and of the turn.",
        verdict,
        "",
        f"| session | {versions[1]} | {versions[0]} |",
        "|---|---|---|",
        *(f"| {what} | {new} | {old if new != old else 'the same'} |" for what, new, old in rows),
        "",
    ]
