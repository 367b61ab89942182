// Code, colours, runs of calls, times, actions on messages, ways through a long session, and the reader with
// its comments.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, DESKTOP, PHONE } from "../lib/browser.mjs";
import { button, picture, stage } from "../lib/setup.mjs";

const quoted = (text) => JSON.stringify(text);
const CODE = "Some code:\n\n```ts\nconst answer: number = 42; // why\nexport function twice(x: number) {\n  return `${x * 2}`;\n}\n```\n\nEuler: $e^{i\\pi} = -1$, and\n\n$$\n\\sum_{i=1}^{n} \\frac{x_i}{n}\n$$\n";
const FILE = Array.from({ length: 40 }, (_, at) => `fn line_${at}() -> u32 { ${at} } // line`).join("\n");
const PLAN = `# Move the settings\n\n${Array.from({ length: 40 }, (_, at) => `${at + 1}. Step ${at + 1}: move \`setting_${at}\` to the new file and keep the old name as an alias`).join("\n")}\n\nThat is all.`;
const COMMAND = Array.from({ length: 60 }, (_, at) => `echo "step ${at + 1}" && cp build/${at}.txt out/`).join("\n");
const LINES = Array.from({ length: 20_000 }, (_, at) => `line ${at + 1} of many`).join("\n");
const FLOW = "flowchart TD\n  A[Request] --> B{Allowed?}\n  B -->|yes| C([Run it])\n  B -- no --> D[Tell the model]\n  subgraph Server\n    C -.-> E[(Journal)]\n  end\n  D & E ==> F((Done))";
const SEQUENCE = "sequenceDiagram\n  participant P as Phone\n  participant S as Server\n  P->>S: Answer the request\n  loop until it arrives\n    S-->>P: Sending\n  end\n  Note over P,S: exactly one answer\n  S->>S: Store it";
const DRAWN = `Three diagrams, and one with a mistake:\n\n\`\`\`mermaid\n${FLOW}\n\`\`\`\n\n\`\`\`mermaid\n${SEQUENCE}\n\`\`\`\n\n\`\`\`mermaid\npie\n  "a": 1\n  "b": 2\n\`\`\`\n\n\`\`\`mermaid\nsequenceDiagram\nwhat is this\n\`\`\`\n`;
const SCRIPT = `
[[turn]]
when = { last_contains = "show code" }
repeat = true

[[turn.block]]
tool = "Read"
input = { file_path = "src/totals.rs" }
result = "…"
output = { type = "text", file = { filePath = "src/totals.rs", content = ${quoted(FILE)}, numLines = 40, startLine = 7, totalLines = 60 } }

[[turn.block]]
tool = "Grep"
input = { pattern = "fn total" }
result = "3 files"

[[turn.block]]
tool = "Read"
input = { file_path = "src/invoice.rs" }
result = "fn b() {}"

[[turn.block]]
tool = "Edit"
input = { file_path = "src/totals.rs", old_string = "let total = price * count;\\nprint(total);", new_string = "let total = price * amount;\\nprint(total);" }
result = "edited"

[[turn.block]]
tool = "Bash"
input = { command = "cargo test" }
result = "\\u001b[1;32mok\\u001b[0m 12 passed, \\u001b[31m1 failed\\u001b[0m"

[[turn]]
when = { last_contains = "passed" }
repeat = true
text = ${quoted(CODE)}

[[turn]]
when = { last_contains = "propose" }
repeat = true

[[turn.block]]
tool = "ExitPlanMode"
ask = true
input = { plan = ${quoted(PLAN)} }

[[turn]]
when = { last_contains = "run long" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = true
input = { command = ${quoted(COMMAND)}, description = "Copy" }
result = "done"

[[turn]]
when = { last_contains = "draw" }
repeat = true
text = ${quoted(DRAWN)}

[[turn]]
when = { last_contains = "print" }
repeat = true

[[turn.block]]
tool = "Bash"
input = { command = "seq 20000" }
result = ${quoted(LINES)}

[[turn]]
repeat = true
text = "That is done."
`;

const at = stage({ script: SCRIPT });
const show = (page, key) => page.goto(`${at.server.address}/#/s/${key}`);

/** Closes the panel, which names a folder of this machine. */
const withoutPanel = (page) => button(page.locator(".panel"), "Close").click();

