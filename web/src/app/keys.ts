// Keys that work everywhere on the page.

import { go } from "./route.ts";
import { open, sorted } from "./store.ts";

export function followKeys(): void {
  addEventListener("keydown", (event) => {
    if (!event.altKey || event.ctrlKey || event.metaKey) return;
    const run = action(event.key);
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
}

function action(key: string): (() => void) | undefined {
  switch (key) {
    case "ArrowUp":
      return () => step(-1);
    case "ArrowDown":
      return () => step(1);
    case "n":
      return () => go({ view: "new", resume: undefined, cwd: undefined });
    case "j":
      return toWhatWaits;
    default:
      return undefined;
  }
}

function step(by: number): void {
  const all = sorted.value;
  const at = all.findIndex((session) => session.key === open.value?.name || String(session.handle) === open.value?.name);
  const next = all[(at + by + all.length) % all.length];
  if (next !== undefined) go({ view: "session", id: next.key });
}

/** To the card of this session, or to the next session that has one. The focus is on the card and on none of its buttons. */
function toWhatWaits(): void {
  const card = document.querySelector<HTMLElement>(".needs-you");
  if (card !== null) {
    card.tabIndex = -1;
    card.focus();
    return;
  }
  const next = sorted.value.find((session) => session.state === "needs_you");
  if (next !== undefined) go({ view: "session", id: next.key });
}
