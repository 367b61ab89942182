// A message of the server, with literals and paths in backticks rendered as code.

import type { VNode } from "preact";
import { InOrder } from "./revealed.tsx";

export function ServerText({ text }: { text: string }): VNode {
  const parts = text.split("`");
  // A backtick without a partner is plain text.
  if (parts.length % 2 === 0) return <InOrder text={text} />;
  return <>{parts.map((part, index) => (index % 2 === 0 ? <InOrder text={part} /> : <code><InOrder text={part} /></code>))}</>;
}
