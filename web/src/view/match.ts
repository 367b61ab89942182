// Shows a search match: unfolds everything around it, highlights it and scrolls to it.

import type { Match } from "../model/find.ts";
import type { Item } from "../model/conversation.ts";
import { openFold } from "./folds.ts";

const MARK = "found";

/** Before drawing: opens folded parts. */
export function unfold({ item, within }: Match): void {
  for (const one of [item, ...within]) for (const name of foldsOf(one)) openFold(name);
}

function foldsOf(item: Item): string[] {
  switch (item.kind) {
    case "tool":
      return [`tool-${item.id}`, `output-${item.id}`, `output-${item.id}-err`, `output-${item.id}-in`, `lane-${item.id}`];
    case "thinking":
      return [`thought-${item.key}`];
    case "prompt":
      return [`prompt-${item.key}`];
    case "note":
      return [`output-${item.key}`];
    default:
      return [];
  }
}

/** After drawing: highlights the match in the row, and scrolls to it if the row is taller than the screen. */
export function markWords(row: Element, words: string): void {
  const range = rangeOf(row, words.trim().toLowerCase());
  if (range === undefined) return;
  if ("highlights" in CSS) CSS.highlights.set(MARK, new Highlight(range));
  for (let box = range.startContainer.parentElement; box !== null; box = box.parentElement) {
    const frame = box.getBoundingClientRect();
    const { top, bottom } = range.getBoundingClientRect();
    if (box.scrollHeight > box.clientHeight && (top < frame.top || bottom > frame.bottom)) box.scrollTop += top - frame.top - box.clientHeight / 3;
    if (box.classList.contains("scroller")) return;
  }
}

function rangeOf(row: Element, words: string): Range | undefined {
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const at = (node.nodeValue ?? "").toLowerCase().indexOf(words);
    if (at === -1) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, Math.min(at + words.length, node.nodeValue?.length ?? 0));
    return range;
  }
  return undefined;
}
