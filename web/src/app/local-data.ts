// Data stored in this browser for its user: drafts, text typed into cards, and unsent commands. It outlives
// the tab, and is removed when the credential is revoked.

import type { CommandStore } from "@tidings/client";

const DRAFT = "tidings.draft.";
const CARD = "tidings.card.";
const COMMAND_PREFIX = "tidings.letter.";
const DEVICE = "tidings.device";
/** Keys of data that the user of this browser has saved. */
const OWN = ["tidings.templates"];

export function loadDraft(session: string): string {
  return localStorage.getItem(DRAFT + session) ?? "";
}

export function saveDraft(session: string, text: string): void {
  if (text === "") localStorage.removeItem(DRAFT + session);
  else set(DRAFT + session, text);
}

/** The text of a card, as it was saved; `undefined` without any. */
export function loadCard(card: string): unknown {
  return loadJson(CARD + card);
}

/** Saves the text of a card, or removes it if there is none. Returns false if the browser does not store it. */
export function saveCard(card: string, text: unknown): boolean {
  if (text !== undefined) saveJson(CARD + card, text);
  else localStorage.removeItem(CARD + card);
  return hasCard(card);
}

/** True if the text of a card is stored. Another tab may have removed it. */
export function hasCard(card: string): boolean {
  return localStorage.getItem(CARD + card) !== null;
}

/** The stored cards whose names begin like this. */
export function storedCards(prefix: string): string[] {
  return names(CARD + prefix).map((name) => name.slice(CARD.length));
}

export const commandStore: CommandStore = {
  load: () => names(COMMAND_PREFIX).map((name) => localStorage.getItem(name) ?? ""),
  save: (clientId, text) => set(COMMAND_PREFIX + clientId, text),
  remove: (clientId) => localStorage.removeItem(COMMAND_PREFIX + clientId),
};

/** Notifies of commands that another tab has sent or withdrawn. */
export function followCommandStore(gone: (clientId: string) => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(COMMAND_PREFIX) && newValue === null) gone(key.slice(COMMAND_PREFIX.length));
  });
}

/** A value that was saved under a name; `undefined` without one. */
export function loadJson<T>(name: string): T | undefined {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

export function saveJson(name: string, value: unknown): void {
  set(name, JSON.stringify(value));
}

/** The server's id of this device, to find it among others with the same name. */
export function loadDevice(): string | undefined {
  return localStorage.getItem(DEVICE) ?? undefined;
}

export function saveDevice(id: string): void {
  set(DEVICE, id);
}

/** Removes all drafts, text of cards and unsent commands, so that the next user of this browser does not see them. */
export function clearLocalData(): void {
  for (const name of [DEVICE, ...OWN, ...names(DRAFT), ...names(CARD), ...names(COMMAND_PREFIX)]) localStorage.removeItem(name);
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
