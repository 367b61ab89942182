// Scroll positions of conversations, stored while the tab is open. Keys of items change with every load, so a
// position refers to a tool call or a prompt, whose ids are stable.

import type { Item } from "../model/conversation.ts";

const PREFIX = "tidings.place.";

/** A row, and its distance from the upper edge in pixels. */
export interface RowPosition {
  key: string;
  top: number;
}

interface StoredPosition {
  name: string;
  /** Number of items after the one with the name. */
  steps: number;
  top: number;
}

/** Stores the position; `undefined` is the end, where every conversation opens. */
export function savePosition(conversation: string, items: readonly Item[], spot: RowPosition | undefined): void {
  const place = spot === undefined ? undefined : storedPositionOf(items, spot);
  if (place === undefined) sessionStorage.removeItem(PREFIX + conversation);
  else sessionStorage.setItem(PREFIX + conversation, JSON.stringify(place));
}

export function savedPosition(conversation: string, items: readonly Item[]): RowPosition | undefined {
  const text = sessionStorage.getItem(PREFIX + conversation);
  return text === null ? undefined : rowPositionOf(items, JSON.parse(text) as StoredPosition);
}

/** True if a stored position is not among these items: it may be before them. */
export function isPositionMissing(conversation: string, items: readonly Item[]): boolean {
  return sessionStorage.getItem(PREFIX + conversation) !== null && savedPosition(conversation, items) === undefined;
}

export function storedPositionOf(items: readonly Item[], spot: RowPosition): StoredPosition | undefined {
  const at = items.findIndex((item) => item.key === spot.key);
  // The nearest named item before, else the nearest one after.
  const before = items.slice(0, at + 1).findLastIndex((item) => nameOf(item) !== undefined);
  const named = before === -1 ? items.findIndex((item) => nameOf(item) !== undefined) : before;
  const item = items[named];
  const name = item === undefined ? undefined : nameOf(item);
  return at === -1 || name === undefined ? undefined : { name, steps: at - named, top: spot.top };
}

export function rowPositionOf(items: readonly Item[], { name, steps, top }: StoredPosition): RowPosition | undefined {
  const named = items.findIndex((item) => nameOf(item) === name);
  const item = named === -1 ? undefined : items[named + steps];
  return item === undefined ? undefined : { key: item.key, top };
}

function nameOf(item: Item): string | undefined {
  return item.kind === "tool" ? item.id : item.kind === "prompt" ? item.uuid : undefined;
}

/** Name of an item for a link: that of the nearest named item, and the number of items after it. */
export function linkNameOf(items: readonly Item[], key: string): string | undefined {
  const stored = storedPositionOf(items, { key, top: 0 });
  if (stored === undefined) return undefined;
  return stored.steps === 0 ? stored.name : `${stored.name}+${stored.steps}`;
}

/** The item that a link names; `undefined` if it is not among these. */
export function linkedItem(items: readonly Item[], link: string): Item | undefined {
  const [, name = link, steps = "0"] = /^(.*?)(?:\+(-?\d+))?$/.exec(link) ?? [];
  const spot = rowPositionOf(items, { name, steps: Number(steps), top: 0 });
  return items.find(({ key }) => key === spot?.key);
}
