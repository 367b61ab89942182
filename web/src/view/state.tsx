// State of a session: a coloured dot, always with its name.

import type { VNode } from "preact";
import { STATE_WORDS } from "../model/groups.ts";
import type { SessionView } from "../wire.ts";
import { InOrder } from "./revealed.tsx";

/** Reason why the agent does not respond: a stopped process (SIGSTOP) reads no input. */
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
  // Idle after a failed turn. An interrupt is an error to the agent too, but not shown as one.
  const broke = error !== undefined && session.turn_interrupted !== true && (state === "idle" || state === "parked" || state === "stopped");
  return (
    <span class={`state ${state}${broke ? " broke" : ""}`} title={broke ? error : undefined}>
      <span class="state-dot" />
      {broke ? "Turn failed" : STATE_WORDS[state] ?? state}
    </span>
  );
}
