// Characters that are invisible, or make text look like other text, with their names.

/** A stretch of text, or one character that must be made visible. */
export type Piece = { text: string } | { mark: string; name: string };

const NAMES: Record<number, string> = {
  0x00: "NUL",
  0x08: "BACKSPACE",
  0x0d: "CARRIAGE RETURN",
  0x1b: "ESCAPE",
  0x7f: "DELETE",
  0xa0: "NO-BREAK SPACE",
  0xad: "SOFT HYPHEN",
  0x034f: "GRAPHEME JOINER",
  0x061c: "ARABIC LETTER MARK",
  0x115f: "HANGUL FILLER",
  0x1160: "HANGUL FILLER",
  0x17b4: "KHMER VOWEL",
  0x17b5: "KHMER VOWEL",
  0x180e: "MONGOLIAN VOWEL SEPARATOR",
  0x200b: "ZERO WIDTH SPACE",
  0x200c: "ZERO WIDTH NON-JOINER",
  0x200d: "ZERO WIDTH JOINER",
  0x200e: "LEFT-TO-RIGHT MARK",
  0x200f: "RIGHT-TO-LEFT MARK",
  0x2028: "LINE SEPARATOR",
  0x2029: "PARAGRAPH SEPARATOR",
  0x202a: "LEFT-TO-RIGHT EMBEDDING",
  0x202b: "RIGHT-TO-LEFT EMBEDDING",
  0x202c: "POP DIRECTIONAL FORMATTING",
  0x202d: "LEFT-TO-RIGHT OVERRIDE",
  0x202e: "RIGHT-TO-LEFT OVERRIDE",
  0x2060: "WORD JOINER",
  0x2061: "FUNCTION APPLICATION",
  0x2062: "INVISIBLE TIMES",
  0x2063: "INVISIBLE SEPARATOR",
  0x2064: "INVISIBLE PLUS",
  0x2066: "LEFT-TO-RIGHT ISOLATE",
  0x2067: "RIGHT-TO-LEFT ISOLATE",
  0x2068: "FIRST STRONG ISOLATE",
  0x2069: "POP DIRECTIONAL ISOLATE",
  0x2800: "BRAILLE BLANK",
  0x3164: "HANGUL FILLER",
  0xfeff: "BYTE ORDER MARK",
  0xffa0: "HANGUL FILLER",
  0xfffd: "REPLACEMENT CHARACTER",
};

// Spaces of other widths, controls of both sets but tab and line feed, tags, variation selectors and lone surrogates.
const SUSPECT =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffd]|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

// The characters among them that reorder the following text, so that it reads differently than it executes.
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

// Letters of other scripts that look like Latin ones, next to Latin ones.
const MIXED = /[A-Za-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][A-Za-z]/u;

/** The text in parts, every hidden character with its name. */
export function revealed(text: string): Piece[] {
  return pieces(text, SUSPECT);
}

/** The same for texts without a decision: only characters that reorder text are named. */
export function inOrder(text: string): Piece[] {
  return pieces(text, TURNING);
}

function pieces(text: string, wanted: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(wanted)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push(mark(match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/** Warnings about a text that a user decides by. */
export function warnings(text: string): string[] {
  const found: string[] = [];
  const hidden = text.match(SUSPECT)?.length ?? 0;
  if (hidden > 0) found.push(hidden === 1 ? "1 hidden character, shown marked" : `${hidden} hidden characters, shown marked`);
  if (MIXED.test(text)) found.push("letters of different scripts in one word");
  const longest = Math.max(...text.split("\n").map((line) => line.length));
  if (longest > 500) found.push(`a line of ${longest.toLocaleString("en-GB")} characters`);
  const lines = text.split("\n").length;
  if (lines > 200) found.push(`${lines.toLocaleString("en-GB")} lines`);
  return found;
}

function mark(character: string): Piece {
  const point = character.codePointAt(0) ?? 0;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  return { mark: code, name: NAMES[point] ?? (point >= 0xe0000 ? "TAG" : "HIDDEN CHARACTER") };
}
