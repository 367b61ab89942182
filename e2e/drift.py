#!/usr/bin/env python3
"""Compares another version of Claude Code with the pinned one, and reports what changed.

    make drift CLI=2.1.330          # or several: CLI="2.1.330 2.1.310"

The pinned version itself is compared with the one before it, which the title of its report names; AGAINST=VERSION
compares with any other.

It downloads that version of the CLI and of the TypeScript SDK, runs the scenarios on both versions of the CLI, and
writes a table to docs/drift/VERSION.md: frames and fields on the wire, hooks and messages of the SDK's types, options of
the command line, costs, and scenarios that no longer pass. Exit code 1 means that something that Tidings promises broke: a
frame that does not decode without loss, or a scenario of the CLI or of our SDK that passed before.

`e2e/install.sh` and `cargo build -p tidings-cli -p tidings-e2e-driver` come first. ONLY='bash-*' limits the scenarios.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from lib.cli import CACHE, E2E, PINNED, Missing  # noqa: E402
from lib.drift import Inventory, report  # noqa: E402

# The runs that must pass: the wire is decoded, and our SDK works.
PROMISED = ["cli×api", "rs-sdk"]
REPORTS = E2E.parent / "docs/drift"


def main() -> int:
    versions = sys.argv[1:]
    if not versions or not all(re.fullmatch(r"2\.\d+\.\d+", version) for version in versions):
        print("error: no version given\nhint: make drift CLI=2.1.330", file=sys.stderr)
        return 2
    try:
        known: dict[str, Inventory] = {}
        for version in [each for version in versions for each in (base_of(version), version)]:
            known[version] = known.get(version) or inventory(version)
        return max(written(known[base_of(version)], known[version]) for version in versions)
    except Missing as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 3


def base_of(version: str) -> str:
    """The version to compare with."""
    if "AGAINST" in os.environ:
        return os.environ["AGAINST"]
    report_path = REPORTS / f"{PINNED}.md"
    if version != PINNED or not report_path.exists():
        return PINNED
    return report_path.read_text().splitlines()[0].rpartition(" ")[2]


def written(before: Inventory, after: Inventory) -> int:
    """Writes the report of a version; returns the exit code."""
    text, broken = report(before, after)
    path = REPORTS / f"{after.version}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(f"{text}\nwritten to {path.relative_to(E2E.parent)}", flush=True)
    return 1 if broken else 0


def inventory(version: str) -> Inventory:
    """The messages and the behaviour of this version."""
    if version == PINNED:
        claude, types = CACHE / "claude", CACHE / "ts/node_modules/@anthropic-ai/claude-agent-sdk"
    else:
        claude, types = downloaded(version)
    if not claude.exists():
        raise Missing("the real CLI is not installed: run e2e/install.sh")
    print(f"running the scenarios on {version}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="tidings-drift-") as scratch:
        results = Path(scratch) / "results.ndjson"
        command = [sys.executable, "-B", str(E2E / "run.py"), "--keep", *selection()]
        env = os.environ | {"OTHER_CLAUDE": str(claude.resolve()), "OTHER_VERSION": version, "TMPDIR": scratch}
        env |= {"RESULTS": str(results), "TRIES": "2"}
        # The other user of the runs has to pass through this folder.
        Path(scratch).chmod(0o755)
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if not results.exists():
            raise Missing(f"the scenarios did not run: {done.stdout[-500:]}{done.stderr[-500:]}")
        help_text = subprocess.run(
            [str(claude), "--help"], env={"HOME": scratch, "PATH": os.environ["PATH"], "COLUMNS": "200"},
            capture_output=True, text=True, check=False).stdout
        return Inventory.gather(version, Path(scratch), results, help_text, types if types.exists() else None)


def selection() -> list[str]:
    """Arguments that select the scenarios, without the long rows about our own programs."""
    only = [os.environ["ONLY"]] if "ONLY" in os.environ else [folder.stem for folder in (E2E / "scenarios").iterdir()]
    flags = [flag for name in sorted(set(only)) for flag in ("--only", name)]
    return flags + [flag for column in PROMISED for flag in ("--column", column)]


def downloaded(version: str) -> tuple[Path, Path]:
    """The CLI and the types of its SDK, whose last number is the CLI's."""
    folder = CACHE / "drift" / version
    sdk = f"0.3.{version.rsplit('.', 1)[1]}"
    claude, types = folder / "claude", folder / "sdk"
    if not claude.exists():
        unpack(f"@anthropic-ai/claude-code-linux-x64@{version}", folder, needed=True)
        claude.chmod(0o755)
    if not types.exists():
        unpack(f"@anthropic-ai/claude-agent-sdk@{sdk}", types, needed=False)
    return claude, types


def unpack(package: str, folder: Path, *, needed: bool) -> None:
    """Downloads a package of npm; no script of it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"downloading {package}", file=sys.stderr, flush=True)
    packed = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True, check=False)
    if packed.returncode:
        folder.rmdir()
        if needed:
            raise Missing(f"{package} could not be downloaded: {packed.stderr[-300:]}")
        return
    archive = folder / packed.stdout.strip().splitlines()[-1]
    subprocess.run(["tar", "--extract", "--gzip", "--file", archive, "--directory", folder, "--strip-components", "1"],
                   check=True)
    archive.unlink()


if __name__ == "__main__":
    sys.exit(main())
