import type { VNode } from "preact";

export function History({ id }: { id: string | undefined }): VNode {
  return <div class="empty"><h2>History</h2><p>{id}</p></div>;
}
