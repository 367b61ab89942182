// The full version of a cut output is found in its call.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../src/model/conversation.ts";
import { bytesBefore, cutCalls, fullText, persistedBytes, says } from "../src/model/full-output.ts";
import type { UiMessage } from "../src/wire.ts";

const long = Array.from({ length: 3000 }, (_, n) => `Zeile ${n} für dich`).join("\n");
const bytes = new TextEncoder().encode(long).length;

function cut(text: string, of: number): string {
  return `${text.slice(0, 100)}\n… ${of - 200} of ${of} bytes left out\n${text.slice(-100)}`;
}

function call(result: string, account: object): UiMessage[] {
  return [
    { ToolDetails: { tool_use_id: "t", session_id: 1, is_error: false, tool_use_result: account as never } },
    { ToolCompleted: { tool_use_id: "t", result, session_id: 1 } },
  ];
}

test("an uncut output has nothing to load", () => {
  for (const text of ["", "all well", "… 5 of 9 bytes", "it says … 1 of 2 bytes left out", long]) assert.equal(bytesBefore(text), undefined, text);
  assert.equal(bytesBefore(cut(long, bytes)), bytes);
});

test("the full version of a cut text is found among the strings of its call", () => {
  const other = `${long.slice(0, -1)}!!`;
  for (const events of [call("short", { stdout: long, stderr: other }), call(long, { stdout: other }), call(`${long}`, {})]) {
    assert.equal(fullText(cut(long, bytes), events), long);
  }
  assert.equal(fullText(cut(long, bytes), call("short", { stdout: other })), undefined);
  const failed = `<tool_use_error>${long}</tool_use_error>`;
  const failedBytes = new TextEncoder().encode(failed).length;
  assert.equal(fullText(cut(long, failedBytes), call(failed, {})), long, "as it is shown");
});

test("an omission mark in the tool's own output does not hide ours", () => {
  const quoting = `… 1 of 2 bytes left out\n${long}`;
  const size = new TextEncoder().encode(quoting).length;
  assert.equal(fullText(cut(quoting, size), call(quoting, {})), quoting);
});

test("a search reaches the part of an output that was left out", () => {
  const tool = (result: string) => ({ kind: "tool", key: "k", id: "t", input: null, result, account: undefined }) as unknown as Item;
  assert.deepEqual(cutCalls([tool("all well")]), []);
  assert.deepEqual(cutCalls([tool(cut(long, bytes))]), ["t"]);
  assert.ok(!cut(long, bytes).includes("Zeile 1500 "));
  assert.ok(says(call(long, {}), "zeile 1500 "));
  assert.ok(!says(call(long, {}), "Zeile 9999"));
});

test("p35 an output whose beginning is in the result goes on in its file", () => {
  const account = (stdout: string) => ({ stdout, persistedOutputSize: bytes, persistedOutputPath: "/elsewhere/b1.txt" });
  const beginning = long.slice(0, 3000);
  const tool = { kind: "tool", key: "k", id: "t", input: null, result: "Output too large", account: account(beginning) } as unknown as Item;
  assert.deepEqual(cutCalls([tool]), ["t"], "a search looks there, too");
  assert.equal(persistedBytes(account(beginning)), bytes);
  assert.equal(persistedBytes({ stdout: long }), undefined);
  for (const shown of [beginning, cut(beginning, 3050)]) assert.equal(fullText(shown, call("Output too large", account(long))), long);
  assert.equal(fullText(beginning, call("Output too large", account(beginning))), undefined, "the file is gone");
});
