// Output of programs for terminals: text without escape sequences, and the colours that they set.

import type { Span } from "./spans.ts";

// CSI and OSC sequences, other escapes.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
type Colour = (typeof COLOURS)[number];

interface Style {
  colour: Colour | undefined;
  /** True if a background is set; it is drawn as one colour, since any pair of colours may be unreadable. */
  ground: boolean;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const PLAIN: Style = { colour: undefined, ground: false, bold: false, dim: false, italic: false, underline: false };

export interface Painted {
  text: string;
  /** Colours and weights, in order. */
  spans: Span[];
}

/**
 * A program's output as lines of text: without escapes, and with only the last version of overwritten lines.
 */
export function plainOutput(text: string): string {
  return paintedOutput(text).text;
}

/** The same with its colours. */
export function paintedOutput(text: string): Painted {
  if (!/[\u001b\u009b\r]/.test(text)) return { text, spans: [] };
  let out = "";
  let line = 0;
  let style = PLAIN;
  let spans: Span[] = [];
  const write = (part: string) => {
    const name = classOf(style);
    const last = spans.at(-1);
    if (name !== "" && part !== "") {
      if (last !== undefined && last.to === out.length && last.name === name) last.to += part.length;
      else spans.push({ from: out.length, to: out.length + part.length, name });
    }
    out += part;
  };
  /** Removes the current line: the program returned to its start to write it again. */
  const clearLine = () => {
    out = out.slice(0, line);
    spans = spans.filter(({ from }) => from < line).map((span) => ({ ...span, to: Math.min(span.to, line) }));
  };
  /** True after a carriage return: the next text overwrites the line, unless the line ends. */
  let isReturned = false;
  const add = (plain: string) => {
    for (const [part] of plain.matchAll(/[^\r\n]+|\r|\n/g)) {
      if (part === "\n") {
        write("\n");
        line = out.length;
      } else if (part !== "\r") {
        if (isReturned) clearLine();
        write(part);
      }
      isReturned = part === "\r";
    }
  };
  let from = 0;
  for (const match of text.matchAll(ESCAPES)) {
    add(text.slice(from, match.index));
    const codes = /^(?:\u001b\[|\u009b)([0-9;:]*)m$/.exec(match[0])?.[1];
    if (codes !== undefined) style = styled(style, codes.split(/[;:]/).map(Number));
    from = match.index + match[0].length;
  }
  add(text.slice(from));
  return { text: out, spans };
}

function styled(before: Style, codes: readonly number[]): Style {
  let now = { ...before };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) now = { ...PLAIN };
    else if (code === 1) now.bold = true;
    else if (code === 2) now.dim = true;
    else if (code === 3) now.italic = true;
    else if (code === 4) now.underline = true;
    else if (code === 7) now.ground = true;
    else if (code === 22) now = { ...now, bold: false, dim: false };
    else if (code === 23) now.italic = false;
    else if (code === 24) now.underline = false;
    else if (code === 27 || code === 49) now.ground = false;
    else if (code === 39) now.colour = undefined;
    else if (code >= 30 && code <= 37) now.colour = COLOURS[code - 30];
    else if (code >= 90 && code <= 97) now.colour = COLOURS[code - 90];
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) now.ground = true;
    else if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5;
      const colour = isIndexed ? indexed(codes[at + 2] ?? 0) : nearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0);
      if (code === 38) now.colour = colour;
      else now.ground = true;
      at += isIndexed ? 2 : 4;
    }
  }
  return now;
}

/** A colour of the table of 256. */
function indexed(index: number): Colour | undefined {
  if (index < 16) return COLOURS[index % 8];
  if (index >= 232) return index < 240 ? "black" : undefined;
  const cube = index - 16;
  return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
}

/** The named colour with the same hue; the page has a readable version of it for each theme. */
function nearest(red: number, green: number, blue: number): Colour | undefined {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (most - least < 40) return most < 80 ? "black" : undefined;
  const half = (most + least) / 2;
  const bits = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return COLOURS[bits];
}

function classOf({ colour, ground, bold, dim, italic, underline }: Style): string {
  const flags = { "ansi-ground": ground, "ansi-bold": bold, "ansi-dim": dim, "ansi-italic": italic, "ansi-underline": underline };
  const names = Object.entries(flags).filter(([, is]) => is).map(([name]) => name);
  return [...(colour === undefined || colour === "white" ? [] : [`ansi-${colour}`]), ...names].join(" ");
}
