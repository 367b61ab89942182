// What this browser keeps for the person who uses it: what was being written, and what was not sent yet. It outlives the
// tab, and goes when the person does.

import type { Shelf } from "../net/outbox.ts";

const DRAFT = "tidings.draft.";
const LETTER = "tidings.letter.";
const DEVICE = "tidings.device";

export function loadDraft(session: string): string {
  return localStorage.getItem(DRAFT + session) ?? "";
}

export function keepDraft(session: string, text: string): void {
  if (text === "") localStorage.removeItem(DRAFT + session);
  else set(DRAFT + session, text);
}

export const letterShelf: Shelf = {
  load: () => names(LETTER).map((name) => localStorage.getItem(name) ?? ""),
  save: (clientId, text) => set(LETTER + clientId, text),
  remove: (clientId) => localStorage.removeItem(LETTER + clientId),
};

/** Tells which letters another tab has sent or taken back. */
export function followShelf(gone: (clientId: string) => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(LETTER) && newValue === null) gone(key.slice(LETTER.length));
  });
}

/** The name that the server has for this browser, to know it among others that are called the same. */
export function loadDevice(): string | undefined {
  return localStorage.getItem(DEVICE) ?? undefined;
}

export function keepDevice(id: string): void {
  set(DEVICE, id);
}

/** Whoever comes next on this browser finds nothing of what was written. */
export function forgetKept(): void {
  for (const name of [DEVICE, ...names(DRAFT), ...names(LETTER)]) localStorage.removeItem(name);
}

function names(prefix: string): string[] {
  return Object.keys(localStorage).filter((name) => name.startsWith(prefix));
}

function set(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
  } catch {
    // Too large to be kept, such as pictures; it is still in memory.
  }
}
