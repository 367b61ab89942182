// The page's server: the agents that it can start, a full disk, and pairing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, newContext, open, trouble } from "../lib/browser.mjs";
import { Server } from "../lib/server.mjs";
import { allow, button, stage } from "../lib/setup.mjs";

const at = stage({ beside: `[[turn]]\nrepeat = true\ntext = "A real agent would say this."\n` });

test("the demo's page can start a real session if claude is installed", async () => {
  const page = await at.visit();
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await page.getByRole("link", { name: "Start a real session" }).click();
  assert.ok(await page.getByRole("radio", { name: /^Claude Code/ }).isChecked());
  assert.deepEqual(await accessibility(page), []);
  await page.getByLabel("Folder").fill(at.server.project);
  await page.getByLabel("First prompt").fill("Hello");
  await button(page, "Start").click();
  await page.locator(".answer").getByText("A real agent would say this.").waitFor();
  assert.equal(await page.locator(".session-head .demo-mark").count(), 0);
  // The models are those that the agent lists.
  await page.getByLabel("Model").locator("option", { hasText: "Fable" }).waitFor({ state: "attached" });
});

test("without claude the page has no button for it, and shows how to install it", async () => {
  const bare = await Server.start();
  try {
    const page = await at.visit({}, bare);
    await page.getByText("Claude Code was not found").waitFor();
    assert.match(await page.locator(".install pre").innerText(), /install\.sh/);
    assert.equal(await page.getByRole("link", { name: "Start a real session" }).count(), 0);
    assert.deepEqual(await accessibility(page), []);
    await page.getByRole("link", { name: "Another demo" }).click();
    assert.equal(await page.getByRole("radio", { name: /^Claude Code/ }).count(), 0);
    await page.goto(`${bare.address}/#/cost`);
    await page.locator(".days").getByText("nothing spent").waitFor();
  } finally {
    await bare.stop();
  }
});

test("k8 the page says that the server's disk is full, and when there is room again", async () => {
  const page = await at.visit();
  let full = true;
  await page.route(/\/v1\/meta$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), storage_full: full } });
  });
  await page.reload();
  const banner = page.getByRole("status").getByText("The server's disk is full");
  await banner.waitFor();
  assert.deepEqual(await accessibility(page), []);
  full = false;
  await banner.waitFor({ state: "detached" });
});

test("p6 a link that is pasted into a tab which shows the door pairs it", async () => {
  const context = await newContext(at.browser);
  const page = await open(context, at.server.address);
  await page.getByText("This browser is not paired yet").waitFor();
  const link = await at.server.link(["admin"], { tries: 2 });
  await page.evaluate((hash) => (location.hash = hash), "code=wrong");
  await page.locator(".pairing [role=alert]").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.evaluate((to) => (location.href = to), link);
  await page.locator(".page").waitFor();
  assert.ok(!page.url().includes("code="));
  page.wrong = page.wrong.filter((line) => !/ 40[13] /.test(line));
  assert.deepEqual(await trouble(page), []);
  await context.close();
});

test("p44 another demo begins with a prompt that it answers, and an edit in its project is no high risk", async () => {
  const bare = await Server.start();
  try {
    const page = await at.visit({}, bare);
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await page.getByRole("link", { name: "Another demo" }).click();
    assert.match(await page.getByLabel("First prompt").inputValue(), /off by a cent/);
    await button(page, "Start").click();
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await allow(page);
    await page.getByRole("heading", { name: "Change this file?" }).waitFor();
    await page.locator(".needs-you .risk").getByText("medium risk").waitFor();
  } finally {
    await bare.stop();
  }
});
