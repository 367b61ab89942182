// The inbox and the settings of notifications. The cases answer for the server, so that every kind of item is there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, PHONE, accessibility, newContext, open } from "../lib/browser.mjs";
import { InboxServer } from "../lib/inbox.mjs";
import { asksAndSays, button, hide, picture, stage } from "../lib/setup.mjs";

const at = stage({ script: asksAndSays("make everything", "That is done.") });

/** A paired page on the inbox of a case. */
async function visit(inbox, options = {}) {
  const { scopes, path = "#/inbox", ...rest } = options;
  const context = await newContext(at.browser, { ...DESKTOP, ...rest });
  await inbox.serve(context);
  const page = await open(context, await at.server.link(scopes));
  at.pages.push(page);
  await page.locator(".page").waitFor();
  await page.goto(`${at.server.address}/${path}`);
  return page;
}

async function until(holds) {
  while (!holds()) await new Promise((done) => setTimeout(done, 20));
}

test("the inbox lists what waits, then what happened, with filters and unread state", async () => {
  const inbox = new InboxServer();
  const page = await visit(inbox);
  const waiting = page.getByRole("region", { name: "Waiting for you" });
  const happened = page.getByRole("region", { name: "What happened" });
  await waiting.getByText("Bash: cargo test --package invoices").waitFor();
  assert.equal(await waiting.locator(".inbox-item").count(), 2);
  assert.equal(await happened.locator(".inbox-item").count(), 7);
  assert.equal(await happened.locator(".inbox-item").first().locator(".inbox-title").innerText(), "Speed up the search");
  // A failed delivery is open at a request that waits.
  await waiting.getByText("ntfy.sh: failed (timeout)").waitFor();
  await page.locator(".sidebar-foot .badge").getByText("5", { exact: true }).waitFor();
  assert.match(await page.title(), /^\(3\)/);
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    assert.deepEqual(await accessibility(page), [], theme);
    await picture(page, `desk-inbox-${theme}`);
  }

  await page.getByRole("radio", { name: "Waiting" }).check();
  await happened.waitFor({ state: "detached" });
  await page.getByRole("radio", { name: "Unread" }).check();
  await happened.getByText("API error 529").waitFor();
  assert.equal(await happened.locator(".inbox-item").count(), 3);
  await page.getByLabel("Kind").selectOption("failed");
  await waiting.waitFor({ state: "detached" });
  assert.equal(await happened.locator(".inbox-item").count(), 1);
  // The filters are in the address.
  await page.reload();
  await happened.getByText("API error 529").waitFor();
  assert.equal(await page.locator(".inbox-item").count(), 1);

  await button(page, "Mark all read").click();
  await page.getByText("Everything is read.").waitFor();
  assert.ok(await button(page, "Mark all read").isDisabled());
  assert.deepEqual(inbox.sent.filter(({ path }) => path === "inbox/read").map(({ body }) => body), [{ up_to: 100 }]);
  // Pending requests still count.
  await page.locator(".sidebar-foot .badge").getByText("2", { exact: true }).waitFor();
});

