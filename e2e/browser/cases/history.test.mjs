// Sessions on disk: the machine at a glance, browse, search, read, export, cost, and go on with one.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { after, test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { stage } from "../lib/setup.mjs";

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, beside: `[[turn]]\nrepeat = true\ntext = "Yes."\n` });

test("the sessions of this machine are counted beside the demo", async () => {
  const page = await at.visit();
  const figure = page.locator(".machine dd").first();
  await figure.filter({ hasText: /\d/ }).waitFor();
  const count = Number(await figure.innerText());
  assert.ok(count >= 30, `${count} sessions`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
});

test("a session is found by its text, read and exported", async () => {
  const page = await at.visit({ path: "#/history" });
  await page.locator(".past-card").first().waitFor();
  assert.deepEqual(await accessibility(page), []);

  // By project and by size.
  await page.getByLabel("Order").selectOption("largest");
  await page.waitForFunction(() => {
    const sizes = [...document.querySelectorAll(".past-card")].map((card) => Number(/([\d.]+) KB/.exec(card.textContent)?.[1]));
    return sizes.length > 1 && sizes.every((size, at) => at === 0 || size <= sizes[at - 1]);
  });
  await page.getByLabel("Project").selectOption({ label: "demo" });
  await page.locator(".past-card").first().waitFor();

  await page.getByLabel("Search in all sessions").fill("util has greet");
  await page.locator(".past-card.hit mark").first().waitFor();
  assert.equal((await page.locator(".past-card.hit mark").first().innerText()).toLowerCase(), "util has greet");
  assert.deepEqual(await accessibility(page), []);
  await page.locator(".past-card.hit").first().click();
  await page.locator(".tool[data-tool=Agent]").first().waitFor();
  assert.deepEqual(await accessibility(page), []);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Markdown" }).click()]);
  assert.match(readFileSync(await file.path(), "utf8"), /^# [\s\S]*util has greet/);
  await page.getByRole("link", { name: "Go on" }).click();
  await page.getByText("Go on with a session").waitFor();
  assert.match(await page.getByLabel("Folder").inputValue(), /^\//);
});

test("costs are shown by day, model and project", async () => {
  const page = await at.visit({ path: "#/cost" });
  await page.getByText("90 days").click();
  await page.locator(".bars li").first().waitFor();
  assert.equal(await page.locator(".day").count(), 90);
  assert.deepEqual(await accessibility(page), []);
});
