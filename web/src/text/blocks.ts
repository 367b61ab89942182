// Incremental parsing of Markdown. A closed block is kept and never parsed again, so the cost of a delta does
// not depend on the length of the text before it.

import { Lexer } from "marked";
import type { Token, Tokens } from "marked";
import { MATHS } from "./maths.ts";

/** A text that is displayed verbatim. */
export interface Plain {
  type: "plain";
  raw: string;
}

export type Block = Token | Plain;

/**
 * Maximum length that is parsed at a time. A longer block is closed in the middle: repeated parsing would be
 * noticeable.
 */
const OPEN_CHARS_MAX = 12_000;

/** Text beyond this length is displayed verbatim. */
const READ_CHARS_MAX = 200_000;

/** Maximum length of a mark that may still become something else, such as `12` of a list. */
const MARK_CHARS_MAX = 11;

const OPTIONS = { gfm: true, breaks: false, extensions: MATHS };

/** The complete rows of a table that may still grow. They are not parsed again. */
interface OpenTable {
  /** The two lines before its rows. */
  head: string;
  rows: Tokens.TableCell[][];
  /** Length of the head and of these rows. */
  chars: number;
}

export class Growing {
  #text = "";
  #closed: Block[] = [];
  #closedChars = 0;
  #open: Block[] = [];
  #table: OpenTable | undefined;

  /** The blocks of a text. If it continues the previous one, only the part that is not closed is parsed. */
  read(source: string): readonly Block[] {
    const text = source.includes("\r") ? source.replaceAll(/\r\n?/g, "\n") : source;
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    let reach = OPEN_CHARS_MAX;
    while (this.#closedChars < text.length) {
      const to = this.#closedChars + (this.#table?.chars ?? 0) + reach;
      const rest = text.slice(this.#closedChars, to);
      const isLast = to >= text.length;
      const blocks = this.#closedChars >= READ_CHARS_MAX ? [plain(rest)] : this.#parse(rest);
      const settled = settledOf(blocks);
      this.#close(blocks.slice(0, settled));
      const grown = this.#keepRows(blocks[settled]);
      if (this.#table !== undefined && this.#table.chars >= READ_CHARS_MAX) {
        const { rows, chars } = this.#table;
        this.#close([{ ...blocks[settled], raw: text.slice(this.#closedChars, this.#closedChars + chars), rows } as Tokens.Table]);
        this.#open = [];
        continue;
      }
      if (isLast) {
        this.#open = blocks.slice(settled);
        break;
      }
      if (settled > 0 || grown) {
        reach = OPEN_CHARS_MAX;
      } else if (isWhole(blocks) && reach < READ_CHARS_MAX) {
        // It cannot be cut without changing its meaning, and is cheap to parse.
        reach *= 2;
      } else {
        const piece = rest.slice(0, cutOf(rest));
        this.#close(blocks[0]?.type === "plain" ? [plain(piece)] : lex(piece));
      }
    }
    return [...this.#closed, ...this.#open];
  }

  /**
   * The text is complete. A link definition may stand after its use, so such a text is parsed once as a
   * whole.
   */
  finish(source: string): readonly Block[] {
    const blocks = this.read(source);
    if (this.#closedChars === 0 || this.#text.length > OPEN_CHARS_MAX || !/^ {0,3}\[[^\]\n]+\]:/m.test(this.#text)) return blocks;
    this.#forget();
    return this.read(source);
  }

  /** Parses the open part; of an open table only the rows that may have changed. */
  #parse(rest: string): Block[] {
    const table = this.#table;
    if (table === undefined) return lex(rest);
    const blocks = lex(table.head + rest.slice(table.chars));
    const [more] = blocks;
    if (more?.type !== "table") return lex(rest);
    const { raw, rows } = more as Tokens.Table;
    blocks[0] = { ...more, raw: rest.slice(0, table.chars - table.head.length + raw.length), rows: [...table.rows, ...rows] } as Tokens.Table;
    return blocks;
  }

  /** Keeps the complete rows of an open table. Returns true if there are more of them. */
  #keepRows(block: Block | undefined): boolean {
    if (block?.type !== "table") {
      this.#table = undefined;
      return false;
    }
    const { raw, rows } = block as Tokens.Table;
    const before = this.#table?.chars ?? 0;
    // Empty lines end it: they are not part of its rows.
    const lines = raw.replace(/\n+$/, "\n");
    const chars = lines.lastIndexOf("\n") + 1;
    const head = /^[^\n]*\n[^\n]*\n/.exec(raw)?.[0];
    if (head === undefined || chars <= before) return false;
    const complete = lines.endsWith("\n") ? rows.length : rows.length - 1;
    this.#table = { head, rows: rows.slice(0, complete), chars };
    return true;
  }

  #close(blocks: Block[]): void {
    if (blocks.length > 0) this.#table = undefined;
    for (const block of blocks) {
      this.#closed.push(block);
      this.#closedChars += block.raw.length;
    }
  }

  #forget(): void {
    this.#text = "";
    this.#closed = [];
    this.#closedChars = 0;
    this.#open = [];
    this.#table = undefined;
  }
}

/** Number of first blocks that cannot change any more: those before the last one that is more than a mark. */
function settledOf(blocks: readonly Block[]): number {
  let last = blocks.length - 1;
  while (last > 0 && (blocks[last]?.type === "space" || isMark(blocks[last]))) last -= 1;
  return Math.max(0, last);
}

function isMark(block: Block | undefined): boolean {
  return block !== undefined && block.raw.length <= MARK_CHARS_MAX && !block.raw.includes("\n");
}

function isWhole(blocks: readonly Block[]): boolean {
  return blocks[0]?.type === "code" || blocks[0]?.type === "table";
}

/** Offset at which a block that is too long is cut: before a list item, else after a line or a word. */
function cutOf(text: string): number {
  const half = text.length / 2;
  const items = [...text.matchAll(/\n(?=(?:[-*+]|\d{1,9}[.)]) )/g)];
  for (const at of [(items.at(-1)?.index ?? -1) + 1, text.lastIndexOf("\n") + 1, text.lastIndexOf(" ") + 1]) {
    if (at > half) return at;
  }
  return text.length;
}

function plain(raw: string): Plain {
  return { type: "plain", raw };
}

/** The parser may give up on extreme nesting; its tokens must add up to the text. */
function lex(source: string): Block[] {
  try {
    const tokens = new Lexer(OPTIONS).lex(source);
    const chars = tokens.reduce((sum, token) => sum + token.raw.length, 0);
    return chars === source.length ? tokens : [plain(source)];
  } catch {
    return [plain(source)];
  }
}

/** True if the output of a command is Markdown: it has a heading or a table, and no colours of a terminal. */
export function isMarkdown(text: string): boolean {
  return !text.includes("\u001b") && /^#{1,6} \S|^\|[ :|-]+\|\s*$/m.test(text);
}
