// Finding sessions: one list of everything, marks, bulk deletion, the command palette, recalled prompts.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { button, settle, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
repeat = true
text = "It is done."
`;

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, script: SCRIPT });

const done = async (title) => {
  const { key } = await at.server.session(`Do ${title}`, { title });
  return at.server.until(key, (view) => view.state === "idle" && view.totals.turns === 1);
};

/** Opens the menu of a card, and presses one of its buttons. */
async function act(page, title, action) {
  const card = page.locator(".card", { hasText: title });
  await card.hover();
  await card.getByRole("button", { name: /^Actions/ }).click();
  await card.locator(".pop").getByText(action, { exact: true }).click();
}

test("the list has live sessions and those on disk, and marks them as unread, pinned and archived", async () => {
  const [one, two] = [await done("First job"), await done("Second job")];
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".session-card", { hasText: "Second job" }).waitFor();
  await page.locator(".disk-card").first().waitFor();
  assert.deepEqual(await accessibility(page), []);

  // The composer takes the next words at once.
  await page.waitForFunction(() => document.activeElement?.matches(".composer textarea"));

  // A turn that ends elsewhere is unread until it was shown here.
  assert.equal(await page.getByRole("img", { name: "Unread" }).count(), 0);
  await at.server.call("POST", `sessions/${two.key}/input`, { content: "More" });
  await page.locator(".card.unread", { hasText: "Second job" }).waitFor();
  assert.equal(await page.locator(".card.unread").count(), 1);
  await page.locator(".session-card", { hasText: "Second job" }).click();
  await page.locator(".card.unread").waitFor({ state: "detached" });

  await act(page, "First job", "Pin");
  await page.getByRole("button", { name: /^Pinned/ }).waitFor();
  assert.equal((await at.server.call("GET", `sessions/${one.key}`)).labels.pinned, "yes", "all devices see it");
  assert.match(await page.locator(".session-card").first().innerText(), /First job/);
  await act(page, "First job", "Unpin");
  await page.getByRole("button", { name: /^Pinned/ }).waitFor({ state: "detached" });

  await act(page, "Second job", "Archive");
  await page.locator(".session-card", { hasText: "Second job" }).waitFor({ state: "detached" });
  await button(page, "Archived").click();
  await page.locator(".session-card", { hasText: "Second job" }).waitFor();
  assert.equal(await page.locator(".session-card").count(), 1);
  await act(page, "Second job", "Unarchive");
  await page.getByText("No session is archived").waitFor();
  await button(page, "On disk").click();
  assert.equal(await page.locator(".session-card").count(), 0);
  await page.locator(".disk-card").first().waitFor();
  await button(page, "All").click();

  await act(page, "Second job", "Rename");
  await page.getByLabel("New title").fill("The better name");
  await page.getByLabel("New title").press("Enter");
  await page.locator(".session-card", { hasText: "The better name" }).waitFor();
  assert.equal((await at.server.call("GET", `sessions/${two.key}`)).title, "The better name");
});

test("p5 the filter finds what cards show, and leads on to the text of all transcripts", async () => {
  const page = await at.visit();
  await page.locator(".disk-card").first().waitFor();
  const filter = page.getByLabel("Filter sessions");
  await filter.fill("idle first");
  await page.locator(".disk-card").first().waitFor({ state: "detached" });
  assert.deepEqual(await page.locator(".session-card .card-title").allInnerTexts(), ["First job"]);
  await filter.fill("on disk");
  await page.locator(".session-card").first().waitFor({ state: "detached" });
  assert.ok((await page.locator(".disk-card").count()) > 3, "the whole group is shown");
  await filter.fill("util has greet");
  await page.getByRole("link", { name: "Search the text of all transcripts" }).click();
  await page.locator(".past-card.hit").first().waitFor();
});

test("selected sessions are archived and deleted together, after a question", async () => {
  for (const title of ["Gone one", "Gone two", "Stays"]) await done(title);
  const page = await at.visit();
  await page.locator(".session-card", { hasText: "Stays" }).waitFor();
  await act(page, "Gone one", "Select");
  await page.getByLabel("Select Gone two").check();
  await page.getByText("2 sessions selected").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Delete…").click();
  const dialog = page.getByRole("dialog", { name: "Delete 2 sessions?" });
  await dialog.waitFor();
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.ok((await at.server.call("GET", "sessions")).items.some(({ title }) => title === "Gone one"));
  await button(page, "Delete…").click();
  await page.getByLabel("Delete their transcripts from disk too").check();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  const left = (await at.server.call("GET", "sessions")).items.map(({ title }) => title);
  assert.ok(left.includes("Stays") && !left.includes("Gone one") && !left.includes("Gone two"));
  const { items } = await at.server.call("GET", "transcripts?limit=1000");
  assert.ok(!items.some(({ title }) => /Gone/.test(title ?? "")), "their files are gone too");
  await page.locator(".session-card", { hasText: "Gone" }).first().waitFor({ state: "detached" });
});

test("the palette opens sessions, acts on the open one and changes settings, and ↑ recalls prompts", async () => {
  const one = await done("Polish the lens");
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "Once more" });
  await at.server.until(one.key, (view) => view.totals.turns === 2);
  const page = await at.visit();
  await page.locator(".session-card", { hasText: "Polish the lens" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search sessions and commands" });
  await field.waitFor();
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await field.fill("lens polish");
  await page.getByRole("option", { name: /Polish the lens/ }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.keyboard.press("Enter");
  await page.locator(".title-button").getByText("Polish the lens").waitFor();
  await field.waitFor({ state: "detached" });

  // Earlier prompts, the last first; a changed one stays as it is.
  const prompt = page.getByLabel("Message to the agent");
  await prompt.focus();
  const shows = (text) => page.waitForFunction((wanted) => document.querySelector(".composer textarea").value === wanted, text);
  await page.keyboard.press("ArrowUp");
  await shows("Once more");
  await page.keyboard.press("ArrowUp");
  await shows("Do Polish the lens");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await shows("");

  const choose = async (words, name) => {
    await page.keyboard.press("Control+k");
    await field.fill(words);
    await page.getByRole("option", { name }).first().click();
    await field.waitFor({ state: "detached" });
  };
  await choose("changed", /Show changed files/);
  await page.getByRole("heading", { name: "Changes" }).waitFor();
  await choose("colours dark", /Colours: dark/);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await choose("high contrast", /High contrast/);
  assert.deepEqual(await accessibility(page, ["color-contrast", "color-contrast-enhanced"]), [], "high contrast, dark");
  await choose("colours light", /Colours: light/);
  assert.deepEqual(await accessibility(page, ["color-contrast", "color-contrast-enhanced"]), [], "high contrast, light");
  await choose("audit", /Settings: Audit log/);
  await page.getByLabel("Filter the audit log").waitFor();
  // Escape closes it and does nothing else.
  await page.keyboard.press("Control+k");
  await field.waitFor();
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
});

test("on a phone the palette, the menus and the tabs are in reach of a finger", async () => {
  const page = await at.visit(PHONE);
  await page.locator(".session-card").first().waitFor();
  for (const box of [await button(page, "Archived").boundingBox(), await page.getByRole("button", { name: /^Actions/ }).first().boundingBox()]) assert.ok(box.height >= 32 && box.x + box.width <= 390);
  await button(page, "Search sessions and commands").tap();
  await page.getByRole("combobox", { name: "Search sessions and commands" }).fill("settings");
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)));
  await page.getByRole("option", { name: /^Settings Go to/ }).tap();
  await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
});
