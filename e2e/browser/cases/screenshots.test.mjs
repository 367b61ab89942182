// The main views as pictures, light and dark, on a desk and on a phone; docs/screenshots has them for the README.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { after, test } from "node:test";
import { DESKTOP, PHONE, accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { allow, stage } from "../lib/setup.mjs";

const FOLDER = new URL("../../../docs/screenshots/", import.meta.url);
const root = process.env.SCREENSHOTS_ROOT ?? pastSessions();
after(() => process.env.SCREENSHOTS_ROOT ?? rmSync(root, { recursive: true }));
const at = stage({ root });

/** Pictures are written where they are wanted, and the views are gone through in any case. */
async function picture(page, name) {
  await page.waitForTimeout(900);
  assert.deepEqual(await accessibility(page), [], name);
  if (process.env.SCREENSHOTS === undefined) return; // SCREENSHOTS=1 scripts/browser.sh writes them anew
  mkdirSync(FOLDER, { recursive: true });
  const file = new URL(`${name}.png`, FOLDER).pathname;
  await page.screenshot({ path: file, scale: "css" });
  assert.ok(existsSync(file));
}

for (const colorScheme of ["light", "dark"]) {
  test(`the views of a desk, ${colorScheme}`, async () => {
    const one = await at.server.session("The total of an invoice is off by a cent. Please find out why and fix it.", { title: "Find the lost cent" });
    const page = await at.visit({ ...DESKTOP, colorScheme });
    await page.goto(`${at.server.address}/#/s/${one.key}`);
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await picture(page, `desk-permission-${colorScheme}`);
    await allow(page);
    await page.getByRole("heading", { name: "Change this file?" }).waitFor();
    await picture(page, `desk-edit-${colorScheme}`);
    await allow(page);
    await page.getByRole("heading", { name: "The agent asks you" }).waitFor({ timeout: 60_000 });
    await picture(page, `desk-question-${colorScheme}`);
    await page.getByLabel("Yes").check();
    await page.getByLabel("A test for rounding").check();
    await page.getByRole("button", { name: "Send answers" }).click();
    await page.getByRole("heading", { name: "Carry out this plan?" }).waitFor();
    await picture(page, `desk-plan-${colorScheme}`);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("This was a rehearsal").last().waitFor({ timeout: 60_000 });
    await picture(page, `desk-done-${colorScheme}`);
    const parts = { history: ".past-card", cost: ".bars li", new: ".form", settings: ".devices li" };
    for (const [view, part] of Object.entries(parts)) {
      await page.goto(`${at.server.address}/#/${view}`);
      await page.locator(part).first().waitFor();
      await picture(page, `desk-${view}-${colorScheme}`);
    }
  });

  test(`the views of a phone, ${colorScheme}`, async () => {
    const one = await at.server.session("The total of an invoice is off by a cent. Please find out why and fix it.", { title: "Check the invoices" });
    const page = await at.visit({ ...PHONE, colorScheme });
    await page.locator(".session-card").first().waitFor();
    await picture(page, `phone-sessions-${colorScheme}`);
    await page.goto(`${at.server.address}/#/s/${one.key}`);
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await picture(page, `phone-permission-${colorScheme}`);
  });
}
