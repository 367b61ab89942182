// The answer to a prompt, among the events of its session.

import type { TurnId, UiMessage } from "@tidings/client";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PromptEnd } from "../src/turn.ts";
import { PromptWatch } from "../src/turn.ts";

const user = (sequence: number): TurnId => ({ role: "User", sequence });
const agent = (sequence: number): TurnId => ({ role: "Assistant", sequence });
const session_id = 1;
const chunk = (turn: number, text: string): UiMessage => ({ TextChunk: { text, session_id, turn_id: agent(turn) } });
const complete = (turn: number): UiMessage => ({ Complete: { session_id, turn_id: agent(turn), stop_reason: "EndTurn" } });
const started = (turn: number, asked: number): UiMessage => ({ TurnStarted: { session_id, turn_id: agent(turn), answers: [user(asked)] } });
const prompt = (uuid: string, turn: number): UiMessage => ({ UserPrompt: { session_id, text: "text", uuid, turn_id: user(turn), attachments: [] } });
const retracted = (text: string): UiMessage => ({ Retracted: { session_id, turn_id: agent(2), reason: "Retry", text, thinking: "", tool_use_ids: [] } });

function watch(): PromptWatch {
  const watch = new PromptWatch(user(2));
  watch.announced({ PromptQueued: { session_id, uuid: "ours", text: "text", turn_id: user(2), attachments: [] } });
  return watch;
}

function endOf(watch: PromptWatch, events: UiMessage[]): PromptEnd | undefined {
  return events.map((event) => watch.observe(event, "e:9")).find((end) => end !== undefined);
}

test("the answer is that of our prompt also if another got ahead of it", () => {
  const events = [prompt("other", 2), started(2, 2), chunk(2, "Theirs."), complete(2), prompt("ours", 3), started(3, 3), chunk(3, "Our"), chunk(3, "s.")];
  const ours = watch();
  assert.equal(endOf(ours, events), undefined);
  assert.deepEqual(endOf(ours, [complete(3)]), { end: "answered", answer: { text: "Ours.", blocks: ["Ours."], result: undefined, cursor: "e:9" } });
});

test("a dropped prompt has no answer", () => {
  const dropped: UiMessage = { PromptDropped: { session_id, uuid: "ours", reason: "cancelled" } };
  assert.deepEqual(endOf(watch(), [dropped]), { end: "dropped", reason: "cancelled" });
});

test("an agent that ends leaves a prompt without an answer", () => {
  const ended: UiMessage = { SessionStateChanged: { session_id, state: "Ended", error: "killed" } };
  assert.deepEqual(endOf(watch(), [ended]), { end: "agent_ended", error: "killed" });
});

test("retracted text is no part of the answer", () => {
  const tool: UiMessage = { ToolExecuting: { tool_use_id: "t", tool_name: "Bash", input: {}, session_id } };
  const cases: [UiMessage[], string][] = [
    [[chunk(2, "One. "), chunk(2, "Two."), retracted(" Two.")], "One."],
    [[chunk(2, "One."), tool, chunk(2, "Two."), retracted("One.Two.")], ""],
    [[chunk(2, "One."), tool, chunk(2, "Two."), retracted("e.Two.")], "On"],
    [[chunk(2, "One."), retracted("Another.")], "One."],
  ];
  for (const [events, expected] of cases) {
    const end = endOf(watch(), [prompt("ours", 2), started(2, 2), ...events, complete(2)]);
    assert.equal(end?.end === "answered" ? end.answer.text : undefined, expected);
  }
});
