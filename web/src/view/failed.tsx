// Something could not be read from the server, and may be tried again.

import type { VNode } from "preact";

export function Failed({ problem, again }: { problem: string; again: () => void }): VNode {
  return (
    <p class="warn-line" role="alert">
      {problem}{" "}
      <button type="button" class="link" onClick={again}>
        Try again
      </button>
    </p>
  );
}
