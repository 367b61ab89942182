// Nothing jumps: neither while the page loads, nor when new content arrives.

import { test } from "node:test";
import { PHONE } from "../lib/browser.mjs";
import { asksAndSays, stage } from "../lib/setup.mjs";
import { assertStill, recordShiftsFromLoad } from "../lib/shifts.mjs";

/** Tolerance for a label that gets longer. */
const SHIFT_MAX = 0.01;

const at = stage({ script: asksAndSays("make", "Answered.") });

// The upper parts arrive last, the worst order for the rest.
for (const [name, options, last] of [["a desk", {}, "transcripts/summary"], ["a phone", PHONE, "sessions"]]) {
  test(`on ${name} nothing jumps while the answers of a slow server come in one by one`, async () => {
    for (let count = 0; count < 4; count += 1) await at.server.session("Say hello");
    const page = await at.visit(options);
    await recordShiftsFromLoad(page);
    await page.route(/\/v1\//, async (route) => {
      await new Promise((done) => setTimeout(done, route.request().url().includes(`/v1/${last}`) ? 900 : 200));
      await route.continue();
    });
    await page.reload();
    await page.locator(".machine dd").first().filter({ hasText: /\d/ }).waitFor();
    await page.locator(".session-card").first().waitFor();
    if (name === "a desk") await page.locator(".answer").first().waitFor();
    await assertStill(page, SHIFT_MAX);
  });
}

test("a card that arrives moves neither the field nor the conversation's frame", async () => {
  const one = await at.server.session("Say hello");
  const page = await at.visit();
  await recordShiftsFromLoad(page);
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.reload();
  await page.locator(".answer").first().waitFor();
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "ask me" });
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await assertStill(page, SHIFT_MAX);
});
