// The main views, light and dark, on desktop and phone. SCREENSHOTS=1 regenerates the screenshots of
// docs/page.md.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { DESKTOP, PHONE, accessibility } from "../lib/browser.mjs";
import { pastMonth } from "../lib/past.mjs";
import { allow, stage } from "../lib/setup.mjs";

const FOLDER = new URL("../../../docs/screenshots/", import.meta.url);
const root = process.env.SCREENSHOTS_ROOT ?? pastMonth();
after(() => process.env.SCREENSHOTS_ROOT ?? rmSync(root, { recursive: true }));

/** Sessions besides the demo: a running one, and one that is done. */
const BESIDE = `
[[turn]]
when = { last_contains = "slow" }
repeat = true
text = "The search reads the whole index for each letter that is typed. I will keep the last result and narrow it down. ${"First the tests. ".repeat(60)}"
pace = { chunk_chars = 16, chunk_delay_ms = 1500 }

[[turn]]
repeat = true
text = "The notes for 2.4 are in CHANGELOG.md: two new commands, nine fixes, and nothing that breaks."
`;
async function begin(server) {
  const real = (folder, prompt, title) => {
    const cwd = join(server.folder, folder);
    mkdirSync(cwd, { recursive: true });
    return server.session(prompt, { title, cwd, demo: false });
  };
  await real("website", "Why is the search so slow?", "Speed up the search");
  const done = await real("release", "Write the release notes", "Write the release notes");
  await server.until(done.key, (view) => view.state === "idle" && view.totals.turns === 1);
}

const at = stage({ root, beside: BESIDE, begin });

async function look(page, name) {
  await page.waitForTimeout(900);
  assert.deepEqual(await accessibility(page), [], name);
}

/** Screenshots are written only on request, but all views are visited. */
async function picture(page, name) {
  await look(page, name);
  if (process.env.SCREENSHOTS === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  const file = new URL(`${name}.png`, FOLDER).pathname;
  await page.screenshot({ path: file, scale: "css" });
  assert.ok(existsSync(file));
}

/** The sessions on disk may still be counted when the page is ready. */
async function counted(page) {
  await page.waitForFunction(() => /\$/.test(document.querySelector(".machine")?.textContent ?? ""));
}

for (const colorScheme of ["light", "dark"]) {
  test(`the views of a desk, ${colorScheme}`, async () => {
    // The first view after the first start.
    const page = await at.visit({ ...DESKTOP, colorScheme });
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await counted(page);
    await picture(page, `desk-permission-${colorScheme}`);
    const one = await at.server.session("The total of an invoice is off by a cent. Please find out why and fix it.", { title: "Check the invoices" });
    await page.goto(`${at.server.address}/#/s/${one.key}`);
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await allow(page);
    await page.getByRole("heading", { name: "Change this file?" }).waitFor();
    await picture(page, `desk-edit-${colorScheme}`);
    await allow(page);
    await page.getByRole("heading", { name: "The agent asks you" }).waitFor({ timeout: 60_000 });
    await picture(page, `desk-question-${colorScheme}`);
    await page.getByLabel("Yes").check();
    await page.getByLabel("A test for rounding").check();
    await page.getByRole("button", { name: "Send answers" }).click();
    await page.getByRole("heading", { name: "Approve this plan?" }).waitFor();
    await picture(page, `desk-plan-${colorScheme}`);
    await page.locator(".plan-text").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("This was a rehearsal").last().waitFor({ timeout: 60_000 });
    await picture(page, `desk-done-${colorScheme}`);
    await at.server.call("DELETE", `sessions/${one.key}`);
    const parts = { history: [".past-card", picture], cost: [".bars li", picture], new: [".form", look], settings: [".devices li", look] };
    for (const [view, [part, take]] of Object.entries(parts)) {
      await page.goto(`${at.server.address}/#/${view}`);
      await page.locator(part).first().waitFor();
      await take(page, `desk-${view}-${colorScheme}`);
    }
  });

  test(`the views of a phone, ${colorScheme}`, async () => {
    const page = await at.visit({ ...PHONE, colorScheme });
    await page.locator(".session-card.needs_you").waitFor();
    await counted(page);
    await picture(page, `phone-sessions-${colorScheme}`);
    await page.locator(".session-card.needs_you").tap();
    await page.getByRole("heading", { name: "Run this command?" }).waitFor();
    await picture(page, `phone-permission-${colorScheme}`);
  });
}
