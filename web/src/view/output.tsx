// Output of tools: plain text, its end or its beginning first, the rest on demand.

import type { VNode } from "preact";
import { plainOutput } from "../text/ansi.ts";
import { CopyButton } from "./copy.tsx";
import { useFold } from "./folds.ts";

const SHOWN_LINES = 12;
/** More than this is not drawn even on demand: the browser would stand still. */
const DRAWN_MAX = 200_000;

export function Output({ text, name, tone = "plain", from = "start" }: { text: string; name: string; tone?: "plain" | "error"; from?: "start" | "end" }): VNode | null {
  const [open, toggle] = useFold(`output-${name}`, false);
  const plain = plainOutput(text).replace(/\n+$/, "");
  if (plain === "") return null;
  const lines = plain.split("\n");
  const hidden = lines.length - SHOWN_LINES;
  const kept = open || hidden <= 2 ? plain : (from === "end" ? lines.slice(-SHOWN_LINES) : lines.slice(0, SHOWN_LINES)).join("\n");
  return (
    <div class={`output ${tone}`}>
      {from === "end" && !open && hidden > 2 && <More hidden={hidden} toggle={toggle} />}
      <pre tabIndex={0}>
        <code>{kept.length > DRAWN_MAX ? `${kept.slice(0, DRAWN_MAX)}\n…` : kept}</code>
      </pre>
      {from === "start" && !open && hidden > 2 && <More hidden={hidden} toggle={toggle} />}
      {open && hidden > 2 && (
        <button type="button" class="link" onClick={toggle}>
          Show less
        </button>
      )}
      <span class="output-copy">
        <CopyButton text={plain} label="Copy output" />
      </span>
    </div>
  );
}

function More({ hidden, toggle }: { hidden: number; toggle: () => void }): VNode {
  return (
    <button type="button" class="link" onClick={toggle}>
      {hidden.toLocaleString("en-GB")} more lines
    </button>
  );
}
