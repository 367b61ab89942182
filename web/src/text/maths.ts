// Formulas in Markdown: `$$…$$`, `\[…\]` and `\(…\)`, and `$…$` where it cannot be a price or a variable of a
// shell.

import type { MarkedOptions } from "marked";

export interface MathToken {
  type: "maths";
  raw: string;
  tex: string;
  isBlock: boolean;
}

const BLOCK = /^ {0,3}(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]) *(?:\n+|$)/;
const INLINE = /^(?:\$\$([^$\n]+?)\$\$|\\\(([^\n]+?)\\\)|\$(?![\s\d$])((?:\\.|[^\\$\n])*?[^\s\\$])\$(?![\w$]))/;

function token(match: RegExpExecArray | null, isBlock: boolean): MathToken | undefined {
  if (match === null) return undefined;
  const tex = (match[1] ?? match[2] ?? match[3] ?? "").trim();
  // `$HOME/$USER` and the like are no formulas: one has a letter with a sign, or is a single letter.
  if (match[3] !== undefined && !/^[A-Za-z]$|[\\^_=+<>*|-]/.test(tex)) return undefined;
  return tex === "" ? undefined : { type: "maths", raw: match[0], tex, isBlock };
}

type Extensions = NonNullable<MarkedOptions["extensions"]>;

/** Extensions of the lexer; the page draws its tokens itself. */
export const MATHS = {
  block: [(source: string) => token(BLOCK.exec(source), true)],
  inline: [(source: string) => token(INLINE.exec(source), false)],
  startBlock: [(source: string) => found(source.search(/(?:^|\n) {0,3}(?:\$\$|\\\[)/))],
  startInline: [(source: string) => found(source.search(/\$|\\\(/))],
  childTokens: {},
  renderers: {},
} as unknown as Extensions;

function found(at: number): number | undefined {
  return at === -1 ? undefined : at;
}

