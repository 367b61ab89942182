#!/usr/bin/env python3
"""Packs a built `tidings` program for every package manager: archive, wheel, npm packages, Debian package.

    packaging/pack.py --binary target/dist/tidings --out target/packages

It compiles nothing and needs only Python: a release packs the optimised program, and `make test` packs the one that
its tests use and installs the results. `scripts/packages.sh` builds the program first.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from pack import archive, deb, npm, wheel
from pack.program import PackError, Program, checksums

FORMATS = {"archive": archive.build, "wheel": wheel.build, "npm": npm.build, "deb": deb.build}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the program to pack")
    parser.add_argument("--out", type=Path, required=True, help="folder for the packages")
    parser.add_argument("--formats", default=",".join(FORMATS), help="comma-separated; all by default")
    parser.add_argument("--glibc-max", help="fail if the program needs a newer glibc, such as 2.28")
    parser.add_argument("--mib-max", type=float, help="fail if the program is larger")
    parser.add_argument("--archive-mib-max", type=float, help="fail if the archive is larger")
    parser.add_argument("--fast", action="store_true", help="do not compress, for tests")
    args = parser.parse_args()
    unknown = set(args.formats.split(",")) - FORMATS.keys()
    if unknown:
        parser.error(f"unknown formats: {', '.join(sorted(unknown))}")
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        program = Program.read(args.binary, Path(scratch), fast=args.fast)
        program.check(args.glibc_max, args.mib_max)
        packages = [path for name in args.formats.split(",") for path in FORMATS[name](program, args.out)]
    for path in packages:
        print(f"{path.stat().st_size / 2**20:8.2f} MiB  {path.name}")
        if args.archive_mib_max and path.name.endswith(".tar.xz") and path.stat().st_size > args.archive_mib_max * 2**20:
            raise PackError(f"{path.name} is larger than {args.archive_mib_max} MiB", "what made the program grow?")
    checksums(args.out, packages)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PackError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        sys.exit(1)
