// Watches for a full disk of the server. Sessions can be read, and agents stopped, while it is full.

import { computed, effect } from "@preact/signals";
import { getJson } from "../net/api.ts";
import type { Meta } from "../wire.ts";
import { authState, meta } from "./store.ts";

const ASK_MS = 30_000;
/** Interval while the disk is full, so that the banner disappears soon after. */
const ASK_FULL_MS = 5_000;

export const isStorageFull = computed(() => meta.value?.storage_full === true);

/** What the journal of the server held and does not hold any more, in sentences. */
export const journalDamage = computed(() => meta.value?.damage ?? []);

/** Polls the server while the page is visible. */
export function followStorage(): void {
  effect(() => {
    const timer = setInterval(() => void ask(), isStorageFull.value ? ASK_FULL_MS : ASK_MS);
    return () => clearInterval(timer);
  });
}

async function ask(): Promise<void> {
  if (document.visibilityState !== "visible" || authState.value !== "paired") return;
  // Without a response another banner is displayed already.
  const now = await getJson<Meta>("meta").catch(() => undefined);
  if (now !== undefined) meta.value = now;
}