test("an item leads to its request, and the card tells the server that it is on the screen", async () => {
  const inbox = new InboxServer();
  const [first, second] = await Promise.all([at.server.session("ask me", { title: "One" }), at.server.session("ask me", { title: "Two" })]);
  for (const { key } of [first, second]) await at.server.until(key, (view) => view.state === "needs_you");
  const pending = (await at.server.call("GET", "permissions")).items.find(({ session }) => session === second.key);
  inbox.items = [
    { id: "news", position: 2, kind: "finished", at: new Date().toISOString(), session: second.key, title: "Two", link: `#/s/${second.key}`, unread: true },
    { id: "ask", position: 1, kind: "permission", at: new Date().toISOString(), session: second.key, title: "Two", tool: "Bash", line: "make everything", risk: "high", tool_use_id: pending.tool_use_id, waiting: true, link: `#/s/${second.key}?ask=${pending.tool_use_id}` },
  ];
  const page = await visit(inbox, PHONE);
  await page.locator(".inbox-item.waiting").waitFor();
  await until(() => inbox.visible.some(({ ids }) => ids?.includes("ask")));
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "inbox-phone");
  await page.locator(".inbox-item.waiting a").tap();
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.ok(page.url().includes(second.key));
  await until(() => inbox.visible.some(({ requests }) => requests?.[0].tool_use_id === pending.tool_use_id && requests[0].session === second.key));
  // News of a session that is on the screen are read.
  await until(() => inbox.sent.some(({ path, body }) => path === "inbox/read" && body.ids?.[0] === "news"));

  // A hidden page says nothing.
  await hide(page, true);
  const before = inbox.visible.length;
  await page.goto(`${at.server.address}/#/s/${first.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.equal(inbox.visible.length, before);
  await hide(page, false);
  await until(() => inbox.visible.some(({ requests }) => requests?.[0].session === first.key));
});

/** Replaces the browser's push service, which tests cannot reach. */
function stubPushManager() {
  let subscription = null;
  const made = () => ({ endpoint: "https://push.example.org/send/1", options: {}, toJSON: () => ({ endpoint: "https://push.example.org/send/1", expirationTime: null, keys: { p256dh: "BPublic", auth: "secret" } }), unsubscribe: async () => ((subscription = null), true) });
  PushManager.prototype.getSubscription = async () => subscription;
  PushManager.prototype.subscribe = async (options) => {
    window.subscribedWith = options;
    if (window.pushServiceFails) throw new DOMException("Registration failed - push service error", "AbortError");
    return (subscription = made());
  };
}

test("a device turns notifications on, tests them with a plain reason for a failure, and turns them off", async () => {
  const inbox = new InboxServer();
  const page = await visit(inbox, { path: "#/settings", permissions: ["notifications"], serviceWorkers: "allow" });
  await page.addInitScript(stubPushManager);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  const section = page.getByRole("region", { name: "Notifications on this device" });
  await section.getByText("Off", { exact: true }).waitFor();
  await page.evaluate(() => (window.pushServiceFails = true));
  await button(section, "Turn on").click();
  await section.getByRole("alert").getByText("push service error").waitFor();
  assert.equal(inbox.subscription, undefined);
  await page.evaluate(() => (window.pushServiceFails = false));
  await button(section, "Turn on").click();
  await section.getByText("On", { exact: true }).waitFor();
  assert.deepEqual(inbox.subscription, { endpoint: "https://push.example.org/send/1", expirationTime: null, keys: { p256dh: "BPublic", auth: "secret" } });
  assert.equal(await page.evaluate(() => window.subscribedWith.applicationServerKey), inbox.push().key);
  await button(section, "Send a test").click();
  await section.getByText("The test was sent.").waitFor();
  inbox.testResult = { sent: false, kind: "timeout", message: "The push service did not answer within 10 s", hint: "try again later" };
  await button(section, "Send a test").click();
  await section.getByText("The push service did not answer within 10 s (try again later).").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "settings-push");
  await button(section, "Turn off").click();
  await section.getByText("Off", { exact: true }).waitFor();
  assert.equal(inbox.subscription, undefined);
});

test("an admin sets reminders and quiet hours, and adds and tests a target whose secret stays hidden", async () => {
  const inbox = new InboxServer();
  const page = await visit(inbox, { path: "#/settings" });
  const rules = page.getByRole("region", { name: "Rules for notifications" });
  const minutes = rules.getByLabel("Remind me after (minutes)");
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
  const { quiet, ...saved } = inbox.settings;
  assert.deepEqual(saved, { first_after_s: 3, reminders_s: [120, 600], off_kinds: ["finished"], off_sessions: [], details: false, coalesce_from: 4 });
  assert.deepEqual([quiet.from, quiet.to], ["23:00", "07:00"]);

  const targets = page.getByRole("region", { name: "Other targets" });
  await targets.getByText("Add a target").click();
  await targets.getByLabel("Address").fill("https://ntfy.sh/my-topic");
  await targets.getByLabel("Name").fill("Phone");
  assert.ok(await targets.getByLabel("Offer “Allow once” there").isDisabled());
  await targets.getByLabel("Access token of the topic").fill("tk_secret");
  await targets.getByLabel("Offer “Allow once” there").check();
  await picture(page, "settings-target");
  await button(targets, "Add target").click();
  const row = targets.locator("li", { hasText: "Phone" });
  await row.waitFor();
  const { body } = inbox.sent.find(({ path }) => path === "notify/targets");
  assert.deepEqual(body, { kind: "ntfy", url: "https://ntfy.sh/my-topic", name: "Phone", token: "tk_secret", events: [], include_details: false, allow_button: true });
  assert.ok(!(await page.content()).includes("tk_secret"));
  inbox.testResult = { sent: false, kind: "refused", message: "ntfy.sh answered with 403", hint: "check the access token" };
  await button(row, "Send a test to Phone").click();
  await row.getByText("ntfy.sh answered with 403 (check the access token).").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await row.scrollIntoViewIfNeeded();
  await picture(page, "settings-rules");
  await button(row, "Remove Phone").click();
  await row.waitFor({ state: "detached" });
});
