// A long text in parts that are laid out separately: when it grows, only the last part is laid out again.

import type { VNode } from "preact";
import { InOrder } from "./revealed.tsx";

const PIECE_CHARS = 3000;

/** Each part ends with a line, and the next part makes its line break. */
export function TextParts({ text }: { text: string }): VNode {
  const pieces = [];
  let from = 0;
  while (text.length - from > PIECE_CHARS) {
    const end = text.indexOf("\n", from + PIECE_CHARS);
    if (end === -1) break;
    pieces.push(text.slice(from, end));
    from = end + 1;
  }
  const last = text.slice(from);
  if (pieces.length === 0) return <InOrder text={last} />;
  return (
    <>
      {[...pieces, last].map((piece, index) => (
        // A part of empty lines only still has its height.
        <span key={index} class="piece"><InOrder text={piece === "" ? "\n" : piece.endsWith("\n") ? `${piece}\n` : piece} /></span>
      ))}
    </>
  );
}
