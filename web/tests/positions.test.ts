// Positions in a conversation: stored scroll positions, and search matches.

import assert from "node:assert/strict";
import { test } from "node:test";
import { storedPositionOf, rowPositionOf } from "../src/app/scroll-positions.ts";
import { emptyConversation } from "../src/model/conversation.ts";
import { findIn } from "../src/model/find.ts";
import { fold } from "../src/model/fold.ts";
import { picturesOf } from "../src/model/pictures.ts";
import type { UiMessage } from "../src/wire.ts";

const turn = (sequence: number) => ({ sequence, role: "Assistant" as const });
const prompt = (text: string, uuid: string) => ({ UserPrompt: { session_id: 1, text, uuid, attachments: [] } });
const said = (text: string, at: number) => [{ TextChunk: { session_id: 1, text, turn_id: turn(at) } }, { TextEnded: { session_id: 1, turn_id: turn(at) } }];
const call = (id: string, command: string, result: string) => [
  { ToolExecuting: { session_id: 1, tool_use_id: id, tool_name: "Bash", input: { command } } },
  { ToolCompleted: { session_id: 1, tool_use_id: id, result } },
];
const inLane = (agent: string, events: object[]) => events.map((event) => ({ Lane: { session_id: 1, agent_id: agent, event } }));

const EVENTS = [
  ...said("before everything", 1),
  prompt("Look for it", "p1"),
  ...said("I look\nfor   it.", 2),
  ...call("t1", "grep needle", "one needle"),
  ...said("The first needle was found.", 3),
  ...call("agent", "", ""),
  ...inLane("agent", call("t2", "ls", "a deep needle")),
  prompt("And?", "p2"),
  ...said("Another needle, and more.", 4),
];

function folded(events: readonly object[]) {
  const all = emptyConversation();
  for (const event of events) fold(all, event as UiMessage);
  return all;
}

test("a scroll position is found again after the conversation is loaded differently", () => {
  const whole = folded(EVENTS).items;
  const late = folded(EVENTS.slice(3)).items;
  for (const { key } of whole) {
    const place = storedPositionOf(whole, { key, top: 12 });
    assert.ok(place);
    assert.deepEqual(rowPositionOf(whole, place), { key, top: 12 });
  }
  const answer = late.find((item) => item.kind === "text" && item.text.startsWith("Another"));
  const same = whole.find((item) => item.kind === "text" && item.text.startsWith("Another"));
  assert.ok(answer && same);
  const place = storedPositionOf(whole, { key: same.key, top: -3 });
  assert.ok(place);
  assert.deepEqual(rowPositionOf(late, place), { key: answer.key, top: -3 });
  assert.equal(rowPositionOf([], place), undefined);
});

test("a match in a file is found in the conversation by the text around it", () => {
  const all = folded(EVENTS);
  const table: [string, string, (string | undefined)[]][] = [
    ["needle", "The first needle was found.", ["text"]],
    ["NEEDLE", "one needle", ["tool"]],
    ["needle", "grep needle", ["tool"]],
    ["needle", "a deep needle", ["tool", "tool"]],
    // Line breaks and the text around may differ: then the last match counts.
    ["look for it", "I look for it.", ["text"]],
    ["needle", "no such words", ["text"]],
    ["haystack", "haystack", [undefined]],
  ];
  for (const [words, around, kinds] of table) {
    const found = findIn(all, { words, around });
    assert.deepEqual(found === undefined ? [undefined] : [found.item.kind, ...found.within.map((item) => item.kind)], kinds, around);
  }
  const last = findIn(all, { words: "needle", around: "no such words" })?.item;
  assert.ok(last?.kind === "text" && last.text.startsWith("Another"));
});

test("t7_only_pictures_that_run_nothing_are_drawn", () => {
  const read = (type: string) => ({ type: "image", file: { base64: "AAAA", type } });
  assert.deepEqual(picturesOf(read("image/png")), [{ type: "image/png", base64: "AAAA" }]);
  for (const odd of [read("image/svg+xml"), read("text/html"), { file: { base64: 1, type: "image/png" } }, "text", null, undefined, { file: null }]) assert.deepEqual(picturesOf(odd), []);
  const blocks = [{ type: "text", text: "x" }, { type: "image", source: { type: "base64", media_type: "image/webp", data: "BBBB" } }];
  assert.deepEqual(picturesOf(blocks), [{ type: "image/webp", base64: "BBBB" }]);
  assert.deepEqual(picturesOf({ content: [{ type: "image", data: "CCCC", mimeType: "image/gif" }] }), [{ type: "image/gif", base64: "CCCC" }]);
});
