"""The archive for people who install by hand, and for Homebrew and the flake."""

from pathlib import Path

from .program import ROOT, Program, unit_file
from .tar import tar, xz


def build(program: Program, out: Path) -> list[Path]:
    top = f"tidings-{program.version}-x86_64-unknown-linux-gnu"
    files = {f"share/{path}": (0o644, content) for path, content in program.share.items()}
    files["bin/tidings"] = (0o755, program.bytes())
    files["share/systemd/user/tidings.service"] = (0o644, unit_file("/usr/bin/env tidings"))
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "packaging/serve.toml"]:
        files[Path(name).name] = (0o644, (ROOT / name).read_bytes())
    path = out / f"{top}.tar.xz"
    path.write_bytes(xz(tar({f"{top}/{name}": file for name, file in files.items()}), fast=program.fast))
    return [path]
