// A formula: its source until KaTeX is loaded, then MathML.

import type { VNode } from "preact";
import { h } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MathNode } from "../maths/maths.ts";
import { InOrder } from "./revealed.tsx";

/** Address of the script, relative to the page. */
declare const MATHS_SCRIPT: string;

type Maths = typeof import("../maths/maths.ts");
let loaded: Maths | undefined;
let loading: Promise<Maths> | undefined;

function load(): Promise<Maths> {
  loading ??= import(new URL(MATHS_SCRIPT, import.meta.url).href).then((script: Maths) => (loaded = script));
  return loading;
}

export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }): VNode {
  const [, drawAgain] = useState(0);
  useEffect(() => {
    if (loaded === undefined) load().then(() => drawAgain(1), () => (loading = undefined));
  }, []);
  const found = loaded?.mathOf(tex, isBlock);
  const content = found === undefined ? <code><InOrder text={tex} /></code> : drawn(found);
  return isBlock ? <div class="maths" tabIndex={0} role="group" aria-label="Formula">{content}</div> : content;
}

function drawn(node: MathNode): VNode {
  return h(node.name, node.attributes, ...node.children.map((child) => (typeof child === "string" ? child : drawn(child))));
}
