"""The programs of the README, run. Each is an example of the client crate, so that the build stage has compiled it.

Each runs twice, on the stand-in for `claude` and on the real one, and must print what the model says.
`LONG=1` also builds the programs of the README in a crate of their own, with the features that a user gets.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from lib.api import Api
from lib.cli import E2E, Place, Programs

NAME = "readme"
REPO = E2E.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
BUILD_SECONDS_MAX = 900
SECONDS_MAX = 60

# The permission handlers of these programs allow no command.
SCRIPT = """
[[turn]]
[[turn.block]]
tool = "Bash"
id = "toolu_01Touch"
input = { command = "touch made.txt", description = "Make a file" }
ask = true

[[turn]]
text = "Hello! I am a script."
"""

# The profile of the workspace, so that dependencies are not built twice.
MANIFEST = """
[package]
name = "readme"
version = "0.0.0"
edition = "2024"

[dependencies]
tidings = {{ path = "{client}" }}
tokio = {{ version = "1", features = ["macros", "rt"] }}

[profile.dev]
debug = "line-tables-only"

[workspace]
"""


def problems_of(programs: Programs, root: Path) -> list[str]:
    snippets = re.findall(r"^```rust\n(.*?)^```$", (REPO / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    if not snippets:
        return ["README.md has no program"]
    examples = {text: path.stem for path in (REPO / "crates/client/examples").glob("*.rs") for text in [_program(path)]}
    found = [f"no example of the client crate is this program of README.md:\n{text}" for text in snippets if text not in examples]
    if found:
        return found
    names = [examples[text] for text in snippets]
    built = TARGET / "debug/examples"
    if os.environ.get("LONG"):
        built, said = _build(Path(tempfile.mkdtemp(prefix="readme-crate-", dir=root)), dict(zip(names, snippets)))
        if not built:
            return [f"the programs of README.md do not compile: {said}"]
    for name in names:
        if not (built / name).exists():
            return [f"{built / name} is missing: run `cargo build -p tidings --examples`"]
        program = programs.tidings.parent / f"readme-{name}"
        shutil.copy2(built / name, program)
        for who in ("agent", "cli"):
            found += [f"{name} on the {who}: {problem}" for problem in _run(programs, root, program, who)]
    return found


def _program(example: Path) -> str:
    """The text of an example without its description and its lint attribute, which the README leaves out."""
    lines = example.read_text().splitlines(keepends=True)
    starts = ("use ", "#[tokio::main")
    return "".join(lines[next(i for i, line in enumerate(lines) if line.startswith(starts)):])


def _build(crate: Path, snippets: dict[str, str]) -> tuple[Path | None, str]:
    (crate / "src/bin").mkdir(parents=True)
    (crate / "Cargo.toml").write_text(MANIFEST.format(client=REPO / "crates/client"))
    # The versions of the workspace, which are downloaded already.
    shutil.copy(REPO / "Cargo.lock", crate)
    for name, text in snippets.items():
        (crate / f"src/bin/{name}.rs").write_text(text)
    env = os.environ | {"CARGO_TARGET_DIR": str(TARGET)}
    done = subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, env=env, capture_output=True, text=True,
                          timeout=BUILD_SECONDS_MAX, check=False)
    return (TARGET / "debug", "") if done.returncode == 0 else (None, done.stderr[-2000:])


def _run(programs: Programs, root: Path, program: Path, who: str) -> list[str]:
    place = Place.make(programs, root, f"{program.name}-{who}")
    script = place.root / "hello.toml"
    script.write_text(SCRIPT)
    if who == "cli":
        with Api(programs, script, place.root / "api.ndjson") as api:
            return _output(programs, place, program, str(programs.claude), api.url)
    shim = place.root / "claude"
    shim.write_text(f'#!/bin/sh\nexec "{programs.tidings}" rehearse agent --script "{script}" "$@"\n')
    shim.chmod(0o755)
    return _output(programs, place, program, str(shim), None)


def _output(programs: Programs, place: Place, program: Path, claude: str, url: str | None) -> list[str]:
    done = subprocess.run(
        [str(program)], cwd=place.project, env=place.env(url, {"CLAUDE_CLI_PATH": claude}), capture_output=True, text=True,
        timeout=SECONDS_MAX, check=False, **programs.as_user())
    found = []
    if done.returncode or "Hello! I am a script.\n" not in done.stdout:
        found.append(f"exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    if (place.project / "made.txt").exists():
        found.append("a command ran without permission")
    return found
