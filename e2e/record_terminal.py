#!/usr/bin/env python3
"""Records docs/screenshots/terminal.svg: the real CLI in tmux, and an answer that comes from elsewhere.

Needs `e2e/install.sh` and `cargo build -p tidings-cli -p tidings-e2e-driver`.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path

sys.dont_write_bytecode = True

from lib.api import Api  # noqa: E402
from lib.cli import E2E, Place, Programs  # noqa: E402
from terminal import DIALOG, DONE, SCRIPT, Run  # noqa: E402

OUT = E2E.parent / "docs/screenshots/terminal.svg"
FRAME_SECONDS = 4
CHAR, LINE, MARGIN = 8.4, 18, 16
BACKGROUND, FOREGROUND = "#16181d", "#d7dae0"
COLOURS = ["#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"]
STEPS = [0, 95, 135, 175, 215, 255]


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="tidings-record-"))
    root.chmod(0o755)
    try:
        OUT.write_text(_svg(_frames(root)))
        print(OUT.relative_to(E2E.parent))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _frames(root: Path) -> list[tuple[str, str]]:
    """Captions, and screens with their colours."""
    programs = Programs.find(E2E.parent / "target/debug/tidings", root / "bin")
    place = Place.make(programs, root, "record")
    script = place.root / "script.toml"
    script.write_text(place.fill(SCRIPT.read_text()).replace("@ROOT@", str(place.root)))
    with Api(programs, script, place.root / "api.ndjson") as api, Run(place, api) as run:
        run.serve()
        run.say("please [count]")
        item, = run.asked()
        run.terminal.wait_screen(DIALOG)
        frames = [("claude asks in its terminal, and on every device", run.terminal.coloured())]
        run.decide(item, "allow")
        run.terminal.wait_screen(DONE)
        run.idle()
        frames.append(("tidings approve: the dialog closes, and the command runs", run.terminal.coloured()))
        key = run.row()["key"]
        run.web.call("POST", f"/v1/sessions/{key}/take_over", {})
        run.terminal.wait_screen("--resume")
        frames.append(("tidings take-over: the session continues on the server", run.terminal.coloured()))
    # Folders of this machine say nothing to readers.
    hidden = [(caption, screen.replace(str(place.project), "~/demo")) for caption, screen in frames]
    return [(caption, re.sub(r" · done [0-9: APM]+|Pane is dead.*| +tmux detected.*", "", screen)) for caption, screen in hidden]


def _svg(frames: list[tuple[str, str]]) -> str:
    screens = [_used(screen.splitlines()) for _, screen in frames]
    rows, columns = max(len(screen) for screen in screens), 100
    width, height = int(columns * CHAR + 2 * MARGIN), int((rows + 2) * LINE + 2 * MARGIN)
    total = FRAME_SECONDS * len(frames)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape("; then ".join(caption for caption, _ in frames))}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">',
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
    ]
    for number, ((caption, _), screen) in enumerate(zip(frames, screens)):
        shown = ";".join("1" if each == number else "0" for each in range(len(frames)))
        out.append(f'<g opacity="{int(number == 0)}"><animate attributeName="opacity" calcMode="discrete" '
                   f'dur="{total}s" repeatCount="indefinite" values="{shown}"/>')
        out.append(f'<text x="{MARGIN}" y="{MARGIN + LINE}" fill="{COLOURS[4]}"># {escape(caption)}</text>')
        for row, line in enumerate(screen):
            out.append(f'<text x="{MARGIN}" y="{MARGIN + (row + 3) * LINE}" xml:space="preserve" fill="{FOREGROUND}">'
                       f'{_spans(line)}</text>')
        out.append("</g>")
    return "\n".join([*out, "</svg>\n"])


def _used(lines: list[str]) -> list[str]:
    """The lines without the empty ones, of which the CLI leaves many between the conversation and the input."""
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in lines]
    return [line for at, line in enumerate(lines) if plain[at] or (at and plain[at - 1])]


def _spans(line: str) -> str:
    """The text of a line with its colours, for at most as many columns as the picture has."""
    out, colour, weight, left = [], None, "", 100
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            colour, weight = _style([int(code or 0) for code in part[2:-1].split(";")], colour, weight)
        elif part and left > 0:
            text, left = part[:left], left - len(part)
            style = (f' fill="{colour}"' if colour else "") + weight
            out.append(f"<tspan{style}>{escape(text)}</tspan>")
    return "".join(out)


def _style(codes: list[int], colour: str | None, weight: str) -> tuple[str | None, str]:
    while codes:
        code = codes.pop(0)
        if code == 0:
            colour, weight = None, ""
        elif code == 1:
            weight = ' font-weight="bold"'
        elif code == 22:
            weight = ""
        elif code == 39:
            colour = None
        elif 30 <= code <= 37 or 90 <= code <= 97:
            colour = COLOURS[code % 10]
        elif code in (38, 48):
            kind = codes.pop(0) if codes else 0
            count = 3 if kind == 2 else 1
            value, codes = codes[:count], codes[count:]
            if code == 38:
                colour = "#%02x%02x%02x" % tuple(value) if kind == 2 else _indexed(value[0])
    return colour, weight


def _indexed(number: int) -> str:
    """A colour of the 256."""
    if number < 16:
        return COLOURS[number % 8]
    if number >= 232:
        return "#%02x%02x%02x" % ((8 + (number - 232) * 10,) * 3)
    number -= 16
    return "#%02x%02x%02x" % (STEPS[number // 36], STEPS[number // 6 % 6], STEPS[number % 6])


if __name__ == "__main__":
    main()
