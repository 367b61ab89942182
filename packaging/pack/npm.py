"""The npm packages: `tidings`, which finds the program, and one package per platform that holds it."""

import json
from pathlib import Path

from .program import DESCRIPTION, ROOT, Program
from .tar import gz, tar

# The name that Node.js gives the platform: `process.platform` and `process.arch`.
PLATFORM = "linux-x64"


def build(program: Program, out: Path) -> list[Path]:
    common = {"version": program.version, "license": "MIT OR Apache-2.0", "description": DESCRIPTION}
    launcher = {
        "name": "tidings",
        **common,
        "keywords": ["claude", "claude-code", "agent", "cli", "server"],
        "bin": {"tidings": "tidings.js"},
        "files": ["tidings.js"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"tidings-{PLATFORM}": program.version},
    }
    platform = {
        "name": f"tidings-{PLATFORM}",
        **common,
        "os": ["linux"],
        "cpu": ["x64"],
        "libc": ["glibc"],
        "preferUnplugged": True,
    }
    manuals = {path: file for path, file in program.share.items() if path.startswith("man/")}
    launcher["man"] = [f"./{path}" for path in manuals]
    launcher["files"].append("man")
    launched = {path: (0o644, content) for path, content in manuals.items()}
    launched["tidings.js"] = (0o755, (ROOT / "packaging/npm/tidings.js").read_bytes())
    return [
        package(launcher, launched, program, out),
        package(platform, {"bin/tidings": (0o755, program.bytes())}, program, out),
    ]


def package(about: dict, files: dict[str, tuple[int, bytes]], program: Program, out: Path) -> Path:
    files["package.json"] = (0o644, (json.dumps(about, indent=2) + "\n").encode())
    files["README.md"] = (0o644, (ROOT / "crates/cli/README.md").read_bytes())
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"]:
        files[licence] = (0o644, (ROOT / licence).read_bytes())
    path = out / f"{about['name']}-{program.version}.tgz"
    path.write_bytes(gz(tar({f"package/{name}": file for name, file in files.items()}), fast=program.fast))
    return path
