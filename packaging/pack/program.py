"""The program to pack: its version, what it needs, and the files that belong beside it."""

import hashlib
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Entries of archives have this time, so that the same program gives the same package.
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
DESCRIPTION = "Watch, approve and search every Claude Code session from any device"
# Packages promise no older glibc, even if the program happens to need less.
GLIBC_PROMISED = "2.28"
SHELLS = {"bash": "tidings", "zsh": "_tidings", "fish": "tidings.fish"}


class PackError(Exception):
    """A package that must not be published, and what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass
class Program:
    """A program for one platform, with its completions and manual pages."""

    path: Path
    version: str
    # The oldest glibc that has every symbol that the program needs.
    glibc: str
    # Content by the path below `share/`.
    share: dict[str, bytes]
    fast: bool

    @classmethod
    def read(cls, binary: Path, scratch: Path, *, fast: bool) -> "Program":
        if not binary.is_file():
            raise PackError(f"there is no program `{binary}`", "scripts/packages.sh builds it")
        stripped = scratch / "tidings"
        # Symbols are of no use to people who install it, and are half of a debug build.
        run("strip", "-o", stripped, binary)
        stripped.chmod(0o755)
        version = workspace_version()
        said = run(stripped, "--version").decode().split()
        if said[:2] != ["tidings", version]:
            raise PackError(f"the program says it is `{' '.join(said)}`", f"expected version {version}: build it again")
        return cls(stripped, version, glibc_of(stripped), shared_files(stripped, scratch), fast)

    def bytes(self) -> bytes:
        return self.path.read_bytes()

    def check(self, glibc_max: str | None, mib_max: float | None) -> None:
        """Raises if the program needs more than its users have."""
        if glibc_max and numbers(self.glibc) > numbers(glibc_max):
            raise PackError(f"the program needs glibc {self.glibc}", f"build it for {glibc_max}: scripts/packages.sh")
        mib = self.path.stat().st_size / 2**20
        if mib_max and mib > mib_max:
            raise PackError(f"the program has {mib:.1f} MiB, more than {mib_max}", "what made it grow?")


def workspace_version() -> str:
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def run(*command: object) -> bytes:
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise PackError(f"`{' '.join(map(str, command))}` failed: {said}", "is this a `tidings` for this machine?")
    return done.stdout


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def glibc_of(binary: Path) -> str:
    found = {match.decode() for match in re.findall(rb"GLIBC_(2\.[0-9]+)\0", binary.read_bytes())}
    if not found:
        raise PackError("the program needs no glibc", "only programs for Linux with glibc are packed here")
    return max(found | {GLIBC_PROMISED}, key=numbers)


def shared_files(binary: Path, scratch: Path) -> dict[str, bytes]:
    manuals = scratch / "man"
    manuals.mkdir()
    run(binary, "man", manuals)
    files = {f"man/man1/{page.name}": page.read_bytes() for page in sorted(manuals.iterdir())}
    folders = {
        "bash": "bash-completion/completions",
        "zsh": "zsh/site-functions",
        "fish": "fish/vendor_completions.d",
    }
    for shell, name in SHELLS.items():
        files[f"{folders[shell]}/{name}"] = run(binary, "completions", shell)
    return files


def unit_file(program: str) -> bytes:
    """The systemd unit with the path of the installed program."""
    unit = (ROOT / "crates/cli/src/commands/serve/tidings.service").read_text()
    command = "ExecStart=/usr/bin/env tidings "
    if command not in unit:
        raise PackError("crates/cli/src/commands/serve/tidings.service does not start `/usr/bin/env tidings`", "change `unit_file` too")
    return unit.replace(command, f"ExecStart={program} ").encode()


def checksums(out: Path, packages: list[Path]) -> None:
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(packages)]
    (out / "SHA256SUMS").write_text("".join(lines))
