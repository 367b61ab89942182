// How a session stands: a dot with a colour, and always the word for it.

import type { VNode } from "preact";
import type { ServerPhase, SessionView } from "../wire.ts";
import { InOrder } from "./revealed.tsx";

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
      <span class="cut"><InOrder text={why} /></span>
    </span>
  );
}

export function StateChip({ session }: { session: SessionView }): VNode {
  const { state, error } = session;
  // It does nothing, since the last thing that it did went wrong. To be interrupted is to the agent an error too.
  const broke = error !== undefined && session.turn_interrupted !== true && (state === "idle" || state === "parked" || state === "stopped");
  return (
    <span class={`state ${state}${broke ? " broke" : ""}`} title={broke ? error : undefined}>
      <span class="state-dot" />
      {broke ? "Turn failed" : WORDS[state]}
    </span>
  );
}
