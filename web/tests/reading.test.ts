// Code, colours, formulas, runs of calls, times, and comments as data.

import assert from "node:assert/strict";
import { test } from "node:test";
import { commentsText, forgetComments, commentsOf, writeComment } from "../src/app/comments.ts";
import { linkNameOf, linkedItem } from "../src/app/scroll-positions.ts";
import { spansOf } from "../src/highlight/worker.ts";
import { mathOf } from "../src/maths/maths.ts";
import type { Item, ToolItem } from "../src/model/conversation.ts";
import { rowKeyOf, rowsOf, runText } from "../src/model/runs.ts";
import { alwaysRules } from "../src/model/rules.ts";
import { coverage, ruleWords, sessionWords } from "../src/model/scope-words.ts";
import { paintedOutput } from "../src/text/ansi.ts";
import { Growing } from "../src/text/blocks.ts";
import { languageOf, languageOfFile } from "../src/text/language.ts";
import { segments, spansWithin } from "../src/text/spans.ts";
import { unitsOf } from "../src/text/units.ts";
import type { PermissionDetails, PermissionRequest } from "../src/wire.ts";

test("the colours of a terminal become spans, and overwritten lines lose theirs", () => {
  const { text, spans } = paintedOutput("\u001b[1;31merror\u001b[0m: \u001b[38;5;40mfine\u001b[39m\n\u001b[32mhalf\r\u001b[0mdone\n");
  assert.equal(text, "error: fine\ndone\n");
  assert.deepEqual(spans, [
    { from: 0, to: 5, name: "ansi-red ansi-bold" },
    { from: 7, to: 11, name: "ansi-green" },
  ]);
  assert.deepEqual(paintedOutput("a\r\nb"), { text: "a\nb", spans: [] });
  assert.deepEqual(paintedOutput("\u001b[38;2;200;30;30mred\u001b[48;2;0;0;0m on black").spans, [
    { from: 0, to: 3, name: "ansi-red" },
    { from: 3, to: 12, name: "ansi-red ansi-ground" },
  ]);
});

test("a text is cut where a span of any layer begins or ends", () => {
  const syntax = [{ from: 0, to: 3, name: "hl-keyword" }, { from: 8, to: 11, name: "hl-string" }];
  const words = [{ from: 2, to: 9, name: "changed" }];
  assert.deepEqual(segments("let x = 'a';", [syntax, words]), [
    { text: "le", name: "hl-keyword" },
    { text: "t", name: "hl-keyword changed" },
    { text: " x = ", name: "changed" },
    { text: "'", name: "hl-string changed" },
    { text: "a'", name: "hl-string" },
    { text: ";", name: "" },
  ]);
  assert.equal(segments("abc", [[]], 1, 3).map(({ text }) => text).join(""), "bc");
  assert.deepEqual(spansWithin(syntax, 2, 10), [{ from: 0, to: 1, name: "hl-keyword" }, { from: 6, to: 8, name: "hl-string" }]);
});

test("syntax covers exactly the words of the code", () => {
  const code = "const a = `x${1}`; // why";
  const found = spansOf(code, "typescript").map(({ from, to, name }) => [code.slice(from, to), name]);
  assert.deepEqual(found[0], ["const", "hl-keyword"]);
  assert.ok(found.some(([text, name]) => text === "1" && name === "hl-number"), JSON.stringify(found));
  assert.deepEqual(found.at(-1), ["// why", "hl-comment"]);
  const page = "<p class='a'>x</p><script>let b = 1</script>";
  const inner = spansOf(page, "xml").find(({ from, to }) => page.slice(from, to) === "let");
  assert.equal(inner?.name, "hl-keyword");
  assert.deepEqual(spansOf("x", "no-such-language"), []);
  assert.equal(languageOfFile("/a/b/Dockerfile"), "dockerfile");
  assert.equal(languageOfFile("src/main.rs"), "rust");
  assert.equal(languageOfFile("notes"), undefined);
  assert.equal(languageOf("TSX"), "typescript");
});

const call = (key: string, name: string, more: Partial<ToolItem> = {}): ToolItem => ({ kind: "tool", key, id: `id-${key}`, name, input: null, modelInput: undefined, state: "done", result: "", account: undefined, elapsedSeconds: undefined, settled: undefined, plan: undefined, retracted: false, ...more });

test("three calls in a row that only look are one row, and unchanged rows stay the same objects", () => {
  const items: Item[] = [call("a", "Read"), call("b", "Grep"), call("c", "Read"), call("d", "Bash"), call("e", "Read"), call("f", "Read")];
  const rows = rowsOf(items, () => false);
  assert.deepEqual(rows.map(({ kind, key }) => [kind, key]), [["run", "a"], ["tool", "d"], ["tool", "e"], ["tool", "f"]]);
  assert.equal(rows[0]?.kind === "run" && runText(rows[0].calls), "Read 2 files, searched once");
  assert.equal(rowsOf(items, () => false, rows)[0], rows[0]);
  assert.equal(rowKeyOf(rows, "c"), "a");
  assert.equal(rowKeyOf(rows, "e"), "e");
  // A failed, waiting or decided call is seen by itself.
  for (const [waits, more] of [[true, {}], [false, { state: "failed" }], [false, { settled: { outcome: "Allowed", by: "phone", rule: undefined, scope: undefined, reason: undefined, answer: undefined } }]] as const) {
    assert.ok(rowsOf([call("a", "Read"), call("b", "Read", more as Partial<ToolItem>), call("c", "Read")], (id) => waits && id === "id-b").every(({ kind }) => kind === "tool"));
  }
  assert.equal(rowsOf([call("a", "constructor"), call("b", "constructor"), call("c", "constructor")], () => false).length, 3);
});

