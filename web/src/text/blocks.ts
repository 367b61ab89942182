// Markdown that is still being written, cut into blocks of which only the last may still change.

import { Lexer } from "marked";
import type { Token } from "marked";

export interface Cut {
  source: string;
  tokens: Token[];
}

const OPTIONS = { gfm: true, breaks: false };

/** The blocks of a text. Given those of a beginning of it, only what follows the last of them is read again. */
export function blocksOf(source: string, before: Cut | undefined): Cut {
  if (before?.source === source) return before;
  if (before === undefined || !source.startsWith(before.source) || before.tokens.length < 2) return { source, tokens: lex(source) };
  // Only the last block with something in it can grow; blank lines after it belong to nobody yet.
  let keep = before.tokens.length - 1;
  while (keep > 0 && before.tokens[keep]?.type === "space") keep -= 1;
  const kept = before.tokens.slice(0, keep);
  const length = kept.reduce((sum, token) => sum + token.raw.length, 0);
  // Where the pieces do not add up to the text (tabs and line ends are rewritten), it is read as a whole.
  if (kept.map((token) => token.raw).join("") !== source.slice(0, length)) return { source, tokens: lex(source) };
  return { source, tokens: [...kept, ...lex(source.slice(length))] };
}

function lex(source: string): Token[] {
  return new Lexer(OPTIONS).lex(source);
}
