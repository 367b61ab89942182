// Whether the server has room to store what happens. It can be read, and agents can be stopped, while it has none.

import { computed, effect } from "@preact/signals";
import { getJson } from "../net/api.ts";
import type { Meta } from "../wire.ts";
import { entrance, meta } from "./store.ts";

const ASK_MS = 30_000;
/** While the disk is full, so that the banner goes soon after there is room. */
const ASK_FULL_MS = 5_000;

export const isStorageFull = computed(() => meta.value?.storage_full === true);

/** Asks the server from time to time while the page is in sight. */
export function followStorage(): void {
  effect(() => {
    const timer = setInterval(() => void ask(), isStorageFull.value ? ASK_FULL_MS : ASK_MS);
    return () => clearInterval(timer);
  });
}

async function ask(): Promise<void> {
  if (document.visibilityState !== "visible" || entrance.value !== "inside") return;
  // Without an answer there is another banner already.
  const now = await getJson<Meta>("meta").catch(() => undefined);
  if (now !== undefined) meta.value = now;
}
