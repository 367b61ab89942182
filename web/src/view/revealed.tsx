// Text with hidden characters made visible: all of them where a user decides by it, elsewhere those that
// reorder text.

import type { VNode } from "preact";
import type { Piece } from "../text/hidden.ts";
import { inOrder, revealed, warnings } from "../text/hidden.ts";

export function Revealed({ text }: { text: string }): VNode {
  return <Marked pieces={revealed(text)} />;
}

/** Text in logical order, with direction overrides marked. */
export function InOrder({ text }: { text: string }): VNode {
  return <Marked pieces={inOrder(text)} />;
}

export function Marked({ pieces }: { pieces: readonly Piece[] }): VNode {
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

/** The whole text in a scrolling box, with its length and warnings. */
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
          Warning: {found.join("; ")}.
        </p>
      )}
    </div>
  );
}
