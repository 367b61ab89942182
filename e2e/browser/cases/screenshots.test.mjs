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

const THEMES = ["light", "dark"];

/** Visits a view in both themes: it has no accessibility violations, and its screenshots are written on request. */
async function look(page, name, { saved = false } = {}) {
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    await still(page);
    // The themes differ in colours only.
    assert.deepEqual(await accessibility(page, colorScheme === "light" ? undefined : ["color-contrast"]), [], `${name} ${colorScheme}`);
    if (!saved || process.env.SCREENSHOTS === undefined) continue;
    mkdirSync(FOLDER, { recursive: true });
    const file = new URL(`${name}-${colorScheme}.png`, FOLDER).pathname;
    await page.screenshot({ path: file, scale: "css" });
    assert.ok(existsSync(file));
  }
}

/** Waits until nothing moves or fades, and until buttons that allow accept a click. Spinners turn for ever. */
async function still(page) {
  await page.waitForFunction(
    () =>
      document.querySelector(".yes.main[aria-disabled=true]") === null &&
      document.getAnimations().every((one) => one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity),
  );
}

const picture = (page, name) => look(page, name, { saved: true });

/** The sessions on disk may still be counted when the page is ready. */
async function counted(page) {
  await page.waitForFunction(() => /\$/.test(document.querySelector(".machine")?.textContent ?? ""));
}

test("the views of a desk", async () => {
  // The first view after the first start.
  const page = await at.visit(DESKTOP);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await counted(page);
  await picture(page, "desk-permission");
  // Open menus, which are not in the docs.
  await page.locator(".session .menu summary").click();
  await page.getByRole("button", { name: "Find in this session…" }).waitFor();
  await look(page, "menu of a session");
  await page.keyboard.press("Escape");
  const card = page.locator(".card", { hasText: "Write the release notes" }).first();
  await card.hover();
  await card.getByRole("button", { name: /^Actions/ }).click();
  await card.locator(".pop").waitFor();
  await look(page, "menu of a card");
  await page.keyboard.press("Escape");
  const one = await at.server.session("The total of an invoice is off by a cent. Please find out why and fix it.", { title: "Check the invoices" });
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await allow(page);
  await page.getByRole("heading", { name: "Change this file?" }).waitFor();
  await picture(page, "desk-edit");
  await allow(page);
  await page.getByRole("heading", { name: "The agent asks you" }).waitFor({ timeout: 60_000 });
  await picture(page, "desk-question");
  await page.getByLabel("Yes").check();
  await page.getByLabel("A test for rounding").check();
  await page.getByRole("button", { name: "Send answers" }).click();
  await page.getByRole("heading", { name: "Approve this plan?" }).waitFor();
  await picture(page, "desk-plan");
  await page.locator(".plan-text").evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByText("This was a rehearsal").last().waitFor({ timeout: 60_000 });
  await picture(page, "desk-done");
  await at.server.call("DELETE", `sessions/${one.key}`);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search sessions and commands" }).waitFor();
  await picture(page, "desk-palette");
  await page.keyboard.press("Escape");
  const parts = { history: [".past-card", picture], cost: [".bars li", picture], new: [".resume-list", picture], settings: [".devices li", picture] };
  for (const [view, [part, take]] of Object.entries(parts)) {
    await page.goto(`${at.server.address}/#/${view}`);
    await page.locator(part).first().waitFor();
    await take(page, `desk-${view}`);
  }
});

test("the views of a phone", async () => {
  const page = await at.visit(PHONE);
  await page.locator(".session-card.needs_you").waitFor();
  await counted(page);
  await picture(page, "phone-sessions");
  await page.locator(".session-card.needs_you").tap();
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await picture(page, "phone-permission");
  await page.getByRole("button", { name: "Model and mode" }).tap();
  await page.getByRole("dialog", { name: "Model and mode" }).waitFor();
  await picture(page, "phone-sheet");
});