/** Waits until the worker has coloured the code. */
const coloured = (locator) => locator.locator(".hl-keyword").first().waitFor();

test("code, files, diffs and output have colours, and calls that only look are one line", async () => {
  const one = await at.server.session("The totals are wrong. Please show code that computes them.", { title: "Compute the totals" });
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 1);
  const page = await at.visit({ ...DESKTOP, permissions: ["clipboard-read", "clipboard-write"] });
  const outside = [];
  page.on("request", (request) => new URL(request.url()).origin === at.server.address || request.url().startsWith("blob:") || outside.push(request.url()));
  await show(page, one.key);
  await withoutPanel(page);
  const fence = page.locator("figure.code");
  await coloured(fence);
  assert.equal(await fence.locator("code").innerText(), "const answer: number = 42; // why\nexport function twice(x: number) {\n  return `${x * 2}`;\n}");
  assert.equal(await page.locator(".output .ansi-green.ansi-bold").innerText(), "ok");
  assert.equal(await page.locator(".output .ansi-red").innerText(), "1 failed");

  // Formulas are drawn by the browser.
  await page.locator(".md math mfrac").waitFor();
  assert.equal(await page.locator(".md math").count(), 2);

  // Word by word, with syntax.
  const diff = page.locator(".tool[data-tool=Edit] .diff");
  await coloured(diff);
  assert.deepEqual(await diff.locator(".changed").allInnerTexts(), ["count", "amount"]);

  // A run of calls opens, and the file in it has line numbers and syntax.
  const run = page.getByRole("group", { name: "Read 2 files, searched once" });
  assert.equal(await run.locator(".tool").count(), 0);
  await page.locator(".prompt").hover();
  await page.locator(".prompt time").waitFor();
  await page.mouse.move(0, 0);
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await picture(page, `desk-reading-${colorScheme}`);
  }
  await run.getByRole("button").first().click();
  await run.locator(".tool-head").first().click();
  await coloured(run);
  assert.match(await run.locator(".line-numbers").innerText(), /^7\n8\n9\n/);
  await button(page, "28 more lines").click();
  await run.getByText("line_39").waitFor();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibility(page), [], colorScheme);
    await picture(page, `look-desk-code-${colorScheme}`);
  }
  assert.deepEqual(outside, [], "nothing is fetched from elsewhere");

  // On a wide screen diffs have two columns, unless the user chose one.
  await page.setViewportSize({ width: 1800, height: 1000 });
  await page.locator(".diff[data-view=side]").waitFor();
  await picture(page, "look-desk-wide");
  await button(page.locator(".tool[data-tool=Edit]"), "One column").click();
  await page.locator(".diff[data-view=inline]").waitFor();

  // A comment on a line of the diff becomes a prompt.
  await diff.getByRole("button", { name: "Comment on line 1" }).last().click();
  await page.getByLabel("Comment on line 1").last().fill("Call it quantity");
  await button(page, "Add comment").click();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "look-desk-comment");
  await button(page, "Send 1 comment as one prompt").click();
  await page.locator(".prompt").getByText("src/totals.rs:1").waitFor();
  assert.match(await page.locator(".prompt").last().innerText(), /> \+let total = price \* amount;\nCall it quantity/);

  // Diagrams are drawn on request.
  const two = await at.server.session("draw it");
  await at.server.until(two.key, (view) => view.state === "idle" && view.totals.turns === 1);
  await show(page, two.key);
  const diagrams = page.locator(".diagram");
  await diagrams.nth(3).waitFor();
  // One after the other: a drawing has another height than its source, and moves the buttons below it.
  const drawn = async (at) => {
    await button(diagrams.nth(at), "Draw").click();
    return diagrams.nth(at).frameLocator("iframe");
  };
  await (await drawn(0)).getByText("Allowed?").waitFor();
  await (await drawn(1)).getByText("exactly one answer").waitFor();
  await (await drawn(2)).locator("svg .pieCircle").first().waitFor();
  await button(diagrams.nth(3), "Draw").click();
  await diagrams.nth(3).getByText(/^This cannot be drawn: /).waitFor();
  // The frame has no origin: it reaches neither the page nor the server.
  const frame = page.frames().find((one) => one !== page.mainFrame());
  assert.deepEqual(await frame.evaluate(async () => {
    const reached = (look) => Promise.resolve().then(look).then(() => true, () => false);
    return [origin, await reached(() => parent.document.title), await reached(() => localStorage.length), await reached(() => fetch("v1/meta"))];
  }), ["null", false, false, false]);
  page.wrong = page.wrong.filter((line) => !/v1\/meta/.test(line));
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibility(page), [], colorScheme);
    await picture(page, `look-diagram-${colorScheme}`);
  }
  await button(diagrams.nth(0), "Show the source").click();
  await diagrams.nth(0).getByText("flowchart TD").waitFor();

  // A frame that does not arrive is reported, and the source stays.
  await page.route("**/page-diagram-*.html", (route) => route.fulfill({ status: 503, body: "" }));
  await button(diagrams.nth(0), "Draw").click();
  await diagrams.nth(0).getByText("This cannot be drawn: the server did not send what draws diagrams").waitFor();
  await diagrams.nth(0).getByText("flowchart TD").waitFor();
  page.wrong = page.wrong.filter((line) => !/503/.test(line));
});

