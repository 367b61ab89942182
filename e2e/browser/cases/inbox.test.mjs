// The inbox, the rules of notifications and their targets, on the server that keeps them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, PHONE, accessibility, newContext, open } from "../lib/browser.mjs";
import { serveSample } from "../lib/inbox.mjs";
import { allow, button, hide, picture, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "ask" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = true
input = { command = "make everything", description = "Build" }
result = "built"

[[turn]]
when = { last_contains = "fail" }
repeat = true
error = { status = 400, message = "the request was wrong" }

[[turn]]
repeat = true
text = "That is done."
`;
const at = stage({ script: SCRIPT, args: ["--push-on-loopback"] });
const inbox = (query) => at.server.call("GET", `inbox?${query}`);

async function until(holds) {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 50));
}

const waitingOf = (page) => page.getByRole("region", { name: "Waiting for you" });
const newsOf = (page) => page.getByRole("region", { name: "What happened" });

test("every kind of item has its words, and a failed delivery is open at a request that waits", async () => {
  const context = await newContext(at.browser, DESKTOP);
  await serveSample(context);
  const page = await open(context, await at.server.link());
  at.pages.push(page);
  await page.locator(".page").waitFor();
  await page.goto(`${at.server.address}/#/inbox`);
  await waitingOf(page).getByText("Bash: cargo test --package invoices").waitFor();
  assert.equal(await waitingOf(page).locator(".inbox-item").count(), 2);
  assert.equal(await waitingOf(page).locator(".risk").innerText(), "medium risk");
  assert.equal(await newsOf(page).locator(".inbox-item").count(), 7);
  await waitingOf(page).getByText("ntfy.sh: failed (timeout)").waitFor();
  await page.locator(".sidebar-foot .badge").getByText("5", { exact: true }).waitFor();
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    assert.deepEqual(await accessibility(page), [], theme);
    await picture(page, `desk-inbox-${theme}`);
  }
});

test("the inbox lists what waits, then what happened; filters and the read state are kept by the server", async () => {
  const page = await at.visit({ ...DESKTOP, path: "#/inbox" });
  await page.getByText("Nothing waits for you, and nothing has happened yet.").waitFor();
  const links = () => page.locator(".sidebar-foot a").evaluateAll((all) => all.map((link) => link.getBoundingClientRect().left));
  const before = await links();
  const asking = await at.server.session("ask me", { title: "Check the invoices" });
  await at.server.until(asking.key, (view) => view.state === "needs_you");
  const done = await at.server.session("Say something", { title: "Write the release notes" });
  await at.server.until(done.key, (view) => view.state === "idle" && view.totals.turns === 1);
  const failing = await at.server.session("fail", { title: "Upgrade to Node 22" });
  await waitingOf(page).getByText("Bash: make everything").waitFor();
  await newsOf(page).getByText("Upgrade to Node 22").waitFor();
  await page.locator(".sidebar-foot .badge").getByText("3", { exact: true }).waitFor();
  assert.deepEqual(await links(), before, "the badge moves no link");
  assert.equal(await newsOf(page).locator(".inbox-item").count(), 2);
  // The request is on the screen, and the server knows.
  await until(async () => (await inbox("state=waiting")).items[0]?.visible_at !== undefined);

  await page.getByRole("radio", { name: "Waiting" }).check();
  await newsOf(page).waitFor({ state: "detached" });
  await page.getByRole("radio", { name: "Unread" }).check();
  await page.getByLabel("Kind").selectOption("failed");
  await waitingOf(page).waitFor({ state: "detached" });
  await newsOf(page).getByText("Upgrade to Node 22").waitFor();
  assert.equal(await page.locator(".inbox-item").count(), 1);
  // The filters are in the address.
  await page.reload();
  await newsOf(page).getByText("Upgrade to Node 22").waitFor();
  assert.equal(await page.locator(".inbox-item").count(), 1);

  await button(page, "Mark all read").click();
  await page.getByText("Everything is read.").waitFor();
  assert.ok(await button(page, "Mark all read").isDisabled());
  assert.deepEqual([(await inbox("state=unread")).unread, (await inbox("state=waiting")).waiting], [0, 1]);
  // A pending request still counts.
  await page.locator(".sidebar-foot .badge").getByText("1", { exact: true }).waitFor();

  // A session is muted from its menu.
  await page.goto(`${at.server.address}/#/s/${failing.key}`);
  await page.locator("summary[aria-label=More]").click();
  await button(page, "Mute notifications").click();
  await page.locator(".toast").getByText("This session sends no notifications any more.").waitFor();
  assert.deepEqual((await at.server.call("GET", "notify/settings")).off_sessions, [failing.key]);
  await page.locator("summary[aria-label=More]").click();
  await button(page, "Unmute notifications").click();
  await page.locator(".toast").getByText("This session sends notifications again.").waitFor();
  assert.deepEqual((await at.server.call("GET", "notify/settings")).off_sessions, []);
});

