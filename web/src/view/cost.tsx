import type { VNode } from "preact";

export function Cost(): VNode {
  return <div class="empty"><h2>Cost</h2></div>;
}
