// Agents that can be started here: the real one if Claude Code is installed, and the demo if the server
// offers it.

import { computed } from "@preact/signals";
import { meta } from "./store.ts";

export const hasClaude = computed(() => meta.value?.claude !== undefined);
export const hasDemo = computed(() => meta.value?.demo === true);

/** Name of the real agent. */
export const claudeName = computed(() => {
  const version = meta.value?.claude?.version;
  return version === undefined ? "Claude Code" : `Claude Code ${version}`;
});
