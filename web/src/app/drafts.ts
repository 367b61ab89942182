// What is being written, per session.

import type { Signal } from "@preact/signals";
import { effect, signal } from "@preact/signals";
import { keepDraft, loadDraft } from "./kept.ts";

const drafts = new Map<string, Signal<string>>();

/** The text of a session, which whoever changes it changes on the screen too. */
export function draftOf(session: string): Signal<string> {
  const known = drafts.get(session);
  if (known !== undefined) return known;
  const draft = signal(loadDraft(session));
  drafts.set(session, draft);
  let isFirst = true;
  effect(() => {
    const text = draft.value;
    // What was only looked at is not written: another tab may have gone on with it.
    if (!isFirst) keepDraft(session, text);
    isFirst = false;
  });
  return draft;
}

/** Puts a text back to where it was written, after what is there by now. */
export function putBack(session: string, text: string): void {
  const draft = draftOf(session);
  draft.value = draft.value.trim() === "" ? text : `${draft.value}\n\n${text}`;
}

export function forgetDrafts(): void {
  for (const draft of drafts.values()) draft.value = "";
  drafts.clear();
}
