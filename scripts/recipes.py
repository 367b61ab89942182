#!/usr/bin/env python3
"""Follows each recipe of CONTRIBUTING.md on a copy of the sources, and checks that the result compiles.

usage: scripts/recipes.py [NAME…]      a part of a recipe's name; without one all of them

`recipes.toml` beside this script has an example of each recipe: lines that are added to files which the recipe
names. An example must compile. If it names files whose lines are `asked` for, it must not compile without
these: the compiler reminds of them, as the recipe promises.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "recipes"
TREE = WORK / "tree"
FILES_MAX = 3


def rows():
    """The files that each recipe names, by recipe: those to touch by hand, and all of them."""
    found = {}
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## How to add …", 1)[1].split("\n## ", 1)[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "to add":
            paths = [re.findall(r"`([\w./-]+/[\w./-]+)`", cell) for cell in cells[1:]]
            found[cells[0]] = (paths[0], paths[0] + paths[1])
    return found


def copy():
    """Copies the sources, committed or not. Files that did not change keep their time, so that little is compiled again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for target in [path for path in TREE.rglob("*") if path.is_file() and not path.is_symlink()]:
        if str(target.relative_to(TREE)) not in wanted:
            target.unlink()
    modules = TREE / "web" / "node_modules"
    if not modules.is_symlink() and (ROOT / "web" / "node_modules").is_dir():
        modules.symlink_to(ROOT / "web" / "node_modules")


def edited(text, edit):
    """The text with the lines of an edit."""
    if "after" in edit:
        anchor, place = edit["after"], "after"
    else:
        anchor, place = edit["before"], "before"
    at = text.find(anchor)
    if at < 0:
        raise LookupError(f"{edit['file']} has no {anchor!r}")
    if place == "after":
        at += len(anchor)
    return text[:at] + edit["lines"] + text[at:]


def follow(edits, commands):
    """Makes the edits, runs the commands, and restores the files. Returns what a command said if it failed."""
    before = {}
    try:
        for edit in edits:
            path = TREE / edit["file"]
            text = path.read_text() if path.exists() else ""
            before.setdefault(path, text if path.exists() else None)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(edited(text, edit) if "after" in edit or "before" in edit else edit["lines"])
        for command in commands:
            environment = dict(os.environ, CARGO_TARGET_DIR=str(WORK / "build"))
            run = subprocess.run(["bash", "-c", command], cwd=TREE, env=environment, capture_output=True, text=True)
            if run.returncode != 0:
                return run.stdout + run.stderr
        return None
    finally:
        for path, text in before.items():
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        copy()


def check(recipe, named):
    """The faults of one recipe."""
    name, edits, commands = recipe["name"], recipe["edit"], recipe["check"]
    if name not in named:
        return [f"CONTRIBUTING.md has no row `{name}`"]
    by_hand, all_named = named[name]
    changed = [edit["file"] for edit in edits if "after" in edit or "before" in edit]
    faults = [f"the row does not name {file}" for file in changed if file not in all_named]
    if len(by_hand) > FILES_MAX:
        faults.append(f"the row names {len(by_hand)} files")
    try:
        if said := follow(edits, commands):
            faults.append("the example fails:\n" + said[-4000:])
        for asked in sorted({edit["file"] for edit in edits if edit.get("asked")}):
            if follow([edit for edit in edits if edit["file"] != asked], commands) is None:
                faults.append(f"nothing asks for the lines in {asked}")
    except LookupError as error:
        faults.append(str(error))
    return faults


def main():
    recipes = tomllib.loads((Path(__file__).parent / "recipes.toml").read_text())["recipe"]
    named = rows()
    wanted = [one for one in recipes if not sys.argv[1:] or any(part in one["name"] for part in sys.argv[1:])]
    if not wanted:
        print(f"error: no such recipe: {' '.join(sys.argv[1:])}\nhint: they are in scripts/recipes.toml", file=sys.stderr)
        return 2
    TREE.mkdir(parents=True, exist_ok=True)
    copy()
    failed = 0
    if not sys.argv[1:]:
        for name in sorted(set(named) - {recipe["name"] for recipe in recipes}):
            failed += 1
            print(f"FAILED {name}: scripts/recipes.toml has no example of it")
    for recipe in wanted:
        faults = check(recipe, named)
        failed += bool(faults)
        print(f"{'FAILED' if faults else 'ok'} {recipe['name']}", *faults, sep="\n  " if faults else "", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
