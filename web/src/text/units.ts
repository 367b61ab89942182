// A Markdown text in parts that can be commented on: paragraphs, list items, headings, code blocks.

import { Lexer } from "marked";
import type { Token, Tokens } from "marked";

export interface Unit {
  /** Its source, as a text of its own. */
  text: string;
  /** Number of its first line, from 1. */
  line: number;
}

export function unitsOf(source: string): Unit[] {
  const text = source.replaceAll(/\r\n?/g, "\n");
  const units: Unit[] = [];
  let line = 1;
  for (const token of tokensOf(text)) {
    if (token.type === "list") units.push(...itemsOf(token as Tokens.List, line));
    else if (token.type !== "space") units.push({ text: token.raw, line });
    line += linesIn(token.raw);
  }
  return units;
}

/** The parser may give up on extreme nesting; each line is a part then. */
function tokensOf(text: string): Token[] {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return text.split(/(?<=\n)/).map((raw) => ({ type: raw.trim() === "" ? "space" : "text", raw, text: raw }));
  }
}

/** Each item is a list of its own; those of a numbered list keep their numbers. */
function itemsOf(list: Tokens.List, from: number): Unit[] {
  let line = from;
  return list.items.map((item, index) => {
    const unit = { text: list.ordered ? item.raw.replace(/^\s*\d+/, String((list.start || 1) + index)) : item.raw, line };
    line += linesIn(item.raw);
    return unit;
  });
}

function linesIn(raw: string): number {
  return raw.split("\n").length - 1;
}
