// How a session stands: a dot with a colour, and always the word for it.

import type { VNode } from "preact";
import type { ServerPhase } from "../wire.ts";

const WORDS: Record<ServerPhase, string> = {
  starting: "Starting",
  idle: "Idle",
  running: "Running",
  needs_you: "Needs you",
  parked: "Parked",
  stopped: "Stopped",
  interrupted: "Interrupted",
  failed: "Failed",
};

/** Why the agent does not answer: as long as somebody has stopped it, nothing that is said here reaches it. */
export function Stalled({ why }: { why: string }): VNode {
  return (
    <span class="state stalled" title={why}>
      <span class="state-dot" />
      <span class="cut">{why}</span>
    </span>
  );
}

export function StateChip({ state }: { state: ServerPhase }): VNode {
  return (
    <span class={`state ${state}`}>
      <span class="state-dot" />
      {WORDS[state]}
    </span>
  );
}
