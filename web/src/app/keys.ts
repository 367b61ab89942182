// Keyboard shortcuts of the whole page, and the list of all shortcuts.

import { signal } from "@preact/signals";
import { viewOf, waitingSessions } from "./list.ts";
import { go } from "./route.ts";
import { listed } from "./sessions.ts";
import { open } from "./store.ts";

export const KEYS: { about: string; keys: [string, string][] }[] = [
  {
    about: "Anywhere",
    keys: [
      ["Ctrl+K", "search sessions, actions and settings (⌘K on a Mac)"],
      ["Alt+J", "go to the pending request here or in the next session"],
      ["Alt+↓ Alt+↑", "next session, previous session"],
      ["Alt+PageUp Alt+PageDown", "previous prompt, next prompt"],
      ["Alt+N", "new session"],
      ["Esc", "close the innermost menu, search or step; with nothing open, interrupt the turn"],
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
      ["↑ ↓", "earlier prompts, while the field is empty"],
      ["/ and @", "complete commands and files"],
      ["Tab", "accept the suggestion or the completion"],
    ],
  },
];

/** True while the list is displayed. */
export const keysShown = signal(false);

/** The next card gets the focus. */
let wantsCard = false;

export function followKeys(paletteToggled: () => void): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    if (isPaletteKey(event)) {
      event.preventDefault();
      paletteToggled();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    // The Alt key of a Mac changes the character, but not the key code.
    const run = event.altKey ? (action(event.key) ?? action(event.code.replace("Key", ""))) : event.key === "?" && !isWriting(event.target) ? showKeys : undefined;
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
}

/** Ctrl+K, or ⌘K on a Mac, where Ctrl+K deletes to the end of a line. */
function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  return key.toLowerCase() === "k" && (isMac ? metaKey : ctrlKey) && !altKey && !shiftKey;
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
  const all = listed.value;
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
