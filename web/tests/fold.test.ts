// The fold, over recorded streams and over faulty ones.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answersOf } from "../src/model/answers.ts";
import type { Conversation, Item } from "../src/model/conversation.ts";
import { emptyConversation } from "../src/model/conversation.ts";
import { fold, toolOf } from "../src/model/fold.ts";
import { prepend } from "../src/model/prepend.ts";
import type { UiMessage } from "../src/wire.ts";

const STREAMS = join(process.cwd(), "tests", "streams");
const turn = { role: "Assistant", sequence: 1 } as const;

function stream(name: string): UiMessage[] {
  const lines = readFileSync(join(STREAMS, `${name}.ndjson`), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as UiMessage);
}

function folded(events: Iterable<UiMessage>): Conversation {
  const all = emptyConversation();
  for (const event of events) fold(all, event);
  return all;
}

function text(piece: string): UiMessage {
  return { TextChunk: { text: piece, session_id: 1, turn_id: turn } };
}

function call(id: string, name = "Bash"): UiMessage {
  return { ToolExecuting: { tool_use_id: id, tool_name: name, input: { command: "true" }, session_id: 1 } };
}

function texts(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
}

test("options of an agent stay as they were until others are reported", () => {
  const changed = (more: object): UiMessage => ({ SettingsChanged: { session_id: 1, ...more } });
  const all = folded([changed({ options: { effort: "high" } }), changed({ model: "large" })]);
  assert.deepEqual([all.options, all.model], [{ effort: "high" }, "large"]);
});

test("deltas of a text are one item until it ends", () => {
  const all = folded([text("Hel"), text("lo"), { TextEnded: { session_id: 1, turn_id: turn } }, text("again")]);
  assert.deepEqual(texts(all.items), ["Hello", "again"]);
});

test("a changed item is a new object, and the others stay", () => {
  const all = folded([text("a"), call("t1"), call("t2")]);
  const before = [...all.items];
  fold(all, { ToolCompleted: { tool_use_id: "t2", result: "ok", session_id: 1 } });
  assert.equal(all.items[0], before[0]);
  assert.equal(all.items[1], before[1]);
  assert.notEqual(all.items[2], before[2]);
  assert.equal(toolOf(all, "t2")?.state, "done");
});

test("a call without its start is shown with its result", () => {
  const all = folded([{ ToolCompleted: { tool_use_id: "t9", result: "late", session_id: 1 } }]);
  assert.equal(toolOf(all, "t9")?.result, "late");
});

test("retracted text is removed, over several items", () => {
  const all = folded([
    text("one "),
    { TextEnded: { session_id: 1, turn_id: turn } },
    text("two"),
    { Retracted: { session_id: 1, turn_id: turn, reason: "Retry", text: "ne two", thinking: "", tool_use_ids: [] } },
  ]);
  assert.deepEqual(texts(all.items), ["o", ""]);
});

test("a queued prompt leaves the queue when it is delivered or dropped", () => {
  const queued = (uuid: string): UiMessage => ({
    PromptQueued: { session_id: 1, uuid, text: uuid, turn_id: { role: "User", sequence: 1 }, attachments: [] },
  });
  const all = folded([queued("a"), queued("b"), queued("a")]);
  assert.deepEqual(all.queue.map((one) => one.uuid), ["b", "a"]);
  fold(all, { UserPrompt: { session_id: 1, text: "a", uuid: "a", attachments: [] } });
  fold(all, { PromptDropped: { session_id: 1, uuid: "b", reason: "cancelled" } });
  assert.deepEqual(all.queue, []);
});

test("a permission request is pending until it is resolved, and the call shows the decision", () => {
  const events = stream("041-perm-suggestions");
  const asked = events.findIndex((event) => "PermissionRequired" in event);
  const all = folded(events.slice(0, asked + 1));
  assert.equal(all.asks.size, 1);
  const ask = [...all.asks.values()][0];
  assert.equal(ask?.kind === "permission" && ask.request?.target, "touch one.txt");
  for (const event of events.slice(asked + 1)) fold(all, event);
  assert.equal(all.asks.size, 0);
  assert.equal(toolOf(all, ask?.id ?? "")?.settled?.outcome, "Allowed");
});

test("the requests of a batch find their details by order", () => {
  const details = (id: string): UiMessage => ({
    PermissionDetails: { session_id: 1, tool_use_id: id, tool_name: "Bash", input: {}, risk: "LOW", batch_id: "b" },
  });
  const request = (target: string) =>
    ({ target_type: "Command", target, level: "Execute", description: "", reason: null, recursive: false }) as const;
  const all = folded([
    details("x"),
    details("y"),
    { BatchPermissionRequired: { batch_id: "b", requests: [request("one"), request("two")], session_id: 1 } },
  ]);
  const targets = [...all.asks.values()].map((ask) => ask.kind === "permission" && ask.request?.target);
  assert.deepEqual(targets, ["one", "two"]);
});

