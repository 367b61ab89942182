// The conversation shows the input that ran, the answers and the cost, live and from history.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toMarkdown } from "../src/app/export.ts";
import { codeIn, hasCode } from "../src/model/code.ts";
import type { Conversation, Item } from "../src/model/conversation.ts";
import { emptyConversation } from "../src/model/conversation.ts";
import { itemsContaining } from "../src/model/find.ts";
import { expandHome } from "../src/model/folders.ts";
import { fold, toolOf } from "../src/model/fold.ts";
import { forkPointOf } from "../src/model/fork-point.ts";
import { prepend } from "../src/model/prepend.ts";
import type { JsonValue, UiMessage } from "../src/wire.ts";

const turn = { role: "Assistant", sequence: 1 } as const;
const text = (piece: string): UiMessage => ({ TextChunk: { text: piece, session_id: 1, turn_id: turn } });
const ended: UiMessage = { TextEnded: { session_id: 1, turn_id: turn } };
const prompt = (words: string, uuid = words, origin?: string): UiMessage => ({
  UserPrompt: { session_id: 1, text: words, uuid, attachments: [], ...(origin === undefined ? {} : { origin }) },
});
const call = (id: string, input: JsonValue): UiMessage => ({ ToolExecuting: { tool_use_id: id, tool_name: "Bash", input, session_id: 1 } });
const allowed = (id: string, updated?: JsonValue): UiMessage => ({
  PermissionResolved: { session_id: 1, tool_use_id: id, outcome: "Allowed", by: "ada", ...(updated === undefined ? {} : { updated_input: updated }) },
});

function folded(events: Iterable<UiMessage>): Conversation {
  const all = emptyConversation();
  for (const event of events) fold(all, event);
  return all;
}

/** The events folded in two halves, the older one put before the newer one. */
function inHalves(events: readonly UiMessage[], border: number): Conversation {
  const all = folded(events.slice(border));
  prepend(all, folded(events.slice(0, border)));
  return all;
}

function said(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "text" || item.kind === "prompt" ? (item.text === "" ? [] : [item.text]) : []));
}

test("p1 a call shows the input that ran, wherever the border of the history lies", () => {
  const events = [call("t", { command: "rm -rf build" }), allowed("t", { command: "ls build" }), { ToolCompleted: { tool_use_id: "t", result: "", session_id: 1 } } as UiMessage];
  for (let border = 0; border <= events.length; border += 1) {
    const all = inHalves(events, border);
    const tool = toolOf(all, "t");
    assert.deepEqual(tool?.input, { command: "ls build" }, `border ${border}`);
    assert.deepEqual(tool?.modelInput, { command: "rm -rf build" }, `border ${border}`);
    assert.equal(tool?.settled?.by, "ada");
    const markdown = toMarkdown(all, "x");
    assert.match(markdown, /`ls build`[\s\S]*changed before it ran[\s\S]*`rm -rf build`/);
  }
});

test("p41 the export has the contents of writes and edits, and whole commands", () => {
  const given = (id: string, name: string, input: JsonValue): UiMessage => ({ ToolExecuting: { tool_use_id: id, tool_name: name, input, session_id: 1 } });
  const markdown = toMarkdown(
    folded([
      given("w", "Write", { file_path: "/a/b.md", content: "# Title\n```js\n1\n```" }),
      given("e", "Edit", { file_path: "/a/b.md", old_string: "one\ntwo", new_string: "one\n2" }),
      given("m", "MultiEdit", { file_path: "/a/b.md", edits: [{ old_string: "x", new_string: "y" }] }),
      given("b", "Bash", { command: "cat <<'END'\nhello\nEND" }),
    ]),
    "x",
  );
  for (const part of ["````\n# Title\n```js\n1\n```\n````", "```diff\n one\n-two\n+2\n```", "```diff\n-x\n+y\n```", "```\ncat <<'END'\nhello\nEND\n```"]) {
    assert.ok(markdown.includes(part), `${part} in ${markdown}`);
  }
});

test("p1 an answer that repeats the input changes nothing", () => {
  const all = folded([call("t", { command: "ls" }), allowed("t", { command: "ls" })]);
  assert.equal(toolOf(all, "t")?.modelInput, undefined);
});

test("p2 a steered prompt that an interrupt clears is not shown as said", () => {
  const events = [text("Working"), prompt("Shorter, please", "u2"), { PromptDropped: { session_id: 1, uuid: "u2", reason: "cancelled" } } as UiMessage];
  for (let border = 0; border <= events.length; border += 1) {
    const all = inHalves(events, border);
    const item = all.items.find((one) => one.kind === "prompt");
    assert.equal(item?.kind === "prompt" ? item.dropped : "", "cancelled", `border ${border}`);
    assert.match(toMarkdown(all, "x"), /never read by the agent/);
  }
  const read = folded([prompt("Go", "u1"), text("Done")]).items[0];
  assert.equal(read?.kind === "prompt" ? read.dropped : "", undefined);
});

