// Keyboard shortcuts of the whole page, and the list of all shortcuts.

import { signal } from "@preact/signals";
import { sorted, viewOf, waitingSessions } from "./list.ts";
import { go } from "./route.ts";
import { open } from "./store.ts";

export const KEYS: { about: string; keys: [string, string][] }[] = [
  {
    about: "Anywhere",
    keys: [
      ["Alt+J", "go to the pending request here or in the next session"],
      ["Alt+↓ Alt+↑", "next session, previous session"],
      ["Alt+PageUp Alt+PageDown", "previous prompt, next prompt"],
      ["Alt+N", "new session"],
      ["?", "this list"],
    ],
  },
  {
    about: "On a pending request",
    keys: [
      ["A then O", "allow once"],
      ["A then S", "allow for the session"],
      ["D", "deny with a message"],
      ["Space", "press the focused button; Enter never allows"],
    ],
  },
  {
    about: "In the prompt field",
    keys: [
      ["Enter", "send; Shift+Enter for a new line"],
      ["Esc", "interrupt the turn"],
      ["/ and @", "complete commands and files"],
      ["Tab", "accept the suggestion or the completion"],
    ],
  },
];

/** True while the list is displayed. */
export const keysShown = signal(false);

/** The next card gets the focus. */
let wantsCard = false;

export function followKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    // The Alt key of a Mac changes the character, but not the key code.
    const run = event.altKey ? (action(event.key) ?? action(event.code.replace("Key", ""))) : event.key === "?" && !isWriting(event.target) ? showKeys : undefined;
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
}

/** True if the key belongs to a text field. */
export function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
}

function showKeys(): void {
  keysShown.value = true;
}

function action(key: string): (() => void) | undefined {
  switch (key.toLowerCase()) {
    case "arrowup":
      return () => step(-1);
    case "arrowdown":
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

/** Moves to the card of this session, or to the next session that has one. */
function toWhatWaits(): void {
  const card = document.querySelector<HTMLElement>(".needs-you");
  if (card !== null) {
    card.focus();
    return;
  }
  const next = nextWaiting();
  if (next === undefined) return;
  cardWanted();
  go({ view: "session", id: next });
}

/** The next session with a pending request after the open one. */
export function nextWaiting(): string | undefined {
  const all = waitingSessions.value;
  const at = open.value === undefined ? -1 : all.indexOf(viewOf(open.value.name)?.key ?? "");
  return all[(at + 1) % all.length];
}

export function cardWanted(): void {
  wantsCard = true;
}

/**
 * Called when a card appears. It gets the focus if the user pressed the shortcut, but none of its buttons
 * does.
 */
export function cardShown(card: HTMLElement | null): void {
  if (card === null || !wantsCard) return;
  wantsCard = false;
  card.focus();
}
