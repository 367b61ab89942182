// Text that a person decides by: nothing in it passes unseen.

import type { VNode } from "preact";
import { revealed, warnings } from "../text/hidden.ts";

export function Revealed({ text }: { text: string }): VNode {
  return (
    <>
      {revealed(text).map((piece) =>
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
