"""Installs the programs to compare with into a folder, once, in the versions that the tables name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CCUSAGE = "20.0.24"
CCOST = "0.6.1"
AGENT_SDK = "0.2.182"
CLAUDE_CODE_LOG = "1.7.0"


@dataclass
class Peer:
    """A program to measure; `missing` is the reason why it is not available."""

    title: str
    command: list[str]
    missing: str = ""


class Peers:
    """All programs to compare with."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.ccusage = ccusage(folder / "npm")
        self.ccost = ccost(folder / "cargo")
        python, log = python_packages(folder / "venv")
        self.sdk, self.claude_code_log = python, log
        self.ripgrep = system("ripgrep", "rg", "apt install ripgrep, or cargo install ripgrep")
        self.grep = system("grep", "grep", "apt install grep")

    def missing(self) -> list[Peer]:
        return [peer for peer in vars(self).values() if peer.missing]


def ccusage(folder: Path) -> Peer:
    # The program itself; its wrapper script would start Node first.
    program = folder / "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
    why = ""
    if not program.exists():
        why = install("npm", ["install", "--silent", "--no-audit", "--prefix", str(folder), f"ccusage@{CCUSAGE}"])
    if program.exists():
        program.chmod(0o755)
    return Peer(f"ccusage {CCUSAGE}", [str(program)], "" if program.exists() else why or "npm did not install it")


def ccost(folder: Path) -> Peer:
    program = folder / "bin/ccost"
    why = ""
    if not program.exists():
        why = install("cargo", ["install", "--quiet", "--locked", "--root", str(folder), f"ccost@{CCOST}"])
    return Peer(f"ccost {CCOST}", [str(program)], "" if program.exists() else why or "cargo did not install it")


def python_packages(folder: Path) -> tuple[Peer, Peer]:
    python, log = folder / "bin/python", folder / "bin/claude-code-log"
    why = ""
    if not log.exists():
        why = install(sys.executable, ["-m", "venv", str(folder)]) or install(
            str(python),
            ["-m", "pip", "install", "--quiet", f"claude-agent-sdk=={AGENT_SDK}", f"claude-code-log=={CLAUDE_CODE_LOG}"],
        )
    missing = "" if log.exists() else why or "pip did not install it"
    list_sessions = "import claude_agent_sdk as sdk; print(len(sdk.list_sessions()))"
    return (
        Peer(f"Agent SDK for Python {AGENT_SDK}", [str(python), "-c", list_sessions], missing),
        Peer(f"claude-code-log {CLAUDE_CODE_LOG}", [str(log)], missing),
    )


def system(title: str, name: str, hint: str) -> Peer:
    path = shutil.which(name)
    if path is None:
        return Peer(title, [name], f"`{name}` is not installed: {hint}")
    words = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.split("\n")[0].split()
    version = next((word for word in words if word[:1].isdigit()), "")
    return Peer(f"{title} {version}".strip(), [path])


def install(program: str, arguments: list[str]) -> str:
    """Runs an installer; returns the reason of a failure, or an empty string."""
    if shutil.which(program) is None:
        return f"`{program}` is not installed"
    print(f"installing: {Path(program).name} {' '.join(arguments)}", file=sys.stderr)
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    last = [line for line in done.stderr.strip().splitlines() if line.strip()][-1:]
    return f"`{Path(program).name}` failed: {last[0] if last else done.returncode}"
