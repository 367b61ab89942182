#!/usr/bin/env python3
"""Installs each package into an empty place and uses the program there as a person would.

    packaging/try_packages.py target/packages

The wheel is installed into a new virtual environment, the npm packages into an empty folder, and the Debian package
with dpkg into a folder that becomes the root of the program: it contains glibc, a shell and nothing else. Each program
then serves the demo, whose page is fetched, and `tidings run` talks to the stand-in for `claude`. The client for
TypeScript is loaded.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SECONDS_MAX = 60
SCRIPT = '[[turn]]\ntext = "Hello! I am a script."\n'
# Without the page, the program serves a note in its place.
PAGE_MARK = '<script type="module"'


@dataclass
class Installed:
    """A program that a package manager has installed."""

    command: list[str]
    # The way of installation that `tidings self` must report.
    way: str
    # Files that the package must have installed.
    files: list[Path]
    # Folder for the files of the test, as the test and as the program see it.
    outside: Path
    inside: Path
    problems: list[str] = field(default_factory=list)

    def env(self) -> dict[str, str]:
        path = f"{Path(self.command[-1]).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        home = {name: str(self.inside / name.lower()) for name in ("HOME", "CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR")}
        return {"PATH": path, "TERM": "dumb", "TMPDIR": str(self.inside), **home}


class Failed(Exception):
    """An installation that did not work."""


def run(*command: object, **more: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        text=True, timeout=SECONDS_MAX, check=False, **more,
    )
    if done.returncode:
        raise Failed(f"`{' '.join(map(str, command))}` ended with {done.returncode}: {done.stdout[-1500:]}")
    return done.stdout


def one(packages: Path, pattern: str) -> Path:
    found = sorted(packages.glob(pattern))
    if len(found) != 1:
        raise Failed(f"{len(found)} packages match {pattern} in {packages}")
    return found[0]


def install_wheel(packages: Path, root: Path) -> Installed:
    # Without a copy of pip, which takes longer to install than the wheel.
    run(sys.executable, "-m", "venv", "--without-pip", root / "venv")
    pip = [sys.executable, "-m", "pip", "--python", root / "venv/bin/python", "--disable-pip-version-check"]
    run(*pip, "--quiet", "install", "--no-index", "--no-compile", one(packages, "tidings_cli-*.whl"))
    share = root / "venv/share"
    files = [share / "man/man1/tidings.1", share / "bash-completion/completions/tidings"]
    return Installed([str(root / "venv/bin/tidings")], "pip", files, root / "t", root / "t")


def install_npm(packages: Path, root: Path) -> Installed:
    (root / "package.json").write_text('{"private": true}')
    launcher, platform = one(packages, "tidings-[0-9]*.tgz"), one(packages, "tidings-linux-x64-*.tgz")
    run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
        f"--cache={root / 'cache'}", launcher, platform, cwd=root)
    return Installed([str(root / "node_modules/.bin/tidings")], "npm", [], root / "t", root / "t")


def install_deb(packages: Path, root: Path) -> Installed:
    package = one(packages, "tidings_*.deb")
    base = root / "root"
    state = base / "var/lib/dpkg"
    for folder in ("info", "updates", "triggers"):
        (state / folder).mkdir(parents=True)
    share = [
        base / "usr/share/man/man1/tidings.1.gz",
        base / "usr/share/bash-completion/completions/tidings",
        base / "usr/share/zsh/vendor-completions/_tidings",
        base / "usr/share/fish/vendor_completions.d/tidings.fish",
        base / "usr/lib/systemd/user/tidings.service",
    ]
    if os.geteuid() != 0:
        # Only root may change its root folder; the content of the package is checked all the same.
        run("dpkg-deb", "--extract", package, base)
        return Installed([str(base / "usr/bin/tidings")], "hand", share, root / "t", root / "t")
    version = run("dpkg-query", "--show", "--showformat=${Version}", "libc6")
    (state / "status").write_text(
        f"Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: {version}\n"
        "Maintainer: x <x@example.com>\nDescription: x\n\n"
    )
    run("dpkg", f"--root={base}", "--install", package)
    # A shell for the stand-in, which is a script, and the libraries of both.
    (base / "bin").mkdir()
    shutil.copy2("/bin/sh", base / "bin/sh")
    for program in ("/bin/sh", base / "usr/bin/tidings"):
        for library in re.findall(r"(/\S+) \(0x", run("ldd", program)):
            (base / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, base / library[1:])
    for folder in ("proc", "dev", "tmp"):
        (base / folder).mkdir()
    try:
        # The mounts end with the program.
        enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 f'mount --rbind /proc {base}/proc && mount --rbind /dev {base}/dev && exec chroot {base} "$@"', "sh"]
        run(*enter, "/usr/bin/tidings", "--version")
    except Failed as failed:
        print(f"deb: no chroot here, the program runs outside of one: {failed}", file=sys.stderr)
        return Installed([str(base / "usr/bin/tidings")], "hand", share, root / "t", root / "t")
    return Installed([*enter, "/usr/bin/tidings"], "deb", share, base / "t", Path("/t"))


def use(installed: Installed) -> list[str]:
    """Runs what the README promises; returns the problems."""
    for path in installed.files:
        if not path.is_file():
            installed.problems.append(f"{path} is missing")
    for name in ("home", "claude_config_dir", "xdg_runtime_dir"):
        (installed.outside / name).mkdir(parents=True, exist_ok=True)
    fetch_page(installed)
    run_command(installed)
    report = json.loads(run(*installed.command, "self", "--json", env=installed.env()))
    if report["installed_by"] != installed.way:
        installed.problems.append(f"`tidings self` says {report}")
    return installed.problems


def fetch_page(installed: Installed) -> None:
    server = subprocess.Popen(
        [*installed.command, "serve", "--demo", "--json", "--listen", "127.0.0.1:0"], env=installed.env(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    late = threading.Timer(SECONDS_MAX, server.kill)
    late.start()
    try:
        first = server.stdout.readline()
        if not first:
            raise Failed(f"`tidings serve --demo` did not start: {server.stderr.read().decode()[-1500:]}")
        address = json.loads(first).get("address")
        if not address:
            raise Failed(f"`tidings serve --demo` did not start: {first.decode()}")
        with urllib.request.urlopen(address, timeout=SECONDS_MAX) as answer:
            page = answer.read().decode()
        if PAGE_MARK not in page:
            installed.problems.append(f"the page is another one: {page[:200]!r}")
        for name in re.findall(r'(?:src|href)="([^":]+\.(?:js|css))"', page):
            with urllib.request.urlopen(f"{address}/{name}", timeout=SECONDS_MAX) as answer:
                if not answer.read():
                    installed.problems.append(f"{name} is empty")
    finally:
        late.cancel()
        server.terminate()
        if server.wait(SECONDS_MAX) != 0:
            installed.problems.append(f"it ended with {server.returncode} after SIGTERM")


def run_command(installed: Installed) -> None:
    (installed.outside / "hello.toml").write_text(SCRIPT)
    program = installed.command[-1]
    shim = installed.outside / "claude"
    shim.write_text(f'#!/bin/sh\nexec {program} rehearse agent --script {installed.inside}/hello.toml "$@"\n')
    shim.chmod(0o755)
    said = run(*installed.command, "run", "say hello", "--claude-path", installed.inside / "claude", env=installed.env())
    if "Hello! I am a script." not in said:
        installed.problems.append(f"`tidings run` says {said!r}")


def use_client(packages: Path, root: Path) -> list[str]:
    """Installs the client for TypeScript, and loads it. The end-to-end tests use it with a server."""
    (root / "package.json").write_text('{"private": true}')
    package = one(packages, "tidings-client-*.tgz")
    run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
        f"--cache={root / 'cache'}", package, cwd=root)
    program = 'import { RemoteServer } from "@tidings/client"; console.log(typeof RemoteServer.at)'
    said = run("node", "--input-type=module", "--eval", program, cwd=root)
    files = {path.name for path in (root / "node_modules/@tidings/client").iterdir()}
    missing = {"README.md", "LICENSE-MIT", "LICENSE-APACHE"} - files
    found = [f"the client has no {name}" for name in sorted(missing)]
    return found if said == "function\n" else [*found, f"the client does not load: {said!r}"]


TRIALS = {
    "wheel": lambda packages, root: use(install_wheel(packages, root)),
    "npm": lambda packages, root: use(install_npm(packages, root)),
    "deb": lambda packages, root: use(install_deb(packages, root)),
    "client": use_client,
}


def attempt(name: str, packages: Path, root: Path) -> tuple[str, float, list[str]]:
    began = time.monotonic()
    try:
        (root / name / "t").mkdir(parents=True)
        problems = TRIALS[name](packages, root / name)
    except (Failed, KeyError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        problems = [str(error)]
    return name, time.monotonic() - began, problems


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    packages = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda name: attempt(name, packages, Path(scratch)), TRIALS))
    for name, seconds, problems in done:
        print(f"{name:6} {seconds:5.1f} s  {'ok' if not problems else 'FAILED'}")
        for problem in problems:
            print(f"error: {name}: {problem}", file=sys.stderr)
    return 1 if any(problems for _, _, problems in done) else 0


if __name__ == "__main__":
    sys.exit(main())