test("items of a sub-agent are in its lane, and its call is drawn again", () => {
  const all = folded(stream("080-agent-foreground"));
  const lane = [...all.lanes.values()][0];
  assert.ok(lane);
  assert.ok(lane.items.some((item) => item.kind === "tool" && item.name === "Bash"));
  assert.equal(lane.ended?.outcome, "Completed");
  assert.ok(!all.items.some((item) => item.kind === "tool" && item.name === "Bash"));
  const before = toolOf(all, lane.id);
  fold(all, { Lane: { session_id: 1, agent_id: lane.id, event: text("more") } });
  assert.notEqual(toolOf(all, lane.id), before);
});

test("the cost of a turn is its own value, or the difference of totals, which may restart", () => {
  const result = (cost: number, more = {}): UiMessage => ({
    TurnResult: { session_id: 1, turn_id: turn, subtype: "success", is_error: false, cost_usd: cost, answers: [], permission_denials: [], ...more },
  });
  const all = folded([result(0.25), result(0.75), result(0.125), result(0.25, { turn_cost_usd: 0.25 })]);
  assert.deepEqual(all.items.map((item) => item.kind === "result" && item.costUsd), [0.25, 0.5, 0.125, 0.25]);
});

test("a retry note replaces the previous one", () => {
  const retry = (attempt: number): UiMessage => ({
    Retrying: { session_id: 1, attempt, max_attempts: 10, delay_ms: 1000, status: 529 },
  });
  const all = folded([retry(1), retry(2), retry(3)]);
  assert.equal(all.items.length, 1);
  assert.match(JSON.stringify(all.items[0]), /Try 3 of 10/);
});

test("an unknown event changes only the version", () => {
  const all = folded([{ FromTheFuture: { session_id: 1 } } as unknown as UiMessage]);
  assert.equal(all.items.length, 0);
  assert.equal(all.revision, 1);
});

for (const name of readdirSync(STREAMS).map((file) => file.replace(/\.ndjson$/, ""))) {
  test(`${name}: cut anywhere and put together again it is the same conversation`, () => {
    const events = stream(name);
    const whole = folded(events);
    for (let at = 1; at < events.length; at += 1) {
      const newer = folded(events.slice(at));
      prepend(newer, folded(events.slice(0, at)));
      assert.deepEqual(visible(newer), visible(whole), `cut at ${at}`);
      for (const [id] of whole.calls) assert.ok(toolOf(newer, id), `call ${id}, cut at ${at}`);
    }
  });
}

/** The text that a person would read, independent of the objects. */
function visible(all: Conversation, items: readonly Item[] = all.items): string[] {
  return items.flatMap((item) => {
    switch (item.kind) {
      case "tool":
        if (item.retracted) return [];
        return [`${item.name} ${item.state} ${item.result ?? ""}`, ...visible(all, all.lanes.get(item.id)?.items ?? [])];
      case "text":
      case "thinking":
        return item.text === "" ? [] : [item.text];
      case "result":
        return [item.result.subtype];
      case "prompt":
      case "note":
        return [item.text];
    }
  });
}

test("answers to questions are shown from the server's events and from the agent's result", () => {
  const questions = [{ question: "Which one?" }, { question: "What else?" }, { question: "Why?" }];
  const asked: UiMessage = { ToolExecuting: { tool_use_id: "q", tool_name: "AskUserQuestion", input: { questions }, session_id: 1 } };
  const said = (all: Conversation) => {
    const tool = toolOf(all, "q");
    return tool === undefined ? [] : answersOf(tool).map(({ answer }) => answer);
  };
  assert.deepEqual(said(folded([asked])), [undefined, undefined, undefined]);
  const answer = [{ question: "q1", answer: ["This"] }, { question: "What else?", answer: ["A", "B"] }];
  assert.deepEqual(said(folded([asked, { InteractionResolved: { tool_use_id: "q", outcome: "Answered", answer, session_id: 1 } }])), ["This", "A, B", undefined]);
  const account = { answers: { "Which one?": "That" } };
  const done: UiMessage = { ToolDetails: { tool_use_id: "q", is_error: false, tool_use_result: account, session_id: 1 } };
  assert.deepEqual(said(folded([asked, done])), ["That", undefined, undefined]);
});

test("an interrupted turn is not shown as an error", () => {
  const ends = (terminal_reason: string): UiMessage[] => [
    { Error: { session_id: 1, message: "The turn was ended" } },
    { TurnResult: { session_id: 1, turn_id: turn, subtype: "error_during_execution", is_error: true, error: "The turn was ended", terminal_reason, answers: [], permission_denials: [] } },
  ];
  const tones = (events: UiMessage[]) => folded(events).items.flatMap((item) => (item.kind === "note" ? [item.tone] : []));
  assert.deepEqual(tones(ends("aborted_streaming")), ["plain"]);
  assert.deepEqual(tones(ends("aborted_tools")), ["plain"]);
  assert.deepEqual(tones(ends("api_error")), ["error"]);
});
