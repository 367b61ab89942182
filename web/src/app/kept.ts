// Data stored in this browser for its user: drafts and unsent commands. It outlives the tab, and is removed
// when the credential is revoked.

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

/** Notifies of commands that another tab has sent or withdrawn. */
export function followShelf(gone: (clientId: string) => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(LETTER) && newValue === null) gone(key.slice(LETTER.length));
  });
}

/** The server's id of this device, to find it among others with the same name. */
export function loadDevice(): string | undefined {
  return localStorage.getItem(DEVICE) ?? undefined;
}

export function keepDevice(id: string): void {
  set(DEVICE, id);
}

/** Removes all drafts and unsent commands, so that the next user of this browser does not see them. */
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
    // Too large to be stored, such as pictures; it is still in memory.
  }
}
