"""The programs under test, and an isolated environment for each run.

The real CLI reads settings, logins and sessions from wherever it finds them. Every run therefore starts in a new home
with a cleared environment, so that no file of the user is read or changed, and runs do not affect each other.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

E2E = Path(__file__).resolve().parent.parent
CACHE = E2E / ".cache"
USER = "rehearse"
# Path of another version of the CLI than the pinned one, for long runs.
OTHER_CLAUDE = os.environ.get("OTHER_CLAUDE")
# A `tidings` of an earlier version, whose hosts the one under test must adopt.
OLD_TIDINGS = os.environ.get("OLD_TIDINGS")
PINNED = json.loads((E2E / "cli/package.json").read_text())["optionalDependencies"]["@anthropic-ai/claude-code-linux-x64"]

PROJECT_FILES = {
    "README.md": "# Demo\n\nA small project.\n",
    "src/main.py": 'from util import greet\n\nprint(greet("world"))\n',
    "src/util.py": 'def greet(name):\n    return "Hello, " + name\n\n\ndef add(a, b):\n    return a + b\n',
}


class Missing(Exception):
    """A file from `install.sh` or `cargo build` is missing."""


@dataclass
class Programs:
    """The programs under test, at paths that the unprivileged user can reach."""

    tidings: Path
    driver: Path
    claude: Path
    uid: int | None
    gid: int | None
    # The beginning of the command of a Python program that uses the official SDK.
    python: list[str] = field(default_factory=lambda: [str(CACHE / "venv/bin/python"), "-B"])
    # The `tidings` of an earlier version, if there is one.
    old: Path | None = None

    @classmethod
    def find(cls, tidings: Path, bin_dir: Path) -> Programs:
        """Links the programs into `bin_dir`: the other user may not be able to read the checkout."""
        claude = Path(OTHER_CLAUDE) if OTHER_CLAUDE else CACHE / "claude"
        if not claude.exists():
            raise Missing("the real CLI is not installed: run e2e/install.sh")
        driver = tidings.with_name("tidings-e2e-driver")
        for program in (tidings, driver):
            if not program.exists():
                raise Missing(f"{program} is missing: run `cargo build -p tidings-cli -p tidings-e2e-driver`")
        uid = gid = None
        if os.geteuid() == 0:
            try:
                entry = pwd.getpwnam(USER)
            except KeyError:
                raise Missing(f"the system user `{USER}` does not exist: run e2e/install.sh") from None
            uid, gid = entry.pw_uid, entry.pw_gid
        bin_dir.mkdir()
        programs = (tidings, driver, claude.resolve())
        old = _reachable(Path(OLD_TIDINGS), bin_dir / "old-tidings") if OLD_TIDINGS else None
        return cls(*(_reachable(program, bin_dir / program.name) for program in programs), uid, gid, old=old)

    def as_user(self) -> dict:
        """Arguments of `subprocess` that drop root's rights."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def drop_rights(self) -> list[str]:
        """The same for a shell script."""
        if self.uid is None:
            return []
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups"]


def _link(source: str | Path, target: str | Path) -> None:
    """A hard link if possible; a copy across file systems."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _reachable(source: Path, target: Path) -> Path:
    _link(source, target)
    target.chmod(0o755)
    return target


def reachable_folder(source: Path, target: Path) -> Path:
    """A copy of a folder that the unprivileged user can reach."""
    return Path(shutil.copytree(source, target, symlinks=True, copy_function=_link))


@dataclass
class Place:
    """A new home, a new configuration folder and a small git repository to work in."""

    root: Path
    programs: Programs
    env_extra: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, programs: Programs, parent: Path, name: str) -> Place:
        root = Path(tempfile.mkdtemp(prefix=name.replace("/", "-") + "-", dir=parent))
        root.chmod(0o755)
        place = cls(root, programs)
        for folder in (place.home, place.config, place.project, place.tmp):
            folder.mkdir()
        for path, text in PROJECT_FILES.items():
            (place.project / path).parent.mkdir(exist_ok=True)
            (place.project / path).write_text(text)
        git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main"]
        quiet = {"cwd": place.project, "check": True, "capture_output": True, "env": place.env()}
        subprocess.run([*git, "init", "-q"], **quiet)
        subprocess.run([*git, "add", "."], **quiet)
        subprocess.run([*git, "commit", "-qm", "Start"], **quiet)
        place.hand_over()
        return place

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def project(self) -> Path:
        return self.root / "demo"

    @property
    def tmp(self) -> Path:
        return self.root / "t"

    def hand_over(self) -> None:
        """Gives the folder and its contents to the user that runs the CLI."""
        if self.programs.uid is None:
            return
        for path in [self.root, *self.root.rglob("*")]:
            os.chown(path, self.programs.uid, self.programs.gid, follow_symlinks=False)

    def env(self, base_url: str | None = None, extra: dict[str, str] | None = None) -> dict[str, str]:
        """The whole environment of a run; nothing is inherited."""
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "TERM": "dumb",
            "ANTHROPIC_API_KEY": "sk-ant-dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            # Otherwise output of background tasks stays in the machine's folder for temporary files.
            "CLAUDE_CODE_TMPDIR": str(self.tmp),
        }
        if base_url:
            env["ANTHROPIC_BASE_URL"] = base_url
        return env | self.env_extra | (extra or {})

    def fill(self, text: str) -> str:
        """Replaces `@CWD@` by the project folder, which is new for each run, and `@CLI@` by the CLI's version."""
        version = os.environ.get("OTHER_VERSION", PINNED)
        return text.replace("@CWD@", str(self.project)).replace("@CLI@", version)
