"""Tables and limits, and the page on which they are published."""

from __future__ import annotations

import os
import platform
import statistics
from dataclasses import dataclass
from pathlib import Path

from jobs import OURS, Measured, Result
from tree import Tree

BEGIN, END = "<!-- sessions: begin -->", "<!-- sessions: end -->"


@dataclass
class Bar:
    """A limit that a measurement must not exceed."""

    what: str
    bar: str
    found: str
    holds: bool


def table(result: Result) -> str:
    """One job as Markdown."""
    ours = result.row(OURS)
    lines = [f"\n### {result.job.title}\n"]
    head = "| program | CPU s | wall s | peak MiB | found |\n|---|--:|--:|--:|---|"
    if not result.job.alone:
        head = "| program | CPU s | × tidings | wall s | peak MiB | found |\n|---|--:|--:|--:|--:|---|"
    lines.append(head)
    for row in result.rows:
        ratio = "" if result.job.alone else f" {times(row, ours)} |"
        if row.failed:
            lines.append(f"| {row.title} | – |{' – |' if ratio else ''} – | – | {row.failed} |")
        else:
            wall, peak = statistics.median(row.wall), statistics.median(row.peak)
            lines.append(f"| {row.title} | {row.median_cpu:.3f} |{ratio} {wall:.2f} | {peak:.0f} | {row.found} |")
    return "\n".join(lines)


def times(row: Measured, ours: Measured | None) -> str:
    return "–" if ours is None or row.failed else f"{ratio(row, ours):.2f}"


def ratio(row: Measured, base: Measured) -> float:
    """The median of the ratios per round: a disturbance of a round affects both."""
    pairs = list(zip(row.cpu, base.cpu))
    return statistics.median(own / other for own, other in pairs)


def bars(results: list[Result], tree: Tree) -> list[Bar]:
    """The limits that the measurements cover."""
    found: list[Bar] = []
    by_name = {result.job.name: result for result in results}
    # Limits in seconds are for a gibibyte of sessions.
    size = tree.bytes / (1 << 30)

    def at_most(what: str, job: str, peer: str, limit: float, words: str) -> None:
        ours, other = row(job, OURS), row(job, peer)
        if ours and other:
            value = ratio(ours, other)
            found.append(Bar(what, words, f"{value:.2f}", value <= limit))

    def seconds(what: str, job: str, limit: float) -> None:
        if ours := row(job, OURS):
            found.append(Bar(what, f"{limit * 1000:.0f} ms", f"{ours.median_cpu * 1000:.0f} ms", ours.median_cpu <= limit))

    def row(job: str, title: str) -> Measured | None:
        return by_name[job].row(title) if job in by_name else None

    rivals = [rival for rival in (row("cost", "ccusage"), row("cost", "ccost")) if rival]
    if rivals:
        faster = min(rivals, key=lambda rival: rival.median_cpu)
        at_most(f"daily cost against {faster.title}", "cost", faster.title, 1 / 3, "1/3")
    at_most("daily cost against counting lines with grep", "cost", "grep", 2, "2")
    if ours := row("cost", OURS):
        peak = max(ours.peak)
        found.append(Bar("peak memory of daily cost", "100 MiB", f"{peak:.0f} MiB", peak <= 100))
        if tree.cost_usd is not None:
            found.append(Bar("daily cost is right", "to the cent", ours.found, ours.found.endswith("right")))
        if second := row("again", OURS):
            share = second.median_cpu / ours.median_cpu
            found.append(Bar("daily cost the second time", "5 % of the first", f"{share:.1%}", share < 0.05))
    seconds("status line", "statusline", 0.015)
    at_most("list against the Agent SDK", "list", "Agent SDK", 0.1, "1/10")
    at_most("search against ripgrep", "search", "ripgrep", 2, "2")
    at_most("page against claude-code-log", "html", "claude-code-log", 0.1, "1/10")
    seconds("building the index", "index", 8 * max(size, 0.01))
    if built := row("index", OURS):
        share = float(built.found.split("%")[0])
        found.append(Bar("size of the index", "15 %", f"{share:.1f} %", share <= 15))
    seconds("refreshing the index", "refresh", 0.05)
    seconds("search with the index", "query", 0.05)
    for result in results:
        for failed in (row for row in result.rows if row.failed and row.title == OURS):
            found.append(Bar(result.job.title, "runs", failed.failed, False))
    return found


def bar_table(bars: list[Bar]) -> str:
    lines = ["\n### Bars\n", "| what, by CPU time | at most | this run | |", "|---|--:|--:|---|"]
    lines += [f"| {bar.what} | {bar.bar} | {bar.found} | {'' if bar.holds else '**missed**'} |" for bar in bars]
    return "\n".join(lines)


def update(page: Path, results: list[Result], bars: list[Bar], tree: Tree, rounds: int) -> None:
    """Replaces the tables between the marks on the page."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    machine = f"{processor()}, {os.cpu_count()} cores, {platform.system()}"
    what = f"{tree.bytes / (1 << 20):.0f} MiB in {tree.sessions} sessions and their sub-agents; {machine}; {rounds} rounds."
    tables = "\n".join(table(result) for result in results)
    page.write_text(f"{before}{BEGIN}\n{what}\n{tables}\n{bar_table(bars)}\n{END}{after}")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
