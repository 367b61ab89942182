"""The sessions to measure with, and the expected results."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import generate

SEED = 7


@dataclass
class Tree:
    """A configuration folder; unknown results are `None` and not checked."""

    root: Path
    bytes: int
    sessions: int
    cost_usd: float | None
    tokens: dict[str, int] | None
    word: str | None
    word_lines: int | None
    largest: Path

    @property
    def projects(self) -> Path:
        return self.root / "projects"

    @classmethod
    def made(cls, folder: Path, size: int) -> Tree:
        """Generates the folder unless it exists already."""
        root = folder / ".claude"
        truth = read_truth(root)
        if truth is None or (truth.get("size"), truth.get("seed")) != (size, SEED):
            if root.exists():
                raise SystemExit(f"error: {root} holds other data\nhint: remove it, or give another --scratch")
            print(f"generating {size >> 20} MiB of sessions in {root}", file=sys.stderr)
            generate.make(folder, size, SEED)
        return cls.existing(root, None)

    @classmethod
    def existing(cls, root: Path, word: str | None) -> Tree:
        """Any configuration folder, with or without a `truth.json`."""
        truth = read_truth(root) or {}
        mains = list((root / "projects").glob("*/*.jsonl"))
        if not mains:
            raise SystemExit(f"error: there are no sessions in {root}\nhint: give the folder that contains `projects`")
        total = truth.get("total")
        return cls(
            root=root,
            bytes=sum(path.stat().st_size for path in (root / "projects").rglob("*.jsonl")),
            sessions=len(mains),
            cost_usd=total and total["cost_usd"],
            tokens=total and {key: total[key] for key in ("input", "output", "cache_write", "cache_read")},
            word=word or truth.get("word"),
            word_lines=truth.get("word_lines"),
            largest=max(mains, key=lambda path: path.stat().st_size),
        )


def read_truth(root: Path) -> dict | None:
    try:
        return json.loads((root / "truth.json").read_text())
    except FileNotFoundError:
        return None
