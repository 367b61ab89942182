// Which agents can be started here: a real one where there is a Claude Code, and the demo where the server plays one.

import { computed } from "@preact/signals";
import { meta } from "./store.ts";

export const hasClaude = computed(() => meta.value?.claude !== undefined);
export const hasDemo = computed(() => meta.value?.demo === true);

/** What the real agent is called. */
export const claudeName = computed(() => {
  const version = meta.value?.claude?.version;
  return version === undefined ? "Claude Code" : `Claude Code ${version}`;
});
