// What is shown first when the address names nothing: what needs somebody, else the newest session.

import { effect } from "@preact/signals";
import { sessionsLoaded, sorted } from "./list.ts";
import { route } from "./route.ts";
import { open, openSession } from "./store.ts";

const WIDE = "(min-width: 860px)";

/** Whether list and session stand side by side. */
export function isWide(): boolean {
  return matchMedia(WIDE).matches;
}

export function followFirst(): void {
  effect(() => {
    if (route.value.view !== "home" || !sessionsLoaded.value) return;
    // On a phone the list comes first.
    if (!isWide()) {
      openSession(undefined);
      return;
    }
    const first = sorted.value[0];
    if (first !== undefined && open.peek() === undefined) openSession(first.key);
  });
}
