"""Tar archives whose entries belong to root and have a fixed time."""

import gzip
import io
import lzma
import tarfile

from .program import EPOCH


def tar(files: dict[str, tuple[int, bytes]], *, folders: bool = False) -> bytes:
    """A tar of files with mode and content by path; `folders` adds an entry for each folder, as dpkg wants it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        made = set()
        for path, (mode, content) in sorted(files.items()):
            parts = path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                if folders and folder not in made:
                    made.add(folder)
                    archive.addfile(entry(folder, 0o755, tarfile.DIRTYPE))
            info = entry(path, mode, tarfile.REGTYPE)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def entry(path: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.mtime, info.uname, info.gname = kind, mode, EPOCH, "root", "root"
    return info


def gz(content: bytes, *, fast: bool) -> bytes:
    return gzip.compress(content, compresslevel=0 if fast else 9, mtime=EPOCH)


def xz(content: bytes, *, fast: bool) -> bytes:
    return lzma.compress(content, preset=0 if fast else 9)
