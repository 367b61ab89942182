// Unsent prompt text, per session.

import type { Signal } from "@preact/signals";
import { effect, signal } from "@preact/signals";
import { saveDraft, loadDraft } from "./local-data.ts";

const drafts = new Map<string, Signal<string>>();

/** Draft of a session, as a signal. */
export function draftOf(session: string): Signal<string> {
  const known = drafts.get(session);
  if (known !== undefined) return known;
  const draft = signal(loadDraft(session));
  drafts.set(session, draft);
  let isFirst = true;
  effect(() => {
    const text = draft.value;
    // An unchanged draft is not stored: another tab may have edited it.
    if (!isFirst) saveDraft(session, text);
    isFirst = false;
  });
  return draft;
}

/** Returns a text to the draft, after the current content. */
export function putBack(session: string, text: string): void {
  const draft = draftOf(session);
  draft.value = draft.value.trim() === "" ? text : `${draft.value}\n\n${text}`;
}

export function forgetDrafts(): void {
  for (const draft of drafts.values()) draft.value = "";
  drafts.clear();
}
