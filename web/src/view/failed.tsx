// A failed request with a button to retry.

import type { VNode } from "preact";
import { ServerText } from "./server-text.tsx";

export function Failed({ problem, again }: { problem: string; again: () => void }): VNode {
  return (
    <p class="warn-line" role="alert">
      <ServerText text={problem} />{" "}
      <button type="button" class="link" onClick={again}>
        Try again
      </button>
    </p>
  );
}
