// Actions of sessions, and decisions in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { can, placeOf, possibleCommands } from "../src/model/capabilities.ts";
import type { Conversation, Settled } from "../src/model/conversation.ts";
import { emptyConversation } from "../src/model/conversation.ts";
import { decisionOf } from "../src/model/audit.ts";
import { decisionText, settledText } from "../src/model/decision.ts";
import { fold, toolOf } from "../src/model/fold.ts";
import { outcomeName } from "../src/model/inbox.ts";
import type { UiMessage } from "../src/wire.ts";

const turn = { role: "Assistant", sequence: 1 } as const;

function settled(outcome: Settled["outcome"], by?: string, reason?: string): Settled {
  return { outcome, by, reason, rule: undefined, scope: undefined, answer: undefined };
}

test("an action is possible if it is listed, or if the server sends no list", () => {
  assert.ok(can({}, "prompt"));
  assert.ok(can({ capabilities: ["answer"] }, "answer"));
  assert.ok(!can({ capabilities: ["answer"] }, "prompt"));
  assert.ok(!can({ capabilities: [] }, "interrupt"));
});

test("slash commands whose action is not possible are not offered", () => {
  const names = ["clear", "compact", "context", "model", "rewind"];
  assert.deepEqual(possibleCommands({}, names), names);
  assert.deepEqual(possibleCommands({ capabilities: ["prompt", "compact"] }, names), ["compact", "context"]);
});

test("a request is answered where the session runs", () => {
  assert.deepEqual((["terminal", "editor", "background", undefined] as const).map(placeOf), ["in the terminal", "in the editor", "where the session runs", "where the session runs"]);
});

test("p40 a request that an interrupt ended says who interrupted", () => {
  assert.equal(decisionText(settled("Cancelled", "browser"), false, "browser"), "Interrupted by you");
  assert.equal(decisionText(settled("Cancelled", "phone"), false, "browser"), "Interrupted by phone");
  const line = { number: 1, at_us: 1, who: "phone", decision: "cancelled" };
  assert.equal(decisionOf(line), "interrupted");
  assert.equal(decisionOf({ ...line, who: "the agent" }), "cancelled");
  assert.equal(decisionOf({ ...line, decision: "denied" }), "denied");
});

test("p40 a request that an interrupted turn left is not withdrawn by the agent, and an earlier one is", () => {
  const call = (id: string): UiMessage => ({ ToolExecuting: { tool_use_id: id, tool_name: "Bash", input: { command: "make" }, session_id: 1 } });
  const cancelled = (id: string, by?: string): UiMessage => ({ PermissionResolved: { tool_use_id: id, outcome: "Cancelled", session_id: 1, ...(by === undefined ? {} : { by }) } });
  const end = (terminal_reason: string): UiMessage => ({ TurnResult: { session_id: 1, turn_id: turn, subtype: "error_during_execution", is_error: true, terminal_reason, answers: [], permission_denials: [] } });
  const said = (all: Conversation, id: string) => {
    const found = toolOf(all, id)?.settled;
    return found === undefined ? undefined : decisionText(found, false, "browser");
  };
  const all = emptyConversation();
  for (const event of [call("t1"), cancelled("t1"), { TextChunk: { text: "Another way.", session_id: 1, turn_id: turn } }, call("t2"), cancelled("t2"), call("t3"), cancelled("t3", "phone"), call("t4"), cancelled("t4", "terminal"), end("aborted_tools")]) fold(all, event);
  assert.equal(said(all, "t1"), "Withdrawn by the agent");
  assert.equal(said(all, "t2"), "Interrupted");
  assert.equal(said(all, "t3"), "Interrupted by phone");
  assert.equal(said(all, "t4"), "Interrupted in the terminal");
  const finished = emptyConversation();
  for (const event of [call("t1"), cancelled("t1"), call("t2"), cancelled("t2", "terminal"), end("completed")]) fold(finished, event);
  assert.equal(said(finished, "t1"), "Withdrawn by the agent");
  assert.equal(said(finished, "t2"), "Answered in the terminal");
});

test("p40 the inbox tells an interrupt from a request that ended for a reason that is not known", () => {
  assert.equal(outcomeName("interrupted"), "Interrupted");
  assert.ok(!outcomeName("cancelled").includes("agent"), outcomeName("cancelled"));
});

test("a decision says who made it, and where", () => {
  const table: [Settled, string, string][] = [
    [settled("Allowed", "terminal"), "Allowed in the terminal", "This request was allowed in the terminal."],
    [settled("Denied", "terminal"), "Denied in the terminal", "This request was denied in the terminal."],
    [settled("Answered", "terminal"), "Answered in the terminal", "This request was answered in the terminal."],
    [settled("Cancelled", "terminal"), "Answered in the terminal", "This request was answered in the terminal."],
    [settled("Cancelled"), "Withdrawn by the agent", "This request is no longer pending."],
    [settled("Denied", "auto mode"), "Denied by auto mode", "This request was denied by auto mode."],
    [settled("Allowed", "phone"), "Allowed by phone", "This request was allowed by phone."],
    [settled("Allowed", "browser"), "Allowed by you", "This request was allowed by browser."],
    [settled("Allowed", "policy"), "Allowed", "This request was allowed by policy."],
    [settled("Allowed", "grant"), "Allowed by an earlier answer in this session", "This request was allowed by grant."],
  ];
  for (const [one, line, message] of table) {
    assert.equal(decisionText(one, false, "browser"), line);
    assert.equal(settledText(one), message);
  }
  assert.equal(decisionText({ ...settled("Allowed", "phone"), scope: "always" }, true, undefined), "Allowed with a changed input by phone, always");
  assert.equal(settledText(undefined), "This request is no longer pending.");
});

test("a denial of auto mode belongs to its call, in either order", () => {
  const call = { ToolExecuting: { tool_use_id: "t1", tool_name: "Bash", input: { command: "make" }, session_id: 1 } };
  const denial = { PermissionResolved: { tool_use_id: "t1", outcome: "Denied" as const, by: "auto mode", reason: "It deletes files", session_id: 1 } };
  for (const events of [[call, denial], [denial, call]]) {
    const all = emptyConversation();
    for (const event of events) fold(all, event);
    const { by, reason } = toolOf(all, "t1")?.settled ?? {};
    assert.deepEqual([by, reason], ["auto mode", "It deletes files"]);
  }
});
