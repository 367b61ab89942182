"""Scenarios on disk: what the model says (`script.toml`), and what a host (`host.json`) or an SDK (`sdk.json`) does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cli import E2E, Place
from .host import BASE_ARGS

FOLDER = E2E / "scenarios"


@dataclass
class Scenario:
    """One folder. With a script alone, it is one that the checks of the official SDKs use."""

    name: str
    folder: Path

    @property
    def is_host(self) -> bool:
        return (self.folder / "host.json").exists()

    @property
    def is_twins(self) -> bool:
        return (self.folder / "sdk.json").exists()

    @property
    def is_check(self) -> bool:
        return not self.is_host and not self.is_twins

    @property
    def script(self) -> Path:
        return self.folder / "script.toml"

    def plans(self, place: Place) -> list[dict[str, Any]]:
        """The processes to run, one after the other, with their arguments and scripts filled in."""
        host = json.loads(place.fill((self.folder / "host.json").read_text()))
        plans = []
        for number, run in enumerate(host.get("runs", [host]), 1):
            args = run.get("args", [])
            plan = run | {
                "args": args if run.get("bare") else BASE_ARGS + args,
                "script": write_script(place, self.folder / run.get("script", "script.toml"), number),
            }
            plans.append(plan)
        return plans


    def sdk_runs(self, place: Place) -> list[dict[str, Any]]:
        """The runs of an SDK, one after the other; `python` and what it says is for the whole scenario."""
        sdk = json.loads(place.fill((self.folder / "sdk.json").read_text()))
        sdk.pop("python", None)
        return sdk.get("runs", [sdk])

    @property
    def has_twin(self) -> bool:
        """Whether the official Python SDK can do this too."""
        return json.loads((self.folder / "sdk.json").read_text()).get("python", True)


def write_script(place: Place, source: Path, number: int = 1) -> Path:
    """A copy of the script that knows where the project is."""
    target = place.root / f"script-{number}.toml"
    target.write_text(place.fill(source.read_text()))
    return target


def all_scenarios() -> list[Scenario]:
    return [Scenario(path.name, path) for path in sorted(FOLDER.iterdir()) if (path / "script.toml").exists()]