test("messages have times and actions, and a long session has an outline", async () => {
  const one = await at.server.session("The first prompt of a long session");
  for (let turns = 1; turns < 12; turns += 1) {
    await at.server.until(one.key, (view) => view.totals.turns === turns && view.state === "idle");
    await at.server.call("POST", `sessions/${one.key}/input`, { content: `Prompt ${turns + 1}\n${"and a line that makes it higher\n".repeat(12)}` });
  }
  await at.server.until(one.key, (view) => view.totals.turns === 12 && view.state === "idle");
  const page = await at.visit({ ...DESKTOP, permissions: ["clipboard-read", "clipboard-write"] });
  await show(page, one.key);
  const last = page.locator(".prompt").last();
  await last.hover();
  await last.locator("time").waitFor();
  assert.match(await last.locator("time").innerText(), /\d\d:\d\d/);

  await last.getByRole("button", { name: "Fork from here" }).waitFor();
  await button(page, "Previous prompt").click();
  await page.waitForFunction(() => {
    const edge = document.querySelector(".scroller").getBoundingClientRect().top;
    return [...document.querySelectorAll(".prompt")].some((prompt) => /^You.*\s+Prompt 1[12]/.test(prompt.innerText.replace("\n", " ")) && Math.abs(prompt.getBoundingClientRect().top - edge) < 90);
  });
  await button(page, "Outline of prompts").click();
  const outline = page.locator(".outline li");
  await outline.nth(11).waitFor();
  assert.equal(await outline.count(), 12);
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "look-desk-outline");
  await outline.first().getByRole("button").click();
  const first = page.locator(".prompt").getByText("The first prompt of a long session");
  await first.waitFor();

  // Copy, and a link that leads back here.
  const prompt = page.locator(".prompt").first();
  await prompt.hover();
  await button(prompt, "Copy message").click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "The first prompt of a long session");
  await button(prompt, "Copy link").click();
  await page.locator(".toast").getByText("The link to this message was copied.").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /\?at=/);
  await page.goto(`${at.server.address}/#/settings`);
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(link);
  await first.waitFor();

  await button(prompt, "Rewind to here").click();
  assert.ok(await page.locator(".rewind input").last().isChecked());
  await page.getByText("No file has changed since then.").or(page.locator(".rewind .warn-line")).waitFor();
});

test("a search reaches the part of an output that was left out, and the output says how much that is", async () => {
  const one = await at.server.session("print");
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 1);
  const page = await at.visit(DESKTOP);
  await show(page, one.key);
  await page.locator(".output-cut").getByText(/^\d+ KB of \d+ KB are left out; the server has them\./).waitFor();
  await page.locator("summary[aria-label=More]").click();
  await button(page, "Find in this session…").click();
  await page.getByLabel("Find in this session").fill("Line 10000 of many");
  await page.keyboard.press("Enter");
  await page.locator(".find-bar").getByText("1 of 1, in the part that was left out").waitFor();
  // It is loaded, and the match is in sight.
  await page.waitForFunction(() => [...(CSS.highlights.get("found") ?? [])].some((range) => {
    const { top, bottom } = range.getBoundingClientRect();
    return range.toString() === "line 10000 of many" && top >= 0 && bottom <= innerHeight;
  }));
  await picture(page, "look-found");
  await page.getByLabel("Find in this session").fill("line 20001 of many");
  await page.keyboard.press("Enter");
  await page.locator(".find-bar").getByText("Not found").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "look-desk-find");
});

