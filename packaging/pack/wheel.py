"""The wheel for PyPI: the program as a script, as `maturin` packs a `bin` crate."""

import base64
import hashlib
import time
import zipfile
from pathlib import Path

from .program import DESCRIPTION, EPOCH, ROOT, Program

NAME = "tidings_cli"


def build(program: Program, out: Path) -> list[Path]:
    tag = f"py3-none-manylinux_{program.glibc.replace('.', '_')}_x86_64"
    data, info = f"{NAME}-{program.version}.data", f"{NAME}-{program.version}.dist-info"
    files = {f"{data}/scripts/tidings": (0o755, program.bytes())}
    files |= {f"{data}/data/share/{path}": (0o644, content) for path, content in program.share.items()}
    files[f"{info}/WHEEL"] = (0o644, f"Wheel-Version: 1.0\nGenerator: tidings\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    files[f"{info}/METADATA"] = (0o644, metadata(program.version).encode())
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"]:
        files[f"{info}/licenses/{licence}"] = (0o644, (ROOT / licence).read_bytes())
    record = f"{info}/RECORD"
    lines = [f"{path},sha256={digest(content)},{len(content)}" for path, (_, content) in files.items()]
    files[record] = (0o644, "\n".join([*lines, f"{record},,", ""]).encode())
    path = out / f"{NAME}-{program.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", compresslevel=9) as archive:
        for name, (mode, content) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_STORED if program.fast else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return [path]


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def metadata(version: str) -> str:
    head = {
        "Metadata-Version": "2.4",
        "Name": "tidings-cli",
        "Version": version,
        "Summary": DESCRIPTION,
        "License-Expression": "MIT OR Apache-2.0",
        "Keywords": "claude,claude-code,agent,cli,server",
        "Requires-Python": ">=3.8",
        "Description-Content-Type": "text/markdown",
    }
    lines = [f"{key}: {value}" for key, value in head.items()]
    lines += [f"License-File: {licence}" for licence in ["LICENSE-MIT", "LICENSE-APACHE"]]
    return "\n".join(lines) + "\n\n" + (ROOT / "crates/cli/README.md").read_text()
