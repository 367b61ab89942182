// Commands arrive once, do not block each other, and are never lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { allow, asksAndSays, button, stage } from "../lib/setup.mjs";

// One agent at a time: while one waits for an answer, no other session can run.
const at = stage({ script: asksAndSays("make", "Answered."), args: ["--live-max=1"] });
const address = (path) => `${at.server.address}/#/${path}`;
const field = (page) => page.getByLabel("Message to the agent");

/**
 * A page with a prompt to an idle session that is not accepted, since another session has a pending request.
 */
async function stuck(prompt, why) {
  const page = await at.visit();
  const idle = await at.server.session("Say hello");
  await at.server.until(idle.key, (view) => view.state === "idle");
  const asking = await at.server.session("ask me");
  await at.server.until(asking.key, (view) => view.state === "needs_you");
  await page.goto(address(`s/${idle.key}`));
  await field(page).fill(prompt);
  await field(page).press("Enter");
  await page.locator(".queue").getByText(why).waitFor();
  await page.goto(address(`s/${asking.key}`));
  return { page, idle, asking };
}

test("a delayed prompt shows the reason, blocks no answer, and is sent automatically later", async () => {
  const { page, idle } = await stuck("When there is room", /not sent yet: the only agent slot is in use/i);
  await allow(page);
  await page.locator(".answer").getByText("Answered.").waitFor();
  // The prompt is then sent automatically.
  await at.server.until(idle.key, (view) => view.totals.turns === 2);
  await page.goto(address(`s/${idle.key}`));
  await page.locator(".prompt").getByText("When there is room").waitFor();
  assert.equal(await page.locator(".queue").count(), 0);
});

test("an interrupt does not wait behind a prompt either", async () => {
  const { page, asking } = await stuck("Stuck for now", /not sent yet: /);
  await button(page, "Interrupt").click();
  await at.server.until(asking.key, (view) => view.state === "idle");
});

test("a withdrawn prompt is appended to the draft, and a draft outlives its tab until the device is revoked", async () => {
  const page = await at.visit();
  const one = await at.server.session("Say hello");
  await page.goto(address(`s/${one.key}`));
  await page.locator(".answer").getByText("Answered.").waitFor();
  await at.server.kill();
  await page.locator(".link-bar").waitFor();
  await field(page).fill("A precious prompt");
  await field(page).press("Enter");
  await page.getByRole("button", { name: "Withdraw: A precious" }).click();
  assert.equal(await field(page).inputValue(), "A precious prompt");
  await field(page).press("Enter");
  await field(page).fill("A thought");
  await page.getByRole("button", { name: "Withdraw: A precious" }).click();
  assert.equal(await field(page).inputValue(), "A thought\n\nA precious prompt");
  assert.equal(await page.locator(".queue").count(), 0);

  await field(page).fill("Not sent");
  await field(page).press("Enter");
  await page.locator(".queue").getByText("not sent yet").waitFor();
  await field(page).fill("Half a sentence");
  const context = page.context();
  at.pages.splice(at.pages.indexOf(page), 1);
  await page.close();
  await at.server.restart();
  const later = await context.newPage();
  await later.goto(address(`s/${one.key}`));
  await later.locator(".prompt").getByText("Not sent").waitFor();
  assert.equal(await field(later).inputValue(), "Half a sentence");

  // The next user of this browser does not see it.
  const { items } = await at.server.call("GET", "devices");
  for (const device of items) await at.server.call("DELETE", `devices/${device.id}`);
  await later.getByText("This browser is not paired yet").waitFor();
  await later.waitForFunction(() => Object.keys(localStorage).join() === "tidings.prefs");
  await context.close();
});

test("a session is started once, also if the first response is lost", async () => {
  const page = await at.visit({ path: "#/new" });
  const before = (await at.server.call("GET", "sessions")).items.length;
  await page.getByLabel("Folder").fill(at.server.project);
  await page.getByLabel("First prompt").fill("Say hello");
  let lost = 0;
  await page.route(/\/v1\/sessions$/, async (route) => {
    if (route.request().method() !== "POST" || lost > 0) return route.continue();
    lost += 1;
    await route.fetch();
    return route.abort("connectionrefused");
  });
  await button(page, "Start").click();
  await page.locator(".form .warn-line").getByText("cannot be reached").waitFor();
  await button(page, "Start").click();
  await page.locator(".answer").getByText("Answered.").waitFor();
  assert.equal((await at.server.call("GET", "sessions")).items.length, before + 1);
});
