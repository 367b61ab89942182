// The header of a session.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${"It goes on and on, one word after the other. ".repeat(600)}"
pace = { chunk_chars = 8, chunk_delay_ms = 40 }

[[turn]]
repeat = true
text = "That is done."
`;

const at = stage({ script: SCRIPT });

test("a session shows that it runs without its folder's settings, and how to change that", async () => {
  const cwd = join(at.server.folder, "brings-hooks");
  mkdirSync(join(cwd, ".claude"), { recursive: true });
  writeFileSync(join(cwd, ".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch canary"}]}]}}`);
  const one = await at.server.session("Hello", { cwd });
  const page = await at.visit({ path: `#/s/${one.key}` });
  const chip = button(page, "Without the folder’s settings");
  await chip.waitFor();
  await button(page, "Close").click();
  await chip.click();
  await page.locator(".panel .trust").getByText("touch canary").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Trust these commands").click();
  await page.locator(".panel .trust").waitFor({ state: "detached" });
  // The running agent was started without them, and stays so.
  assert.equal(await chip.count(), 1);
  await at.server.call("POST", `sessions/${one.key}/stop`);
  await chip.waitFor({ state: "detached" });
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "Again" });
  await at.server.until(one.key, (view) => view.totals.turns === 2);
  assert.equal(await chip.count(), 0);
});

test("a session shows that its agent is stopped, and continues with it", async () => {
  const one = await at.server.session("Speak slowly", { title: "The story" });
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("one word after the other").waitFor();
  const told = page.locator(".session-head .stalled").getByText("The agent's process is stopped");
  const listed = page.locator(".session-card", { hasText: "The story" }).locator(".stalled");
  try {
    at.server.signalAgents("SIGSTOP");
    await told.waitFor();
    await listed.waitFor();
    assert.deepEqual(await accessibility(page), []);
  } finally {
    at.server.signalAgents("SIGCONT");
  }
  await told.waitFor({ state: "detached" });
  await listed.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.locator(".session .state.idle").waitFor();
  // An interrupt is not a failure.
  assert.equal((await at.server.call("GET", `sessions/${one.key}`)).turn_interrupted, true);
  await page.locator(".session-head .state").getByText("Idle", { exact: true }).waitFor();
});

test("a session is allowed to continue after a limit, and not any more", async () => {
  const one = await at.server.session("Hello");
  const page = await at.visit({ path: `#/s/${one.key}` });
  const choose = async (name) => {
    await page.locator("details.menu summary").click();
    await page.getByRole("button", { name, exact: true }).click();
  };
  await choose("Continue after a limit");
  await at.server.until(one.key, (view) => view.continue_after_limit === true);
  await choose("Do not continue after a limit");
  await at.server.until(one.key, (view) => view.continue_after_limit !== true);
});

test("p5 p7 a session without a title is found and called by what was said first, wherever it is named", async () => {
  const page = await at.visit();
  const one = await at.server.session("Mend the crooked gate");
  await at.server.session("Paint the fence");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  const called = async (name) => {
    await page.waitForFunction((wanted) => document.title.endsWith(`${wanted} · Tidings`), name);
    await page.locator(".title-button").getByText(name, { exact: true }).waitFor();
    await page.locator(".session-card[aria-current]").getByText(name, { exact: true }).waitFor();
  };
  await called("Mend the crooked gate");
  await page.getByLabel("Filter sessions").fill("crooked");
  await page.locator(".session-card", { hasText: "Paint the fence" }).waitFor({ state: "detached" });
  assert.equal(await page.locator(".session-card").count(), 1);
  await page.getByLabel("Filter sessions").fill("");

  // A title replaces it: the newest one, from any device. An emptied title restores it.
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "/rename A job outside" });
  await called("A job outside");
  // The filter still finds the first prompt.
  await page.getByLabel("Filter sessions").fill("crooked");
  await page.locator(".session-card", { hasText: "Paint the fence" }).waitFor({ state: "detached" });
  assert.equal(await page.locator(".session-card").count(), 1);
  await page.getByLabel("Filter sessions").fill("");
  for (const [title, name] of [["The gate", "The gate"], ["", "Mend the crooked gate"]]) {
    await page.locator(".title-button").click();
    await page.getByLabel("Title of the session").fill(title);
    await page.getByLabel("Title of the session").press("Enter");
    await called(name);
  }

  // Escape saves none.
  await page.locator(".title-button").click();
  await page.getByLabel("Title of the session").fill("Not this one");
  await page.getByLabel("Title of the session").press("Escape");
  await called("Mend the crooked gate");
  // All earlier commands have a response by then.
  await page.getByLabel("Permission mode").selectOption("plan");
  assert.equal((await at.server.until(one.key, (view) => view.permission_mode === "plan")).title ?? "", "");
});

test("p15 the menu closes with Escape and when one presses beside it, and no turn is interrupted by that", async () => {
  const one = await at.server.session("Speak slowly");
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("one word after the other").waitFor();
  const menu = page.locator("details.menu");
  const more = menu.locator("summary");
  await more.click();
  await page.getByRole("button", { name: "Stop the agent" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stop the agent" }).waitFor({ state: "hidden" });
  assert.ok(await more.evaluate((element) => element === document.activeElement));
  await more.click();
  await page.getByRole("button", { name: "Stop the agent" }).waitFor();
  await page.locator(".scroller").click();
  await page.getByRole("button", { name: "Stop the agent" }).waitFor({ state: "hidden" });
  // By keyboard only: Tab goes through the menu, and out of it.
  await more.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.ok(await menu.evaluate((element) => element.open && element.contains(document.activeElement)));
  for (let presses = 0; presses < 16 && (await menu.evaluate((element) => element.contains(document.activeElement))); presses += 1) await page.keyboard.press("Tab");
  assert.ok(!(await menu.evaluate((element) => element.open)));
  // All earlier commands have a response by then.
  await page.getByLabel("Permission mode").selectOption("plan");
  assert.equal((await at.server.until(one.key, (view) => view.permission_mode === "plan")).state, "running");
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.locator(".session .state.idle").waitFor();
});