test("p3 steering does not split the block that is being written", () => {
  const events = [text("```\nfn "), prompt("Faster"), text("main"), { System: { message: "Hook runs", session_id: 1 } } as UiMessage, text("() {}\n```"), ended, text("Next.")];
  assert.deepEqual(said(folded(events).items), ["```\nfn main() {}\n```", "Faster", "Next."]);
  assert.equal(folded(events).items.filter((item) => item.kind === "text" && item.open).length, 1);
  for (let border = 0; border <= events.length; border += 1) {
    assert.deepEqual(said(inHalves(events, border).items).filter((one) => one.includes("main")), ["```\nfn main() {}\n```"], `border ${border}`);
  }
});

test("p3 text after a block that has ended stands after the prompt", () => {
  assert.deepEqual(said(folded([text("One."), ended, prompt("And?"), text("Two.")]).items), ["One.", "And?", "Two."]);
});

test("p7 an interrupted turn shows what it cost", () => {
  const result = { session_id: 1, turn_id: turn, subtype: "error_during_execution", is_error: true, answers: [], permission_denials: [], cost_usd: 0.5, turn_cost_usd: 0, interrupted_cost_usd: 0.25 };
  const item = folded([{ TurnResult: result }]).items[0];
  assert.equal(item?.kind === "result" ? item.costUsd : undefined, 0.25);
});

test("p21 the summary after a compaction is no prompt, and has no reminders in it", () => {
  const summary = "This session is being continued from a previous conversation that ran out of context.\n\n<system-reminder>\nsecret\n</system-reminder>\nSummary: files";
  const [item] = folded([prompt(summary, "s", "synthetic")]).items;
  assert.equal(item?.kind === "note" ? item.topic : item?.kind, "summary");
  assert.ok(item?.kind === "note" && !item.text.includes("system-reminder") && item.text.endsWith("Summary: files"));
  // A user may write the same text.
  assert.equal(folded([prompt(summary)]).items[0]?.kind, "prompt");
});

test("p6 a code is found in a link, in an address and by itself", () => {
  for (const given of ["abc-123", " abc-123\n", "#code=abc-123", "http://127.0.0.1:7717/#code=abc-123", "https://h.example/base/#code=abc%2D123&x=1"]) assert.equal(codeIn(given), "abc-123", given);
  assert.ok(hasCode("#code=x") && !hasCode("#/s/code"));
});

test("p23 everything that says something is found, inside of calls too", () => {
  const all = folded([prompt("Find the Needle"), call("t", { command: "grep needle" }), text("nothing"), ended, text("a NEEDLE")]);
  assert.deepEqual(itemsContaining(all, "needle").map((item) => item.kind), ["prompt", "tool", "text"]);
  assert.deepEqual(itemsContaining(all, " "), []);
});

test("p26 the home folder can be written as ~", () => {
  const known = ["/srv/shop", "/home/ada/shop"];
  assert.equal(expandHome("~/x", known), "/home/ada/x");
  assert.equal(expandHome("~", ["/Users/ada/a"]), "/Users/ada");
  assert.equal(expandHome("/home/b/~x", known), "/home/b/~x");
  assert.equal(expandHome("~/x", ["/srv"]), "~/x");
});

test("a message forks at its prompt, or at the beginning of its text", () => {
  const { items } = folded([prompt("one", "p1"), text("Done."), ended, call("c1", {}), text("Done. And more"), ended, text("Done."), ended, prompt("two", "p2"), text("  Later"), ended]);
  const at = (index: number) => {
    const item = items[index];
    assert.ok(item?.kind === "text" || item?.kind === "prompt");
    return forkPointOf(items, item);
  };
  assert.deepEqual(at(0), { prompt: "p1" });
  assert.deepEqual(at(1), { prompt: "p1", answer: "Done." });
  assert.deepEqual(at(3), { prompt: "p1", answer: "Done. And more" });
  assert.deepEqual(at(4), { prompt: "p1", answer: "Done.", skip: 2 });
  assert.deepEqual(at(6), { prompt: "p2", answer: "Later" });
  // Its prompt is on a page that is not loaded.
  const [first] = folded([text("Alone"), ended]).items;
  assert.ok(first?.kind === "text");
  assert.equal(forkPointOf([first], first), undefined);
});
