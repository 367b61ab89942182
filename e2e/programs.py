"""The programs of docs/programs.md and of the client for TypeScript, on `tidings serve` with the real CLI.

The client for TypeScript is installed from its package, and the one for Python is generated from the document that the
server has. The program in Rust is an example of `tidings-remote`, which the build stage compiles.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

from lib.api import Api
from lib.cli import CACHE, E2E, Place, Programs
from lib.serve import Server
from lib.web import Web

NAME = "programs"
REPO = E2E.parent
WEB = REPO / "web"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
SECONDS_MAX = 90
HELLO = "Hello! I am a script."

# One turn for each prompt of the programs, so that a prompt that is delivered twice has none.
SCRIPT = f"""
[[turn]]
text = "{HELLO}"

[[turn]]
text = "{HELLO}"

[[turn]]
text = "{HELLO}"

[[turn]]
text = "{HELLO}"

[[turn]]
text = "Goodbye!"

[[turn]]
[[turn.block]]
tool = "Bash"
input = {{ command = "mkdir made", description = "Make a folder" }}

[[turn]]
text = "It is made."

[[turn]]
text = "{HELLO}"
"""


def problems_of(programs: Programs, root: Path) -> list[str]:
    """Returns the problems."""
    place = Place.make(programs, root, NAME)
    script = place.root / "hello.toml"
    script.write_text(SCRIPT)
    with Api(programs, script, place.root / "api.ndjson") as api:
        with Server(place, api.url) as server:
            web = server.web
            found = _curl(place, web) + _rust(programs, place, web) + _typescript(place, web) + _python(place, web) + server.close()
        left_over = api.close()
    return found + ([left_over] if left_over else [])


def _curl(place: Place, web: Web) -> list[str]:
    program = _blocks(REPO / "docs/programs.md", "sh", "api() {")
    return _says("curl", _run(place, web, ["sh", "-eu", "-c", program]), HELLO)


def _rust(programs: Programs, place: Place, web: Web) -> list[str]:
    """The program is an example, which the tests of the crate need as well."""
    example = REPO / "crates/remote/examples/shortest.rs"
    if not example.read_text().endswith(_blocks(REPO / "docs/programs.md", "rust", "use ")):
        return [f"{example} is not the program of docs/programs.md"]
    program = programs.tidings.parent / "programs-shortest"
    shutil.copy2(TARGET / "debug/examples/shortest", program)
    return _says("Rust", _run(place, web, [str(program)]), HELLO)


def _typescript(place: Place, web: Web) -> list[str]:
    """The programs with the client, from its package."""
    folder = place.root / "node"
    folder.mkdir()
    _do(REPO / "scripts/client-package.sh", folder)
    (folder / "package.json").write_text('{"private": true}')
    _do("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
        f"--cache={folder / 'cache'}", next(folder.glob("*.tgz")), cwd=folder)
    readme = WEB / "client/README.md"
    first, asks = _blocks(readme, "js", "import "), _blocks(readme, "js", "for await")
    shortest = _blocks(REPO / "docs/programs.md", "ts", "import ")
    connect = "\n".join(line for line in first.splitlines() if line.startswith(("import ", "const server ")))

    said = _run(place, web, _node(folder, "shortest", shortest))
    found = _says("TypeScript", said, HELLO) + _mistyped(folder, shortest)
    said = _run(place, web, _node(folder, "readme", first))
    found += _says("README of the client", said, HELLO)
    if not said.stdout.rstrip().endswith(" Complete"):
        found.append(f"README of the client: the last event is another one: {said.stdout[-300:]}")
    return found + _approves(place, web, _node(folder, "approves", f"{connect}\n{asks}"))


def _approves(place: Place, web: Web, command: list[str]) -> list[str]:
    """A program that answers requests allows the one that a session has."""
    child = subprocess.Popen(command, cwd=place.project, env=_env(place, web, "read", "decide"), stdout=subprocess.PIPE, text=True)
    late = threading.Timer(SECONDS_MAX, child.kill)
    late.start()
    try:
        web.call("POST", "/v1/sessions", {"cwd": str(place.project), "prompt": "Make a folder"})
        line = child.stdout.readline()
        events = web.events("/v1/sessions/" + str(web.call("GET", "/v1/sessions")[1]["items"][-1]["key"]) + "/events")
        next(event for event in events if event["event"] == "Complete")
    finally:
        late.cancel()
        child.kill()
        child.communicate()
    if line != "Bash: allowed\n" or not (place.project / "made").is_dir():
        return [f"the request was not allowed: {line!r}"]
    return []


def _mistyped(folder: Path, program: str) -> list[str]:
    """What the compiler says of a program and of the types of the package."""
    (folder / "program.mts").write_text(program)
    (folder / "node.d.ts").write_text("declare const process: { env: Record<string, string | undefined>; cwd(): string };\n")
    command = ["node", WEB / "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--module", "nodenext", "--target", "es2023"]
    command += ["node.d.ts", "program.mts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    return [f"the types of the package: {done.stdout[-1000:]}{done.stderr[-300:]}"] if done.returncode else []


def _python(place: Place, web: Web) -> list[str]:
    """The program with a client that a generator makes from the document."""
    folder = place.root / "python"
    folder.mkdir()
    (folder / "openapi.json").write_text(json.dumps(web.call("GET", "/v1/openapi.json")[1]))
    tools = CACHE / "openapi/bin"
    _do(tools / "openapi-python-client", "generate", "--path", "openapi.json", "--meta", "none",
        "--output-path", "tidings_client", cwd=folder)
    (folder / "program.py").write_text(_blocks(REPO / "docs/programs.md", "python", "import "))
    return _says("Python", _run(place, web, [str(tools / "python"), "-B", str(folder / "program.py")]), HELLO)


def _blocks(page: Path, language: str, begin: str) -> str:
    """The first program of a page that is in a language and begins with a text."""
    programs = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    found = [program for program in programs if program.startswith(begin)]
    if not found:
        raise RuntimeError(f"{page} has no program in {language} that begins with {begin!r}")
    return found[0]


def _node(folder: Path, name: str, program: str) -> list[str]:
    (folder / f"{name}.mjs").write_text(program)
    return [shutil.which("node") or "node", str(folder / f"{name}.mjs")]


def _env(place: Place, web: Web, *scopes: str) -> dict[str, str]:
    """The environment of a program, with a credential that has only these scopes."""
    _, made = web.call("POST", "/v1/devices", {"name": "a program", "scopes": list(scopes)})
    return place.env(extra={"TIDINGS_SERVER": f"http://{web.host}", "TIDINGS_TOKEN": made["token"]})


def _run(place: Place, web: Web, command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=place.project, env=_env(place, web, "read", "prompt"), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS_MAX, check=False)


def _says(name: str, done: subprocess.CompletedProcess[str], text: str) -> list[str]:
    if done.returncode == 0 and done.stdout.startswith(text):
        return []
    return [f"{name}: exit code {done.returncode}: {done.stdout[-500:]!r} {done.stderr[-500:]}"]


def _do(*command: object, cwd: Path = REPO) -> None:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(map(str, command))}` ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
