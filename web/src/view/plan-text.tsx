// The plan of a card, and of the reader, where its parts take comments.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { unitsOf } from "../text/units.ts";
import { CommentButton, lineKeys } from "./comments.tsx";
import { Markdown } from "./markdown.tsx";
import { ScrollBox } from "./scroll-box.tsx";

export function PlanText({ text, seen }: { text: string; seen: () => void }): VNode {
  return (
    <ScrollBox class="plan-text" label="The plan" content={text} seen={seen}>
      <Markdown text={text} />
    </ScrollBox>
  );
}

/** The plan part by part. `of` is the place of comments; without one there are none. */
export function PlanUnits({ text, of }: { text: string; of: string | undefined }): VNode {
  const units = useMemo(() => unitsOf(text), [text]);
  return (
    <div class="units" onKeyDown={lineKeys}>
      {units.map((unit, index) => (
        <div class="unit" key={unit.line}>
          <span class="unit-line">{of === undefined ? unit.line : <CommentButton place={{ of, path: "", line: unit.line, quote: unit.text.trim() }} sign={String(unit.line)} isFirst={index === 0} />}</span>
          <Markdown text={unit.text} />
        </div>
      ))}
    </div>
  );
}