test("formulas are told apart from prices and variables of a shell", () => {
  const kinds = (text: string) => JSON.stringify(new Growing().finish(text)).match(/"maths"/g)?.length ?? 0;
  assert.equal(kinds("Euler: $e^{i\\pi} = -1$, and \\(a_b\\)."), 2);
  assert.equal(kinds("$$\n\\sum_i x_i\n$$\n"), 1);
  assert.equal(kinds("\\[ x \\]"), 1);
  for (const text of ["It costs $5 and $6.", "cd $HOME/$USER", "`$x = 1$`", "a $ b $ c", "$PATH:$HOME", "from $A to $B"]) assert.equal(kinds(text), 0, text);
});

test("a formula becomes MathML from an allow list, and a wrong one stays text", () => {
  const node = mathOf("\\frac{a}{b}", true);
  assert.equal(node?.name, "math");
  const names = JSON.stringify(node);
  assert.ok(names.includes('"mfrac"') && !names.includes("annotation") && !names.includes("style"));
  assert.equal(mathOf("\\frac{", false), undefined);
  assert.ok(!JSON.stringify(mathOf("\\href{javascript:alert(1)}{x}", false) ?? "").includes("javascript"));
});

test("a plan has one part per paragraph and per list item, with line numbers", () => {
  const plan = "# Plan\n\n1. First\n   more\n2. Second\n\nText\n\n- a\n- b\n";
  assert.deepEqual(unitsOf(plan).map(({ line, text }) => [line, text.trim().split("\n")[0]]), [[1, "# Plan"], [3, "1. First"], [5, "2. Second"], [7, "Text"], [9, "- a"], [10, "- b"]]);
});

test("comments are sent together, each with its line", () => {
  const at = (line: number, quote: string, path = "") => ({ of: "ask", path, line, quote });
  writeComment(at(3, "1. First"), "Why?");
  writeComment(at(12, "+let a = 1;", "src/main.rs"), "Name it better");
  writeComment(at(3, "1. First"), "Why first?");
  assert.equal(commentsText(commentsOf("ask")), "Line 3\n> 1. First\nWhy first?\n\nsrc/main.rs:12\n> +let a = 1;\nName it better");
  writeComment(at(3, "1. First"), " ");
  assert.equal(commentsOf("ask").length, 1);
  assert.equal(commentsOf("other").length, 0);
  forgetComments("ask");
  assert.deepEqual(commentsOf("ask"), []);
});

test("the words for a decision say exactly what it covers", () => {
  const details = (tool_name: string) => ({ tool_name, input: {} }) as unknown as PermissionDetails;
  const request = (target_type: string, more = {}) => ({ target_type, target: "example.org", level: "Write", recursive: false, ...more }) as unknown as PermissionRequest;
  assert.match(sessionWords(details("Bash"), request("Command")), /^Exactly this command again/);
  assert.match(sessionWords(details("Edit"), request("Path")), /^Changing this file again, with any content/);
  assert.match(sessionWords(details("Read"), request("Path", { level: "Read", recursive: true })), /^Reading anything in this folder/);
  assert.match(sessionWords(details("mcp__a__b"), request("Tool")), /^Every call of mcp__a__b/);
  assert.equal(ruleWords("Bash(npm test:*)"), "every command that begins with “npm test”, whatever follows");
  assert.equal(ruleWords("Bash(make)", { ...details("Bash"), input: { command: "make" } }), "exactly this command");
  assert.equal(ruleWords("WebFetch(domain:example.org)"), "every address of example.org");
  assert.equal(ruleWords("Edit(//home/me/shop/**)"), "changing everything below //home/me/shop");
  assert.equal(ruleWords("mcp__a__b"), "every call of mcp__a__b, whatever its input");
});

test("p33 every rule of always is listed, and only the one rule of a simple command is exactly that command", () => {
  const asked = (command: string, ...rules: string[]) => {
    const added = rules.map((ruleContent) => ({ toolName: "Bash", ruleContent }));
    return { tool_name: "Bash", input: { command }, suggestions: [{ type: "addRules", behavior: "allow", destination: "localSettings", rules: added }] } as unknown as PermissionDetails;
  };
  const words = (details: PermissionDetails) => {
    const rules = alwaysRules(details);
    return rules.map((rule) => `${rule.rule}: ${coverage(rule, rules.length === 1 ? details : undefined)}`);
  };
  assert.deepEqual(words(asked("make", "make")), ["Bash(make): exactly this command"]);
  assert.deepEqual(words(asked("make && ls", "make", "ls")), ["Bash(make): the command “make”, also beside others", "Bash(ls): the command “ls”, also beside others"]);
  assert.deepEqual(words(asked("cat x | make", "make")), ["Bash(make): the command “make”, also beside others"]);
  assert.deepEqual(words(asked("ls -l", "ls *")), ["Bash(ls *): every command that begins with “ls”, whatever follows"]);
  assert.deepEqual(words(asked("ls -l", "* -l")), ["Bash(* -l): every command that matches * -l"]);
});

test("a link names the nearest item that keeps its name", () => {
  const items = [{ kind: "prompt", key: "p", uuid: "u-1" }, { kind: "text", key: "t" }, call("c", "Read")] as unknown as Item[];
  assert.equal(linkNameOf(items, "t"), "u-1+1");
  assert.equal(linkNameOf(items, "p"), "u-1");
  assert.equal(linkedItem(items, "u-1+1")?.key, "t");
  assert.equal(linkedItem(items, "id-c")?.key, "c");
  assert.equal(linkedItem(items, "gone"), undefined);
});

