// A diagram in Mermaid's notation: its source, and on request a drawing.

import type { VNode } from "preact";
import { h } from "preact";
import { useState } from "preact/hooks";
import type { Drawing } from "../diagram/diagram.ts";
import { CopyButton } from "./copy.tsx";
import { kindOf } from "../diagram/kinds.ts";
import { InOrder } from "./revealed.tsx";

/** Address of the script, relative to the page. */
declare const DIAGRAM_SCRIPT: string;

export function Diagram({ text }: { text: string }): VNode {
  const [drawing, setDrawing] = useState<{ of: string; found: Drawing | "unknown" | "failed" } | undefined>(undefined);
  const now = drawing?.of === text ? drawing.found : undefined;
  const draw = () => {
    import(new URL(DIAGRAM_SCRIPT, import.meta.url).href).then(
      ({ diagramOf }: typeof import("../diagram/diagram.ts")) => setDrawing({ of: text, found: diagramOf(text) ?? "unknown" }),
      () => setDrawing({ of: text, found: "failed" }),
    );
  };
  const isDrawn = typeof now === "object";
  return (
    <figure class="code diagram">
      <figcaption>
        <span>mermaid</span>
        <span class="diagram-tools">
          {now === "unknown" && <span role="status">{kindOf(text)} stays text: flowcharts, state and sequence diagrams are drawn</span>}
          {now === "failed" && <span role="status">The script that draws could not be loaded</span>}
          {now !== "unknown" && (
            <button type="button" class="ghost small" onClick={() => (isDrawn ? setDrawing(undefined) : draw())}>
              {isDrawn ? "Show the source" : "Draw"}
            </button>
          )}
          <CopyButton text={text} />
        </span>
      </figcaption>
      {isDrawn ? (
        <div class="drawing" tabIndex={0} role="group" aria-label="Diagram">
          <svg viewBox={`0 0 ${now.width} ${now.height}`} width={now.width} height={now.height} role="img" aria-label={`Diagram: ${text.slice(0, 300)}`}>
            {now.shapes.map((shape) => h(shape.name, { ...shape.attributes, class: shape.class }, shape.text === undefined ? undefined : <InOrder text={shape.text} />))}
          </svg>
        </div>
      ) : (
        <pre tabIndex={0}>
          <code><InOrder text={text} /></code>
        </pre>
      )}
    </figure>
  );
}