test("an item leads to its request, its outcome stays, and a hidden page shows nothing to the server", async () => {
  const [first, second] = await Promise.all([at.server.session("ask me", { title: "One" }), at.server.session("ask me", { title: "Two" })]);
  for (const { key } of [first, second]) await at.server.until(key, (view) => view.state === "needs_you");
  const itemOf = async (session) => (await inbox(`session=${session}`)).items.find(({ kind }) => kind === "permission");
  const page = await at.visit({ ...PHONE, path: "#/inbox" });
  const item = page.locator(".inbox-item.waiting", { hasText: "Two" });
  await item.waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "inbox-phone");
  await hide(page, true);
  await item.getByRole("link").tap();
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.ok(page.url().includes(second.key) && page.url().includes("?ask="));
  await hide(page, false);
  await until(async () => (await itemOf(second.key)).visible_at !== undefined);
  await allow(page);
  await at.server.until(second.key, (view) => view.state === "idle");
  // What happens in the session on the screen is no news.
  await until(async () => (await inbox(`session=${second.key}`)).items.every(({ unread, waiting }) => unread !== true || waiting === true));
  await page.goto(`${at.server.address}/#/inbox`);
  await newsOf(page).locator(".inbox-item", { hasText: "Two" }).getByText("Allowed", { exact: true }).waitFor();

  // A page that is hidden says nothing about what it shows.
  await hide(page, true);
  const { visible_at } = await itemOf(first.key);
  let reports = 0;
  page.on("request", (request) => (reports += request.url().endsWith("/v1/inbox/visible") ? 1 : 0));
  await page.goto(`${at.server.address}/#/s/${first.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.equal(reports, 0);
  await hide(page, false);
  await until(async () => (await itemOf(first.key)).visible_at !== visible_at);
});

test("an admin sets reminders and quiet hours, and adds and tests a target whose secret stays hidden", async () => {
  const page = await at.visit({ ...DESKTOP, path: "#/settings" });
  const rules = page.getByRole("region", { name: "Rules for notifications" });
  const minutes = rules.getByLabel("Remind me after (minutes)");
  await minutes.waitFor();
  assert.equal(await minutes.inputValue(), "1, 5, 30");
  await minutes.fill("soon");
  await button(rules, "Save rules").click();
  await rules.getByText("Reminders are a list of minutes, such as 1, 5, 30.").waitFor();
  await minutes.fill("2, 10");
  await rules.getByLabel("Quiet hours").check();
  await rules.getByLabel("from").fill("23:00");
  await rules.getByText("Kinds of notifications").click();
  await rules.getByLabel("Turn finished").uncheck();
  await button(rules, "Save rules").click();
  await rules.getByText("Saved.").waitFor();
  const saved = await at.server.call("GET", "notify/settings");
  assert.deepEqual([saved.reminders_s, saved.off_kinds, saved.quiet.from, saved.quiet.to], [[120, 600], ["finished"], "23:00", "07:00"]);

  const targets = page.getByRole("region", { name: "Other targets" });
  await targets.getByText("Add a target").click();
  // Nothing answers there.
  await targets.getByLabel("Address").fill("https://127.0.0.1:9/my-topic");
  await targets.getByLabel("Name").fill("Phone");
  assert.ok(await targets.getByLabel("Offer “Allow once” there").isDisabled());
  await targets.getByLabel("Access token of the topic").fill("tk_secret");
  await targets.getByLabel("Offer “Allow once” there").check();
  await picture(page, "settings-target");
  await button(targets, "Add target").click();
  const row = targets.locator("li", { hasText: "Phone" });
  await row.waitFor();
  const kept = (await at.server.call("GET", "notify/targets")).items.find(({ name }) => name === "Phone");
  assert.deepEqual([kept.kind, kept.has_token, kept.allow_button, kept.source], ["ntfy", true, true, "page"]);
  assert.ok(!(await page.content()).includes("tk_secret"));
  await button(row, "Send a test to Phone").click();
  await row.locator(".test-result.test-bad").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await row.scrollIntoViewIfNeeded();
  await picture(page, "settings-rules");
  await button(row, "Remove Phone").click();
  await row.waitFor({ state: "detached" });
  assert.equal((await at.server.call("GET", "notify/targets")).items.length, 0);
});
