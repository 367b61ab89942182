// A long text in pieces that are laid out one by one: when it grows, only the last of them is laid out again.

import type { VNode } from "preact";
import { InOrder } from "./revealed.tsx";

const PIECE_CHARS = 3000;

/** Each piece ends with a line, whose break the next piece makes. */
export function Pieces({ text }: { text: string }): VNode {
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
        // A piece of empty lines alone still has its height.
        <span key={index} class="piece"><InOrder text={piece === "" ? "\n" : piece.endsWith("\n") ? `${piece}\n` : piece} /></span>
      ))}
    </>
  );
}
