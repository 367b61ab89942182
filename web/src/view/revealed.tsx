// Text with what is hidden in it: all of it where a person decides by it, and what turns its order everywhere else.

import type { VNode } from "preact";
import type { Piece } from "../text/hidden.ts";
import { inOrder, revealed, warnings } from "../text/hidden.ts";

export function Revealed({ text }: { text: string }): VNode {
  return <Marked pieces={revealed(text)} />;
}

/** Text that stands in the order in which it is read, whatever it says about that. */
export function InOrder({ text }: { text: string }): VNode {
  return <Marked pieces={inOrder(text)} />;
}

function Marked({ pieces }: { pieces: readonly Piece[] }): VNode {
  return (
    <>
      {pieces.map((piece) =>
        "text" in piece ? (
          piece.text
        ) : (
          <mark class="hidden-char" title={`${piece.mark} ${piece.name}`}>
            {piece.mark}
          </mark>
        ),
      )}
    </>
  );
}

/** The whole text in a box that scrolls, with its length and what is odd about it. */
export function Exact({ text, label }: { text: string; label: string }): VNode {
  const found = warnings(text);
  return (
    <div class="exact">
      <pre tabIndex={0} aria-label={label} role="group">
        <code>
          <Revealed text={text} />
        </code>
      </pre>
      {text.length > 200 && <p class="exact-size">{text.length.toLocaleString("en-GB")} characters; all of them are shown.</p>}
      {found.length > 0 && (
        <p class="warn-line" role="note">
          Look closely: {found.join("; ")}.
        </p>
      )}
    </div>
  );
}
