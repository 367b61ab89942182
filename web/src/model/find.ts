// Search for text in a conversation.

import type { JsonValue } from "../wire.ts";
import type { Conversation, Item, Lane } from "./conversation.ts";

export interface SearchTarget {
  /** The searched text. */
  words: string;
  /** The match with the text around it, to distinguish it from others. */
  around: string;
}

export interface Match {
  /** The item of the conversation. */
  item: Item;
  /** The items inside it that lead to the match, outermost first; a sub-agent is inside of a call. */
  within: Item[];
}

/**
 * Finds the item with the match: with the same text around it if possible, else the last one with the
 * searched text.
 */
export function findIn(all: Conversation, { words, around }: SearchTarget): Match | undefined {
  const exact = plain(around);
  return last(all, all.items, exact, new Set()) ?? last(all, all.items, plain(words), new Set());
}

/** Items of the conversation that contain a text, also in their sub-agents, oldest first. */
export function itemsContaining(all: Conversation, words: string): Item[] {
  const sought = plain(words);
  return sought === "" ? [] : all.items.filter((item) => last(all, [item], sought, new Set()) !== undefined);
}

function last(all: Conversation, items: readonly Item[], sought: string, seen: Set<Lane>): Match | undefined {
  if (sought === "") return undefined;
  for (const item of items.toReversed()) {
    if (says(item, sought)) return { item, within: [] };
    const lane = item.kind === "tool" ? all.lanes.get(item.id) : undefined;
    // As deep as sub-agents are nested; the set ends a cycle.
    if (lane === undefined || seen.has(lane)) continue;
    seen.add(lane);
    const inside = last(all, lane.items, sought, seen);
    if (inside !== undefined) return { item, within: [inside.item, ...inside.within] };
  }
  return undefined;
}

function says(item: Item, sought: string): boolean {
  switch (item.kind) {
    case "tool":
      return !item.retracted && [item.result ?? "", item.plan ?? "", ...strings(item.input), ...strings(item.account)].some((text) => plain(text).includes(sought));
    case "result":
      return plain(item.result.error ?? "").includes(sought);
    default:
      return plain(item.text).includes(sought);
  }
}

/** Every text in a value. */
function strings(value: JsonValue | undefined): string[] {
  const found: string[] = [];
  const left = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === "string") found.push(one);
    else if (one !== null && typeof one === "object") left.push(...Object.values(one));
  }
  return found;
}

/** Ignores line breaks, which differ between file and screen, and letter case. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}
