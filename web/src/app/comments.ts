// Comments on lines of a diff or of a plan. They are kept until they are sent together, as one prompt or
// answer.

import { signal } from "@preact/signals";

/** The line that a comment is about. */
export interface CommentPlace {
  /** The session, or the card of the pending request that the comment answers. */
  of: string;
  /** Path of the file; empty for a plan. */
  path: string;
  line: number;
  /** Text of the line. */
  quote: string;
}

export interface Comment extends CommentPlace {
  id: number;
  text: string;
}

export const comments = signal<readonly Comment[]>([]);
/** The place whose comment is being written. */
export const commenting = signal<CommentPlace | undefined>(undefined);
let last = 0;

export function commentsOf(of: string): readonly Comment[] {
  return comments.value.filter((one) => one.of === of);
}

/** The comment on a line. */
export function commentAt({ of, path, line, quote }: CommentPlace): Comment | undefined {
  return comments.value.find((one) => one.of === of && one.path === path && one.line === line && one.quote === quote);
}

/** Writes the comment of a line; an empty text removes it. */
export function writeComment(place: CommentPlace, text: string): void {
  const before = commentAt(place);
  const others = comments.value.filter((one) => one !== before);
  last += 1;
  comments.value = text.trim() === "" ? others : [...others, { ...place, text: text.trim(), id: before?.id ?? last }].sort((one, other) => one.id - other.id);
}

/** Adds comments that were stored, in their order. */
export function restoreComments(of: string, stored: readonly Comment[]): void {
  if (stored.length === 0) return;
  const restored = stored.map(({ path, line, quote, text }) => {
    last += 1;
    return { of, path, line, quote, text, id: last };
  });
  comments.value = [...comments.value.filter((one) => one.of !== of), ...restored];
}

export function forgetComments(of: string): void {
  comments.value = comments.value.filter((one) => one.of !== of);
  if (commenting.value?.of === of) commenting.value = undefined;
}

const QUOTE_MAX = 200;

/** All comments as one text for the agent: each with the line that it is about. */
export function commentsText(all: readonly Comment[]): string {
  return all
    .map(({ path, line, quote, text }) => {
      const short = quote.length > QUOTE_MAX ? `${quote.slice(0, QUOTE_MAX)}…` : quote;
      const where = path === "" ? `Line ${line}` : `${path}:${line}`;
      return `${where}\n${short.replace(/^/gm, "> ")}\n${text}`;
    })
    .join("\n\n");
}
