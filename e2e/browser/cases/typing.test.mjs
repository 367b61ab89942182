// Escape and typed text: Escape closes the innermost open thing, and no text that was typed is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { allow, button, picture, stage } from "../lib/setup.mjs";

const PLAN = Array.from({ length: 12 }, (_, at) => `${at + 1}. Step ${at + 1} of the plan`).join("\\n");
const SCRIPT = `
[[turn]]
when = { last_contains = "ask" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = true
input = { command = "cargo build", description = "Build" }
result = "built"

[[turn]]
when = { last_contains = "change" }
repeat = true

[[turn.block]]
tool = "Edit"
ask = true
input = { file_path = "notes.txt", old_string = "one\\n", new_string = "say \\"two\\"\\n\\tand three\\n" }
result = "edited"

[[turn]]
when = { last_contains = "propose" }
repeat = true

[[turn.block]]
tool = "ExitPlanMode"
ask = true
input = { plan = "${PLAN}" }

[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${"It goes on and on, one word after the other. ".repeat(600)}"
pace = { chunk_chars = 8, chunk_delay_ms = 40 }

[[turn]]
when = { last_contains = "refuse" }
error = { status = 400, message = "the request was wrong" }

[[turn]]
repeat = true
text = "That is done."
`;

const at = stage({ script: SCRIPT });
const address = ({ key }) => `${at.server.address}/#/s/${key}`;
const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);
const field = (page) => page.getByLabel("Message to the agent");

/** The state of a session after all earlier commands of the page: the last one has a response by then. */
async function stateAfterCommands(page, { key }) {
  await page.getByLabel("Permission mode").selectOption("plan");
  return (await at.server.until(key, (view) => view.permission_mode === "plan")).state;
}

test("p34 Escape closes a list, a menu, a search or a step of a card, returns the focus, and interrupts only afterwards", async () => {
  const one = await at.server.session("Speak slowly");
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("one word after the other").waitFor();

  // The list of modes: it is closed, and the turn goes on.
  const mode = page.getByLabel("Permission mode");
  await mode.click();
  await page.waitForFunction(() => document.querySelector("select:open") !== null);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("select:open") === null);

  // The search, opened by the menu, to whose button the focus returns.
  await page.locator("summary[aria-label=More]").click();
  await button(page, "Find in this session…").click();
  await page.getByLabel("Find in this session").fill("word");
  await page.keyboard.press("Escape");
  await page.getByRole("search").waitFor({ state: "detached" });
  assert.ok(await hasFocus(page.locator("summary[aria-label=More]")));

  // A panel is closed by the key only from inside.
  await button(page, "Files").click();
  await page.locator(".panel .panel-body").focus();
  await page.keyboard.press("Escape");
  await page.locator(".panel").waitFor({ state: "detached" });
  assert.equal(await stateAfterCommands(page, one), "running");

  // In the prompt field it first closes the completions, and then interrupts.
  await field(page).fill("/");
  await page.getByRole("listbox", { name: "Commands" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("listbox", { name: "Commands" }).waitFor({ state: "detached" });
  assert.equal((await at.server.call("GET", `sessions/${one.key}`)).state, "running");
  await page.keyboard.press("Escape");
  await at.server.until(one.key, (view) => view.state === "idle");

  const two = await at.server.session("ask me");
  await at.server.until(two.key, (view) => view.state === "needs_you");
  await page.goto(address(two));
  for (const name of ["Always…", "Edit…", "Deny…"]) {
    await button(page, name).click();
    await button(page, "Back").waitFor();
    assert.ok(await page.locator(".needs-you").evaluate((card) => card.contains(document.activeElement)), `the focus is in the step of ${name}`);
    await page.keyboard.press("Escape");
    await button(page, "Back").waitFor({ state: "detached" });
    assert.ok(await hasFocus(button(page, name)), `the focus is on ${name} again`);
  }
  assert.equal(await stateAfterCommands(page, two), "needs_you");
});

test("p38 text beside a plan follows its approval as a prompt, and comments are sent before they are added", async () => {
  const page = await at.visit();
  const one = await at.server.session("propose something");
  await page.goto(address(one));
  await page.getByRole("heading", { name: "Approve this plan?" }).waitFor();
  await page.getByLabel("What should be different?").fill("Mind the tests");
  await page.locator(".plan-text").evaluate((box) => box.scrollTo({ top: box.scrollHeight }));
  await button(page, "Approve, and send your text").click();
  await page.locator(".prompt").getByText("Mind the tests").waitFor();

  const two = await at.server.session("propose again");
  await page.goto(address(two));
  await page.getByRole("heading", { name: "Approve this plan?" }).waitFor();
  await button(page, "Open in the reader, and comment on lines").click();
  const reader = page.getByRole("dialog", { name: "Plan" });
  await reader.getByRole("button", { name: "Comment on line 1", exact: true }).click();
  await reader.getByLabel(/^Comment on line 1 /).fill("Not in this order");
  // Another line: the first comment stays.
  await reader.getByRole("button", { name: "Comment on line 1", exact: true }).press("Escape");
  await reader.getByText("Not in this order").waitFor();
  await reader.getByRole("button", { name: "Comment on line 1", exact: true }).click();
  await reader.getByLabel(/^Comment on line 1 /).fill("Not in this order at all");
  await reader.getByRole("button", { name: "Keep planning with 1 comment" }).click();
  await page.locator(".tool[data-tool=ExitPlanMode]").getByText("Not in this order at all").first().waitFor();
});

test("p38 a reason that was typed survives the way back and another session, and moves to the prompt field if it is not sent", async () => {
  const page = await at.visit();
  const [one, other] = [await at.server.session("ask me"), await at.server.session("Hello")];
  await page.goto(address(one));
  await button(page, "Deny…").click();
  await page.getByLabel("What should it do instead?").fill("Use the release profile");
  await page.keyboard.press("Escape");
  await page.goto(address(other));
  await page.locator(".answer").getByText("That is done.").waitFor();
  await page.goto(address(one));
  await button(page, "Deny…").click();
  assert.equal(await page.getByLabel("What should it do instead?").inputValue(), "Use the release profile");
  await button(page, "Back").click();
  await allow(page);
  await page.getByText("it is in the prompt field").waitFor();
  assert.equal(await field(page).inputValue(), "Use the release profile");
});

test("p45 the text of an edit is edited as it is, and not as escaped JSON", async () => {
  const page = await at.visit();
  const one = await at.server.session("change it");
  await page.goto(address(one));
  await page.getByRole("heading", { name: "Change this file?" }).waitFor();
  await button(page, "Edit…").click();
  const text = page.getByLabel("Text to put in instead");
  assert.equal(await text.inputValue(), 'say "two"\n\tand three\n');
  await picture(page, "edit-step");
  await text.fill('say "four"\n');
  await allow(page, "Allow this instead");
  await page.locator(".answer").getByText("That is done.").waitFor();
  await page.locator(".tool[data-tool=Edit] tr.added").getByText('say "four"').waitFor();
  await page.locator(".tool[data-tool=Edit] .model-input").getByText("Original input").waitFor();
});

test("p46 the prompt of a failed turn is sent again with one press", async () => {
  const one = await at.server.session("refuse this");
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 1);
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.getByText("the request was wrong").first().waitFor();
  await button(page, "Send the prompt again").click();
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 2);
  await page.locator(".answer").getByText("That is done.").waitFor();
  assert.equal(await page.locator(".prompt").getByText("refuse this").count(), 2);
});
