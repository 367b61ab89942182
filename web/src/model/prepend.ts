// Prepending of older events: they are folded into a conversation of their own, which is put before the
// displayed one.

import type { Conversation, Item, Lane, Track } from "./conversation.ts";
import { decided, markDropped, toolOf } from "./fold.ts";
import { writtenAt } from "./items.ts";

/** Puts the items of `older` before those of `all`. The current state of `all` stays. */
export function prepend(all: Conversation, older: Conversation): void {
  // Keys must be unique.
  all.made += 1;
  const prefix = `o${all.made}-`;
  const items = older.items.map((item) => ({ ...item, key: prefix + item.key }));

  for (const [uuid, reason] of older.dropped) all.dropped.set(uuid, reason);
  markDropped(all, items);
  joinBorder(items, all.items);
  all.items = [...items, ...all.items];
  all.older += items.length;
  for (const [id, place] of older.calls) {
    const inMain = place.track === older;
    const track = inMain ? all : place.track;
    const position = inMain ? place.position + older.older - all.older : place.position;
    const later = toolOf(all, id);
    all.calls.set(id, { track, position });
    if (later !== undefined && inMain) joinHalves(all, position + all.older, later.key);
  }
  for (const [id, lane] of older.lanes) {
    const later = all.lanes.get(id);
    if (later === undefined) all.lanes.set(id, lane);
    else joinLanes(all, later, lane, prefix);
  }
  for (const [id, decision] of all.decisions) {
    const place = all.calls.get(id);
    const tool = toolOf(all, id);
    if (place === undefined || tool === undefined) continue;
    const at = place.track.items.indexOf(tool);
    place.track.items[at] = { ...tool, ...decided(decision)(tool) };
    all.decisions.delete(id);
  }
  for (const [id, decision] of older.decisions) if (!all.decisions.has(id)) all.decisions.set(id, decision);
  all.revision += 1;
}

/** A call that began before the border and ended after it is displayed where it began. */
function joinHalves(track: Track, beginAt: number, laterKey: string): void {
  const endAt = track.items.findIndex((item) => item.key === laterKey);
  const begin = track.items[beginAt];
  const end = track.items[endAt];
  if (begin?.kind !== "tool" || end?.kind !== "tool") return;
  track.items[beginAt] = {
    ...begin,
    input: end.modelInput === undefined ? (begin.input ?? end.input) : end.input,
    modelInput: begin.modelInput ?? (end.modelInput === undefined ? undefined : begin.input),
    state: begin.state === "failed" ? "failed" : end.state,
    result: end.result ?? begin.result,
    account: end.account ?? begin.account,
    elapsedSeconds: end.elapsedSeconds ?? begin.elapsedSeconds,
    settled: end.settled ?? begin.settled,
    plan: end.plan ?? begin.plan,
    retracted: end.retracted,
  };
  track.items[endAt] = { ...end, retracted: true };
}

/** A sub-agent on both sides of the border has one lane. */
function joinLanes(all: Conversation, later: Lane, before: Lane, prefix: string): void {
  const items = before.items.map((item) => ({ ...item, key: prefix + item.key }));
  joinBorder(items, later.items);
  const ids = new Set(items.map((item) => (item.kind === "tool" ? item.id : undefined)));
  const repeated = (item: Item) => item.kind === "tool" && ids.has(item.id);
  for (const place of all.calls.values()) {
    if (place.track === later) place.position += items.length;
  }
  for (const [id, place] of all.calls) {
    if (place.track === before) all.calls.set(id, { track: later, position: place.position });
  }
  const halves = later.items.filter(repeated);
  later.items = [...items, ...later.items];
  for (const half of halves) {
    const beginAt = later.items.findIndex((item) => item.kind === "tool" && half.kind === "tool" && item.id === half.id);
    joinHalves(later, beginAt, half.key);
  }
  later.started = before.started ?? later.started;
  later.progress ??= before.progress;
  later.revision += 1;
}

/** Joins a text that the border cuts in two; of two notes about retries the later one stays. */
function joinBorder(before: Item[], after: Item[]): void {
  const last = before.at(-1);
  const first = after[0];
  if (last === undefined || first === undefined) return;
  const lastAt = writtenAt(before);
  const firstAt = after.findIndex((item) => item.kind !== "prompt" && item.kind !== "note");
  const [written, more] = [before[lastAt], after[firstAt]];
  const goesOn = (written?.kind === "text" || written?.kind === "thinking") && written.open && more?.kind === written.kind && more.turn.sequence === written.turn.sequence;
  if (goesOn && last === written && first === more) {
    after[0] = { ...more, text: written.text + more.text };
    before.pop();
  } else if (goesOn && !more.open) {
    // Prompts that came in between stand after the block. Its second half stays as an empty item, so that
    // positions stay valid.
    before[lastAt] = { ...written, text: written.text + more.text, open: false };
    after[firstAt] = { ...more, text: "" };
  } else if (last.kind === "note" && first.kind === "note" && last.topic === "retry" && first.topic === "retry") {
    before.pop();
  }
}
