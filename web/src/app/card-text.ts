// Text typed into a card, by the field of the card. It outlives the step in which it was typed, and must not
// vanish with the card.

import { useState } from "preact/hooks";
import { commentsOf, commentsText, forgetComments } from "./comments.ts";
import { putBack } from "./drafts.ts";

/** A field of a card: the reason of a denial, an edited text or whole input, feedback on a plan, or the answer to a question by its id. */
export type CardField = "deny" | "edit" | "input" | "feedback" | `question ${string}`;

const texts = new Map<string, Map<CardField, string>>();

/** The text of a field, and the function that changes it. `initial` is what the field shows untouched. */
export function useCardText(ask: string, field: CardField, initial = ""): [string, (text: string) => void] {
  const [text, setText] = useState(() => texts.get(ask)?.get(field) ?? initial);
  const write = (now: string) => {
    setText(now);
    saveCardText(ask, field, now === initial ? "" : now);
  };
  return [text, write];
}

/** The text of a field that was typed before. */
export function cardText(ask: string, field: CardField): string {
  return texts.get(ask)?.get(field) ?? "";
}

export function saveCardText(ask: string, field: CardField, text: string): void {
  const fields = texts.get(ask) ?? new Map<CardField, string>();
  if (text.trim() === "") fields.delete(field);
  else fields.set(field, text);
  if (fields.size > 0) texts.set(ask, fields);
  else texts.delete(ask);
}

/** Forgets all that was typed into a card, comments included, and moves it to the prompt field unless it was sent. Returns true if any was moved. */
export function keepUnsent(session: string, ask: string, wasSent: (field: CardField | "comments") => boolean): boolean {
  const fields = [...(texts.get(ask) ?? [])].filter(([field]) => !wasSent(field)).map(([, text]) => text.trim());
  const comments = wasSent("comments") ? "" : commentsText(commentsOf(ask));
  texts.delete(ask);
  forgetComments(ask);
  const unsent = [...fields, comments].filter((text) => text !== "").join("\n\n");
  if (unsent === "") return false;
  putBack(session, unsent);
  return true;
}
