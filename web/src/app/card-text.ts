// Text typed into a card, by the field of the card. It outlives the step in which it was typed and a reload
// of the page, and must not vanish with the card.

import { effect } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import type { Comment } from "./comments.ts";
import { commentsOf, commentsText, forgetComments, restoreComments } from "./comments.ts";
import { putBack } from "./drafts.ts";
import { hasCard, loadCard, saveCard, storedCards } from "./local-data.ts";

/** A field of a card: the reason of a denial, an edited text or whole input, feedback on a plan, or the answer to a question by its id. */
export type CardField = "deny" | "edit" | "input" | "feedback" | `question ${string}`;

/** The text of a card, as it is stored. */
interface StoredCard {
  fields: [CardField, string][];
  comments: readonly Comment[];
}

const texts = new Map<string, Map<CardField, string>>();
/** The opened cards, with what ends the storing of their comments. */
const opened = new Map<string, () => void>();
/** Cards whose whole text is stored. It is gone from there only if another tab has removed it. */
const stored = new Set<string>();

/** Name of the card of a request. Ids of requests are unique within their session only. */
function cardName(session: string, ask: string): string {
  return `${session} ${ask}`;
}

/** The card of a request, with the text that was typed into it before a reload. Returns its name. */
export function useCard(session: string, ask: string): string {
  return useMemo(() => openCard(session, ask), [session, ask]);
}

export function openCard(session: string, ask: string): string {
  const card = cardName(session, ask);
  if (opened.has(card)) return card;
  const before = loadCard(card) as StoredCard | undefined;
  if (before !== undefined) {
    stored.add(card);
    texts.set(card, new Map(before.fields));
    restoreComments(card, before.comments);
  }
  let last = JSON.stringify(commentsOf(card));
  const stop = effect(() => {
    const now = JSON.stringify(commentsOf(card));
    if (now !== last) store(card);
    last = now;
  });
  opened.set(card, stop);
  return card;
}

function store(card: string): void {
  const now: StoredCard = { fields: [...(texts.get(card) ?? [])], comments: commentsOf(card) };
  const isEmpty = now.fields.length === 0 && now.comments.length === 0;
  if (saveCard(card, isEmpty ? undefined : now)) stored.add(card);
  else stored.delete(card);
}

/** The text of a field, and the function that changes it. `initial` is what the field shows untouched. */
export function useCardText(card: string, field: CardField, initial = ""): [string, (text: string) => void] {
  const [text, setText] = useState(() => texts.get(card)?.get(field) ?? initial);
  const write = (now: string) => {
    setText(now);
    saveCardText(card, field, now === initial ? "" : now);
  };
  return [text, write];
}

/** The text of a field that was typed before. */
export function cardText(card: string, field: CardField): string {
  return texts.get(card)?.get(field) ?? "";
}

export function saveCardText(card: string, field: CardField, text: string): void {
  const fields = texts.get(card) ?? new Map<CardField, string>();
  if (text.trim() === "") fields.delete(field);
  else fields.set(field, text);
  if (fields.size > 0) texts.set(card, fields);
  else texts.delete(card);
  store(card);
}

/** Forgets all that was typed into a card, comments included, and moves it to the prompt field unless it was sent. Returns true if any was moved. */
export function keepUnsent(session: string, ask: string, wasSent: (field: CardField | "comments") => boolean): boolean {
  const card = openCard(session, ask);
  // Another tab has sent or kept the text already.
  const isTaken = stored.has(card) && !hasCard(card);
  const fields = [...(texts.get(card) ?? [])].filter(([field]) => !wasSent(field)).map(([, text]) => text.trim());
  const comments = wasSent("comments") ? "" : commentsText(commentsOf(card));
  forgetCard(card);
  saveCard(card, undefined);
  const unsent = [...fields, comments].filter((text) => text !== "").join("\n\n");
  if (unsent === "" || isTaken) return false;
  putBack(session, unsent);
  return true;
}

/** Requests of a session with stored text that do not wait any more: they were settled while no tab showed them. */
export function settledUnseen(session: string, waits: (ask: string) => boolean): string[] {
  const prefix = cardName(session, "");
  return storedCards(prefix)
    .map((card) => card.slice(prefix.length))
    .filter((ask) => !waits(ask));
}

function forgetCard(card: string): void {
  opened.get(card)?.();
  opened.delete(card);
  stored.delete(card);
  texts.delete(card);
  forgetComments(card);
}

/** Forgets the text of all cards in memory. */
export function forgetCards(): void {
  for (const card of [...opened.keys()]) forgetCard(card);
}
