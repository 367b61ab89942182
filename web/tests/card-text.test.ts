// Text typed into cards: kept over a reload, and moved to the draft of the session if it was not sent.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { cardText, forgetCards, keepUnsent, openCard, saveCardText, settledUnseen } from "../src/app/card-text.ts";
import { commentsOf, writeComment } from "../src/app/comments.ts";
import { draftOf, forgetDrafts } from "../src/app/drafts.ts";
import { clearLocalData } from "../src/app/local-data.ts";

/** The storage of a browser: its items are members of the object. */
class Items {
  [name: string]: unknown;
  getItem(name: string): string | null {
    return Object.hasOwn(this, name) ? String(this[name]) : null;
  }
  setItem(name: string, text: string): void {
    this[name] = text;
  }
  removeItem(name: string): void {
    delete this[name];
  }
}

const stored = () => Object.keys(localStorage);
/** A reload loses everything in memory. */
const reload = forgetCards;

beforeEach(() => {
  forgetCards();
  Object.assign(globalThis, { localStorage: new Items() });
  forgetDrafts();
});

const line = (of: string) => ({ of, path: "notes.txt", line: 3, quote: "three" });

test("p38 a card keeps its text and its comments over a reload, per session and request", () => {
  const card = openCard("s1", "t1");
  saveCardText(card, "deny", "Use the release profile");
  writeComment(line(card), "Not");
  writeComment(line(card), "Not this line");
  writeComment({ ...line(card), line: 1 }, "Nor this");
  saveCardText(openCard("s2", "t1"), "feedback", "Mind the tests");
  reload();
  assert.equal(openCard("s1", "t1"), card);
  assert.equal(cardText(card, "deny"), "Use the release profile");
  assert.deepEqual(commentsOf(card).map(({ line, text }) => [line, text]), [[3, "Not this line"], [1, "Nor this"]]);
  assert.equal(new Set(commentsOf(card).map(({ id }) => id)).size, 2);
  const other = openCard("s2", "t1");
  assert.deepEqual([cardText(other, "deny"), cardText(other, "feedback"), commentsOf(other)], ["", "Mind the tests", []]);
  // What is removed again is not stored either.
  saveCardText(other, "feedback", " ");
  for (const one of commentsOf(card)) writeComment(one, "");
  saveCardText(card, "deny", "");
  assert.deepEqual(stored(), []);
});

test("p38 an answered card is no longer stored, and its unsent text is in the draft", () => {
  const card = openCard("s1", "t1");
  saveCardText(card, "deny", "Sent");
  saveCardText(card, "edit", "make all");
  writeComment(line(card), "A comment");
  assert.ok(keepUnsent("s1", "t1", (field) => field === "deny" || field === "comments"));
  assert.equal(draftOf("s1").value, "make all");
  assert.deepEqual(stored(), ["tidings.draft.s1"]);
  assert.ok(!keepUnsent("s1", "t1", () => false));
  reload();
  const again = openCard("s1", "t1");
  assert.deepEqual([cardText(again, "deny"), commentsOf(again)], ["", []]);
});

test("p38 text of a request that was settled while no page was open moves to the draft", () => {
  saveCardText(openCard("s1", "t1"), "deny", "Use make");
  saveCardText(openCard("s1", "t2"), "deny", "Still waits");
  saveCardText(openCard("s10", "t3"), "deny", "Another session");
  reload();
  const gone = settledUnseen("s1", (ask) => ask === "t2");
  assert.deepEqual(gone, ["t1"]);
  for (const ask of gone) assert.ok(keepUnsent("s1", ask, () => false));
  assert.equal(draftOf("s1").value, "Use make");
  assert.deepEqual(settledUnseen("s1", (ask) => ask === "t2"), []);
  assert.deepEqual(settledUnseen("s10", () => false), ["t3"]);
});

test("p38 text that another tab has sent is not kept here as well, and the next user of the browser sees none", () => {
  const card = openCard("s1", "t1");
  saveCardText(card, "deny", "Sent by the other tab");
  localStorage.removeItem("tidings.card.s1 t1");
  assert.ok(!keepUnsent("s1", "t1", () => false));
  assert.equal(draftOf("s1").value, "");
  saveCardText(openCard("s1", "t2"), "deny", "Mine");
  clearLocalData();
  assert.deepEqual(stored(), []);
});
