// Sessions on disk: summary of the machine, browse, search, read, export, cost, resume.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { stage } from "../lib/setup.mjs";

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, beside: `[[turn]]\nrepeat = true\ntext = "Yes."\n` });

test("the sessions of this machine are counted next to the demo", async () => {
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
  // It names the session.
  const { items } = await at.server.call("GET", "transcripts?limit=1000");
  const id = (await page.locator(".past-card.hit").first().getAttribute("href")).match(/[0-9a-f-]{36}/)[0];
  const { title } = items.find((one) => one.id === id);
  await page.locator(".past-card.hit").first().locator(".past-facts").getByText(title, { exact: true }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.locator(".past-card.hit").first().click();
  await page.locator(".tool[data-tool=Agent]").first().waitFor();
  assert.deepEqual(await accessibility(page), []);
  // A search within the session, which the list of all sessions is not needed for.
  await page.getByRole("button", { name: "Find in this session" }).click();
  await page.getByRole("searchbox", { name: "Find in this session" }).fill("Util has greet");
  await page.keyboard.press("Enter");
  await page.locator(".find-bar").getByText(/^\d+ of \d+$/).waitFor();
  await page.locator(".row.found").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".find-bar").waitFor({ state: "detached" });
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as Markdown" }).click()]);
  const copy = join(at.server.folder, "saved.md");
  await file.saveAs(copy);
  assert.match(readFileSync(copy, "utf8"), /^# [\s\S]*util has greet/);
  // The folder of that session is not on this machine, which the browser itself reports.
  const reported = page.waitForEvent("console", (message) => message.location().url.includes("/v1/trust?"));
  await page.getByRole("link", { name: "Fork", exact: true }).click();
  await page.getByRole("heading", { name: "Fork a session" }).waitFor();
  assert.match(await page.getByLabel("Folder").inputValue(), /^\//);
  await reported;
  page.wrong = page.wrong.filter((line) => !page.addresses.get(line)?.includes("/v1/trust?"));
});

test("Back from a match returns to the results, and a session opens at its match", async () => {
  const page = await at.visit({ path: "#/history" });
  await page.getByLabel("Order").selectOption("largest");
  await page.getByLabel("Search in all sessions").fill("util has greet");
  const hits = page.locator(".past-card.hit");
  await hits.first().waitFor();
  const count = await hits.count();
  assert.ok(count > 1, `${count} hits`);
  for (let hit = 0; hit < count; hit += 1) {
    await hits.nth(hit).click();
    await page.locator(".row.found").waitFor();
    // The match is highlighted, and visible.
    await page.waitForFunction(() => {
      const [range] = CSS.highlights.get("found") ?? [];
      const box = range?.getBoundingClientRect();
      return range?.toString().toLowerCase() === "util has greet" && box.top >= 0 && box.bottom <= innerHeight;
    });
    await page.evaluate(() => CSS.highlights.clear());
    await page.goBack();
    await hits.nth(hit).waitFor();
    assert.equal(await page.getByLabel("Search in all sessions").inputValue(), "util has greet");
  }
  await page.getByLabel("Search in all sessions").fill("");
  await page.locator(".past-card:not(.hit)").first().waitFor();
  assert.equal(await page.getByLabel("Order").inputValue(), "largest");

  // A match on another branch is reported.
  await page.locator(".past-card").first().click();
  await page.locator(".row").first().waitFor();
  await page.goto(`${page.url().split("?")[0]}?q=nobody+says+this&at=nobody+says+this`);
  await page.getByText("was not found here").waitFor();
  assert.deepEqual(await accessibility(page), []);
});

test("a failed request can be retried", async () => {
  const page = await at.visit();
  const away = (route) => route.abort("connectionrefused");
  await page.route(/v1\/transcripts/, away);
  for (const [view, there] of [["history", ".past-card"], ["cost", ".days"]]) {
    await page.goto(`${at.server.address}/#/${view}`);
    await page.getByText("The server cannot be reached").first().waitFor();
    await page.unroute(/v1\/transcripts/, away);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(there).first().waitFor();
    await page.route(/v1\/transcripts/, away);
  }
});

test("costs are shown by day, model and project", async () => {
  const page = await at.visit({ path: "#/cost" });
  await page.getByText("90 days").click();
  await page.locator(".bars li").first().waitFor();
  assert.equal(await page.locator(".day").count(), 90);
  assert.deepEqual(await accessibility(page), []);
});
