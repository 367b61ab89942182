"""The Debian package: the program, a systemd user unit, completions and manual pages."""

from pathlib import Path

from .program import DESCRIPTION, EPOCH, ROOT, Program, unit_file
from .tar import gz, tar, xz


def build(program: Program, out: Path) -> list[Path]:
    files = {"./usr/bin/tidings": (0o755, program.bytes())}
    for path, content in program.share.items():
        if path.startswith("man/"):
            path, content = f"{path}.gz", gz(content, fast=False)
        # Debian keeps the completions of packages apart from those of the machine's owner.
        files[f"./usr/share/{path.replace('zsh/site-functions', 'zsh/vendor-completions')}"] = (0o644, content)
    files["./usr/lib/systemd/user/tidings.service"] = (0o644, unit_file("/usr/bin/tidings"))
    documents = "./usr/share/doc/tidings"
    files[f"{documents}/copyright"] = (0o644, copyright_file().encode())
    files[f"{documents}/changelog.gz"] = (0o644, gz((ROOT / "CHANGELOG.md").read_bytes(), fast=False))
    files[f"{documents}/examples/serve.toml"] = (0o644, (ROOT / "packaging/serve.toml").read_bytes())
    size_kib = sum(len(content) for _, content in files.values()) // 1024
    control = tar({"./control": (0o644, control_file(program, size_kib).encode())})
    path = out / f"tidings_{program.version}_amd64.deb"
    suffix, compress = ("gz", gz) if program.fast else ("xz", xz)
    members = {
        "debian-binary": b"2.0\n",
        f"control.tar.{suffix}": compress(control, fast=program.fast),
        f"data.tar.{suffix}": compress(tar(files, folders=True), fast=program.fast),
    }
    path.write_bytes(ar(members))
    return [path]


def control_file(program: Program, size_kib: int) -> str:
    return f"""Package: tidings
Version: {program.version}
Architecture: amd64
Maintainer: The Tidings authors <maintainers@tidings.invalid>
Installed-Size: {size_kib}
Depends: libc6 (>= {program.glibc})
Recommends: ca-certificates, git
Section: devel
Priority: optional
Description: {DESCRIPTION}
 A server for browsers, phones and scripts, and a command line for the sessions
 that Claude Code keeps on disk. `systemctl --user enable --now tidings` starts
 the server for one user.
"""


def copyright_file() -> str:
    head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\n"
    texts = [(ROOT / name).read_text() for name in ["LICENSE-MIT", "LICENSE-APACHE"]]
    body = "\n".join(f" {line}" if line.strip() else " ." for text in texts for line in text.splitlines())
    return f"{head}Copyright: The Tidings authors\nLicense: MIT or Apache-2.0\n{body}\n"


def ar(members: dict[str, bytes]) -> bytes:
    """An `ar` archive, the outer format of a Debian package."""
    out = b"!<arch>\n"
    for name, content in members.items():
        out += f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        out += content + b"\n" * (len(content) % 2)
    return out
