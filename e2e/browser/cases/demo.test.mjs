// The demo from its first request to its end: every part of the page, with every way to answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { allow, button, stage } from "../lib/setup.mjs";

const at = stage();

test("the demo runs to its end, and shows every part", async () => {
  const page = await at.visit();

  // A permission request is pending: the command is shown verbatim, and no button has the focus.
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.equal(await page.locator(".needs-you pre").first().innerText(), "pytest -q tests/test_total.py");
  await page.waitForFunction(() => document.title.startsWith("(1) Find the lost cent"));
  assert.ok(await page.locator(".demo-mark").first().isVisible());
  assert.equal(await page.locator(".thought").count(), 1);
  assert.equal(await page.locator(".answer ol li").count(), 3);
  assert.equal(await page.locator(".tool[data-tool=TodoWrite] .todo").count(), 3);
  assert.deepEqual(await accessibility(page), []);

  // Enter allows nothing, even on the button.
  await button(page, "Allow once").focus();
  await page.waitForTimeout(800);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(300);
  assert.ok(await page.getByRole("heading", { name: "Run this command?" }).isVisible());

  // "Always" shows its rule before it is added.
  await button(page, "Always…").click();
  assert.equal(await page.locator(".rules pre").innerText(), "Bash(pytest:*)");
  await button(page, "Back").click();
  await allow(page);

  // The edit shows its diff, in one or two columns.
  await page.getByRole("heading", { name: "Change this file?" }).waitFor();
  assert.equal(await page.locator(".needs-you tr.added").count(), 2);
  await page.locator(".needs-you").getByRole("button", { name: "Side by side" }).click();
  await page.locator(".needs-you .diff-side").waitFor();
  await page.locator(".needs-you").getByRole("button", { name: "One column" }).click();
  assert.deepEqual(await accessibility(page), []);
  await allow(page);

  // Sub-agents have lanes of their own; then the questions.
  await page.getByRole("heading", { name: "The agent asks you" }).waitFor({ timeout: 60_000 });
  assert.equal(await page.locator(".tool[data-tool=Agent]").count(), 2);
  const lane = page.locator(".lane .link").first();
  if ((await lane.getAttribute("aria-expanded")) === "false") await lane.click();
  await page.locator(".lane .tool[data-tool=Grep]").waitFor();
  assert.ok(await page.locator(".note.warning").getByText("overloaded").isVisible());
  assert.ok(await button(page, "Send answers").isDisabled());
  await page.getByLabel("Yes").check();
  await page.getByLabel("Other answer").nth(1).fill("A line in the README");
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Send answers").click();

  await page.getByRole("heading", { name: "Approve this plan?" }).waitFor();
  assert.ok(await page.locator(".plan-text table").isVisible());
  assert.deepEqual(await page.locator(".answers dd").allInnerTexts(), ["Yes", "A line in the README"]);
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Approve").click();

  await page.getByText("This was a rehearsal").last().waitFor({ timeout: 60_000 });
  assert.ok(await page.locator(".mark-line").getByText("168k tokens became 21.3k").isVisible());
  await page.locator(".session .state.idle").waitFor();
  assert.equal(await page.locator(".needs-you").count(), 0);
  // No spinner is left, also not in to-do lists.
  await page.locator(".scroller").evaluate((scroller) => (scroller.scrollTop = 0));
  await page.locator(".todo.InProgress").first().waitFor();
  assert.equal(await page.locator(".session .spin").count(), 0);
  await page.waitForFunction(() => document.title.startsWith("Find the lost cent"));
});

test("a changed command runs, and a denial has its reason", async () => {
  const page = await at.visit();
  const one = await at.server.session("The totals are off by a cent.");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await button(page, "Edit…").click();
  await page.getByLabel("Command to run instead").fill("python3 -m pytest -q");
  await allow(page, "Allow this instead");

  await page.getByRole("heading", { name: "Change this file?" }).waitFor();
  await button(page, "Deny…").click();
  await page.getByLabel("What should it do instead?").fill("Use the decimal module");
  await button(page, "Deny").click();
  await page.locator(".tool[data-tool=Edit] .decision.bad").waitFor();
  assert.match(await page.locator(".tool[data-tool=Edit] .decision").innerText(), /Denied by you.*Use the decimal module/s);
  await page.locator(".tool[data-tool=Edit] .tool-aside.bad").getByText("denied", { exact: true }).waitFor();
  assert.equal((await page.locator(".tool[data-tool=Edit]").innerText()).match(/Use the decimal module/g).length, 1, "the reason is told once");
});

test("a device with the scope decide sees no other actions", async () => {
  const one = await at.server.session("The totals are off by a cent.");
  const page = await at.visit({ scopes: ["read", "decide"] });
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.equal(await button(page, "Edit…").count(), 0);
  assert.equal(await button(page, "Always…").count(), 0);
  assert.ok(await page.getByLabel("Message to the agent").isDisabled());

  // A read-only device sees the request, but no buttons.
  const watcher = await at.visit({ scopes: ["read"], path: `#/s/${one.key}` });
  await watcher.getByRole("heading", { name: "Run this command?" }).waitFor();
  await watcher.getByText("This device is read-only.", { exact: false }).first().waitFor();
  for (const name of ["Allow once", "Allow for session", "Deny…"]) assert.equal(await button(watcher, name).count(), 0, name);
  await watcher.locator(".needs-you").focus();
  await watcher.keyboard.press("d");
  assert.equal(await watcher.getByLabel("What should it do instead?").count(), 0);
  await watcher.locator("summary[aria-label=More]").click();
  assert.ok(await button(watcher, "Stop the agent").isDisabled());
  assert.deepEqual(await accessibility(watcher), []);
});

test("missing sessions and pages have clear messages", async () => {
  const page = await at.visit({ path: "#/s/nobody" });
  await page.getByRole("heading", { name: "Session not found" }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.goto(`${at.server.address}/#/history/00000000-0000-4000-8000-000000000000`);
  await page.getByRole("heading", { name: "The session could not be read" }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  // The browser itself reports what was not found.
  page.wrong = page.wrong.filter((line) => !line.includes("404"));
});
