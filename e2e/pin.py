#!/usr/bin/env python3
"""Prepares another version of Claude Code: pins it, and lists what a person has to look at.

    make pin CLI=2.1.330

It runs `make drift` first, which compares that version with the pinned one. Then it pins it, the TypeScript SDK of the
same number, and the newest Python SDK and other agents, with new lock files; `cargo run -p xtask -- pins` writes the
versions into all other places. Nothing is committed. DRIFT=0 leaves out the comparison.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from lib.cli import E2E, PINNED  # noqa: E402

REPOSITORY = E2E.parent
CLI = ["@anthropic-ai/claude-code-linux-arm64", "@anthropic-ai/claude-code-linux-x64"]
TS_SDK = "@anthropic-ai/claude-agent-sdk"
PY_SDK = "claude-agent-sdk"
# Packages of which the newest version is pinned, by the folder of their package.json.
NEWEST = {
    "acp": ["@agentclientprotocol/claude-agent-acp"],
    "agents": ["@agentclientprotocol/codex-acp", "@google/gemini-cli", "@openai/codex", "opencode-linux-x64"],
}

LIST = """
To look at, in this order:
 1. docs/drift/{version}.md: new frames, fields, hooks, options, types, totals of costs, changed behaviour{broken}
 2. e2e/install.sh && e2e/run.py --record: the rows of all columns; git diff e2e/recordings is what changed for the Python
    SDK; e2e/differences.toml loses what no longer differs
 3. new fields and subtypes: types in crates/protocol; new tools: their views (crates/protocol/src/tools)
 4. docs/parity.md: rows for new options, calls and exports of the SDK's types, {ts_types}
 5. totals of costs that differ: everything that adds costs up, in crates/agent, crates/bridge and crates/transcript
 6. the stand-in (crates/rehearsal), where it differs from the new version
 7. LONG=1 e2e/run.py --only agents: the table and the samples of sessions of docs/agents.md
 8. CHANGELOG.md: the version, and what users notice of it
"""


def main() -> int:
    if len(sys.argv) != 2 or not re.fullmatch(r"2\.\d+\.\d+", sys.argv[1]):
        print("error: no version given\nhint: make pin CLI=2.1.330", file=sys.stderr)
        return 2
    version = sys.argv[1]
    broken = ""
    if os.environ.get("DRIFT") != "0" and version != PINNED:
        compared = subprocess.run([E2E / "drift.py", version], check=False).returncode
        if compared > 1:
            return compared
        broken = "; **some scenarios fail**" if compared else ""
    pin("cli", dict.fromkeys(CLI, version))
    pin("ts", {TS_SDK: f"0.3.{version.rsplit('.', 1)[1]}"})
    for folder, packages in NEWEST.items():
        pin(folder, {package: newest(package) for package in packages})
    pin_python()
    subprocess.run(["cargo", "run", "--quiet", "-p", "xtask", "--", "pins"], cwd=REPOSITORY, check=True)
    subprocess.run(["cargo", "fmt", "--all"], cwd=REPOSITORY, check=True)
    ts_types = f"e2e/.cache/drift/{version}/sdk/sdk.d.ts"
    print(LIST.format(version=version, broken=broken, ts_types=ts_types))
    return 0


def pin(folder: str, versions: dict[str, str]) -> None:
    """Writes the versions into the package.json of a folder, and its lock file anew, without a registry."""
    path = E2E / folder / "package.json"
    package = json.loads(path.read_text())
    # Overrides are packages of which another package would take an older version.
    sections = [package[name] for name in ("dependencies", "optionalDependencies", "overrides") if name in package]
    for name, version in versions.items():
        section = next(section for section in sections if name in section)
        if section[name] != version:
            print(f"{folder}: {name} {section[name]} → {version}", flush=True)
            section[name] = version
    path.write_text(json.dumps(package, indent=2) + "\n")
    with tempfile.TemporaryDirectory(prefix="tidings-pin-") as scratch:
        for file in ("package.json", "package-lock.json"):
            shutil.copy(E2E / folder / file, scratch)
        subprocess.run(
            ["npm", "install", "--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved=true",
             "--no-audit", "--no-fund", "--loglevel=error", "--silent"], cwd=scratch, check=True)
        shutil.copy(Path(scratch) / "package-lock.json", E2E / folder)


def newest(package: str) -> str:
    command = ["npm", "view", "--silent", package, "version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def pin_python() -> None:
    """Pins the newest Python SDK by the hash of its source."""
    with tempfile.TemporaryDirectory(prefix="tidings-pin-") as scratch:
        subprocess.run(
            [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--no-binary", ":all:",
             "--dest", scratch, PY_SDK], check=True)
        source = next(Path(scratch).glob("*.tar.gz"))
        version = source.name.removesuffix(".tar.gz").rpartition("-")[2]
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
    path = E2E / "requirements-sdk.txt"
    text = path.read_text()
    text = re.sub(rf"{PY_SDK}==\S+", f"{PY_SDK}=={version}", text)
    text = re.sub(r"sha256:\w+", f"sha256:{digest}", text)
    path.write_text(text)
    print(f"py: {PY_SDK} {version}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
