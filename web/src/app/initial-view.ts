// Initial view if the address names none: a session with a pending request, else the newest session.

import { effect } from "@preact/signals";
import { sessionsLoaded, sorted } from "./list.ts";
import { route } from "./route.ts";
import { open, openSession } from "./store.ts";

const WIDE = "(min-width: 860px)";

/** True if list and session are side by side. */
export function isWide(): boolean {
  return matchMedia(WIDE).matches;
}

export function followInitialView(): void {
  effect(() => {
    if (route.value.view !== "home" || !sessionsLoaded.value) return;
    // A phone shows the list first.
    if (!isWide()) {
      openSession(undefined);
      return;
    }
    const first = sorted.value[0];
    if (first !== undefined && open.peek() === undefined) openSession(first.key);
  });
}