test("a plan opens in the reader, is approved only after its end, and takes comments on its lines", async () => {
  const one = await at.server.session("Please propose a plan for the settings", { title: "Move the settings" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  const page = await at.visit(DESKTOP);
  await show(page, one.key);
  await withoutPanel(page);
  await button(page, "Open in the reader, and comment on lines").click();
  const reader = page.getByRole("dialog", { name: "Plan" });
  const approve = reader.locator(".yes.main");
  await reader.getByRole("button", { name: /More below/ }).waitFor();
  assert.equal(await approve.getAttribute("aria-disabled"), "true");
  const box = await reader.boundingBox();
  assert.ok(box.height > 800, `the reader is ${box.height} high`);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibility(page), [], colorScheme);
    await picture(page, `desk-reader-${colorScheme}`);
  }
  while ((await reader.getByRole("button", { name: /More below/ }).count()) > 0) await reader.getByRole("button", { name: /More below/ }).click({ timeout: 1000 }).catch(() => undefined);
  await page.waitForFunction(() => document.querySelector(".reader .yes.main")?.getAttribute("aria-disabled") === "false");
  await reader.getByText("Step 40").hover();
  await button(reader, "Comment on line 42").click();
  await reader.getByLabel("Comment on line 42").last().fill("Leave this one out");
  await button(reader, "Add comment").click();
  assert.equal(await approve.count(), 0, "comments are not approved away");
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "look-desk-plan-comment");
  await reader.getByRole("button", { name: /^Keep planning.* with 1 comment$/ }).click();
  await reader.waitFor({ state: "detached" });
  const result = page.locator(".tool[data-tool=ExitPlanMode]");
  await result.getByText("Leave this one out").waitFor();
});

test("a long command is allowed only after its end, on a phone too, and a denial takes the comments with it", async () => {
  const one = await at.server.session("run long");
  await at.server.until(one.key, (view) => view.state === "needs_you");
  const page = await at.visit(PHONE);
  await show(page, one.key);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await page.getByText("Read it to its end to allow it.").waitFor();
  assert.match(await page.locator(".ask-scopes").innerText(), /For session\s+Exactly this command again, until this session ends/);
  await page.locator(".exact-box .hl-string").first().waitFor();
  await picture(page, "look-phone-long");
  await button(page, "Open in the reader").click();
  const reader = page.getByRole("dialog", { name: "Run this command?" });
  assert.equal(await button(reader, "Allow once").getAttribute("aria-disabled"), "true");
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "look-phone-reader");
  await reader.locator(".reader-text").evaluate((text) => text.scrollTo(0, text.scrollHeight));
  await page.waitForFunction(() => document.querySelector(".reader .yes.main")?.getAttribute("aria-disabled") === "false");
  await button(reader, "Comment on line 60").tap();
  await reader.getByLabel("Comment on line 60").last().fill("Not the last one");
  await button(reader, "Add comment").tap();
  await button(reader, "Deny with 1 comment").tap();
  await page.locator(".tool .decision.bad").waitFor();
  assert.match(await page.locator(".tool .decision").innerText(), /Denied by you.*Line 60.*Not the last one/s);
  await page.locator(".session .state.idle").waitFor();
  await page.locator(".message-actions").first().waitFor();
  await picture(page, "look-phone-talk");
  assert.deepEqual(await accessibility(page), []);

  // Another device answers while a comment is being written: it is kept, and the page says who answered.
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "run long again" });
  await button(page, "Open in the reader").tap();
  await button(reader, "Comment on line 2").tap();
  await reader.getByLabel("Comment on line 2").last().fill("Why this one?");
  await button(reader, "Add comment").tap();
  const [{ tool_use_id }] = (await at.server.call("GET", "permissions")).items.filter(({ session }) => session === one.key);
  await at.server.call("POST", `sessions/${one.key}/permissions/${tool_use_id}`, { decision: "allow" });
  await page.locator(".toast").getByText(/This request was allowed by .* Your text is in the prompt field/).waitFor();
  assert.match(await page.getByLabel("Message to the agent").inputValue(), /^Line 2\n> echo "step 2".*\nWhy this one\?$/s);
});
