// Items of a conversation: adding them, appending text to them, and retracting text.

import type { Role, TurnId } from "../wire.ts";
import type { Conversation, Item, NoteItem, NoteTone, TextItem, Track } from "./conversation.ts";

type Fresh<T> = T extends Item ? Omit<T, "key"> : never;

export function push(all: Conversation, track: Track, item: Fresh<Item>): void {
  all.made += 1;
  track.items.push({ ...item, key: `i${all.made}`, ...(all.clock === undefined ? {} : { at: all.clock }) } as Item);
}

export function note(all: Conversation, track: Track, topic: NoteItem["topic"], tone: NoteTone, text: string): void {
  push(all, track, { kind: "note", topic, tone, text });
}

export function addText(all: Conversation, track: Track, kind: TextItem["kind"], text: string, turn: TurnId): void {
  const at = writtenAt(track.items);
  const last = track.items[at];
  if (last?.kind === kind && last.open && sameTurn(last.turn, turn)) {
    track.items[at] = { ...last, text: last.text + text };
    return;
  }
  closeText(track);
  push(all, track, { kind, text, turn, open: true });
}

export function closeText(track: Track): void {
  const at = writtenAt(track.items);
  const last = track.items[at];
  if (last !== undefined && (last.kind === "text" || last.kind === "thinking") && last.open) track.items[at] = { ...last, open: false };
}

/** Index of the item that a delta belongs to: prompts and notes may come in the middle of a block. */
export function writtenAt(items: readonly Item[]): number {
  return items.findLastIndex((item) => item.kind !== "prompt" && item.kind !== "note");
}

/** Retracts the last text of a turn: it ends with `text`, in one or several items. */
export function takeBack(track: Track, kind: TextItem["kind"], text: string, turn: TurnId): void {
  let left = text;
  for (let index = track.items.length - 1; index >= 0 && left !== ""; index -= 1) {
    const item = track.items[index];
    if (item === undefined || item.kind !== kind || !sameTurn(item.turn, turn)) continue;
    if (item.text.endsWith(left)) {
      track.items[index] = { ...item, text: item.text.slice(0, item.text.length - left.length), open: false };
      return;
    }
    if (!left.endsWith(item.text)) return;
    left = left.slice(0, left.length - item.text.length);
    track.items[index] = { ...item, text: "", open: false };
  }
}

function sameTurn(one: TurnId, other: TurnId): boolean {
  return one.sequence === other.sequence && (one.role satisfies Role) === other.role;
}
