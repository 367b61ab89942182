// A sentence of the server: literals and paths stand in backticks there, and look like what they are here.

import type { VNode } from "preact";
import { InOrder } from "./revealed.tsx";

export function Said({ text }: { text: string }): VNode {
  const parts = text.split("`");
  // One without a partner is no frame of anything.
  if (parts.length % 2 === 0) return <InOrder text={text} />;
  return <>{parts.map((part, index) => (index % 2 === 0 ? <InOrder text={part} /> : <code><InOrder text={part} /></code>))}</>;
}
