// Agents that can be started here: the real one if Claude Code is installed, others that the server has, and
// the demo if the server offers it.

import { computed } from "@preact/signals";
import { meta } from "./store.ts";

export const hasClaude = computed(() => meta.value?.claude !== undefined);
export const hasDemo = computed(() => meta.value?.demo === true);
/** Names of other agents. */
export const otherAgents = computed(() => meta.value?.agents ?? []);
/** True if a session with a real agent can be started. */
export const hasAgent = computed(() => hasClaude.value || otherAgents.value.length > 0);
export const canStart = computed(() => hasAgent.value || hasDemo.value);

/** Name of the real agent. */
export const claudeName = computed(() => {
  const version = meta.value?.claude?.version;
  return version === undefined ? "Claude Code" : `Claude Code ${version}`;
});
