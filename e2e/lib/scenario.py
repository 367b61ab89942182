"""Scenarios on disk: the model (`script.toml`), and a host program (`host.json`) or an SDK (`sdk.json`)."""

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
    """One folder. A folder with only a script belongs to the checks of the official SDKs."""

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
        """The processes to run, in order, with their arguments and scripts filled in."""
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
        """The runs of an SDK, in order; `python` applies to the whole scenario."""
        sdk = json.loads(place.fill((self.folder / "sdk.json").read_text()))
        sdk.pop("python", None)
        return sdk.get("runs", [sdk])

    @property
    def has_twin(self) -> bool:
        """True if the official Python SDK supports this too."""
        return bool(self._python)

    @property
    def has_recording(self) -> bool:
        """True if the run of the official Python SDK is recorded."""
        return self._python is True

    @property
    def _python(self) -> bool | str:
        return json.loads((self.folder / "sdk.json").read_text()).get("python", True)


def write_script(place: Place, source: Path, number: int = 1) -> Path:
    """A copy of the script with the path of the project."""
    target = place.root / f"script-{number}.toml"
    target.write_text(place.fill(source.read_text()))
    return target


def all_scenarios() -> list[Scenario]:
    return [Scenario(path.name, path) for path in sorted(FOLDER.iterdir()) if (path / "script.toml").exists()]
