"""The table at the end: a row per scenario, a column per pairing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

COLUMNS = ["cli×api", "agent=cli", "sessions", "rs-sdk", "rs=py", "py-sdk", "ts-sdk"]


@dataclass
class Cell:
    """The outcome of one pairing: a word per part of it (`ok`, `FAIL`), and the problems."""

    parts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    tries: int = 1
    # The problems of the first try, if a later one was ok.
    first_problems: list[str] = field(default_factory=list)

    def add(self, problems: list[str], label: str = "") -> None:
        self.parts.append("FAIL" if problems else "ok")
        self.problems += [f"{label}: {problem}" if label else problem for problem in problems]

    @property
    def failed(self) -> bool:
        return "FAIL" in self.parts

    def __str__(self) -> str:
        return "+".join(self.parts) or "-"


@dataclass
class Row:
    """One scenario with its results."""

    name: str
    cells: dict[str, Cell] = field(default_factory=dict)
    seconds: float = 0
    said: str = ""

    def cell(self, column: str) -> Cell:
        return self.cells.setdefault(column, Cell())

    @property
    def failed(self) -> bool:
        return any(cell.failed for cell in self.cells.values())


def tried(play: Callable[[], Row], tries_max: int) -> Row:
    """Runs a row until each of its cells was ok once, `tries_max` times at most."""
    row = play()
    for number in range(2, tries_max + 1):
        if not row.failed:
            break
        again = play()
        row.seconds += again.seconds
        for column, cell in row.cells.items():
            if cell.failed and column in again.cells:
                row.cells[column] = replace(again.cells[column], tries=number)
                row.cells[column].first_problems = cell.first_problems or cell.problems
    return row


def results(rows: list[Row]) -> list[dict[str, object]]:
    """One entry per cell, in the form that `scripts/results.py` and `scripts/shake.py` read."""
    return [
        {
            "stage": "e2e", "case": f"{row.name}, {column}", "tries": cell.tries, "ok": not cell.failed,
            "problem": "\n".join(cell.problems or cell.first_problems),
        }
        for row in rows for column, cell in row.cells.items()
    ]


def show(rows: list[Row], columns: list[str]) -> str:
    """The table as text."""
    width = max([len(row.name) for row in rows] + [8])
    lines = ["  ".join(["scenario".ljust(width), *(column.ljust(9) for column in columns), "seconds"])]
    for row in rows:
        cells = [str(row.cells.get(column, Cell())).ljust(9) for column in columns]
        lines.append("  ".join([row.name.ljust(width), *cells, f"{row.seconds:7.1f}"]))
    lines += [f"{row.name}: {row.said}" for row in rows if row.said]
    return "\n".join(lines)


def problems(rows: list[Row]) -> str:
    """The problems, under the name of the scenario and the column."""
    lines: list[str] = []
    for row in rows:
        for column, cell in row.cells.items():
            if cell.problems:
                lines.append(f"\n{row.name}, {column}:")
                lines += ["  " + problem.replace("\n", "\n    ") for problem in cell.problems]
    return "\n".join(lines)


def totals(rows: list[Row], extra_failed: int = 0) -> tuple[str, bool]:
    """The last line, and the overall success. A cell that stands for two runs counts as two."""
    parts = [part for row in rows for cell in row.cells.values() for part in cell.parts]
    failed = parts.count("FAIL") + extra_failed
    return f"{parts.count('ok')} passed, {failed} failed", failed == 0
