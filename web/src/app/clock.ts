// Current time, for relative times on the screen; updated twice a minute.

import { signal } from "@preact/signals";

const TICK_MS = 30_000;

export const now = signal(Date.now());

export function followClock(): void {
  setInterval(() => {
    now.value = Date.now();
  }, TICK_MS);
}
