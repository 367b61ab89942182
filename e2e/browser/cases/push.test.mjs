// Push messages while no page is open: the service worker shows, withdraws and answers. DevTools deliver the
// messages in place of the browser's push service.

import assert from "node:assert/strict";
import { test } from "node:test";
import { newContext, open } from "../lib/browser.mjs";
import { InboxServer } from "../lib/inbox.mjs";
import { asksAndSays, stage } from "../lib/setup.mjs";

const at = stage({ script: asksAndSays("make everything", "That is done.") });

/** A paired browser without a page of the server: its service worker, and a way to push to it. */
async function closedPage(inbox) {
  const context = await newContext(at.browser, { permissions: ["notifications"], serviceWorkers: "allow" });
  await inbox.serve(context);
  const page = await open(context, await at.server.link());
  await page.locator(".page").waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const other = await context.newPage();
  const devtools = await context.newCDPSession(other);
  const registered = new Promise((found) => devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => registrations[0] && found(registrations[0].registrationId)));
  await devtools.send("ServiceWorker.enable");
  const registrationId = await registered;
  await page.close();
  const [worker] = context.serviceWorkers();
  await worker.evaluate(() => {
    self.opened = [];
    self.Clients.prototype.openWindow = async (url) => void self.opened.push(url);
  });
  const push = (message) => devtools.send("ServiceWorker.deliverPushMessage", { origin: at.server.address, registrationId, data: JSON.stringify({ v: 1, ...message }) });
  return { context, worker, push };
}

/** Waits a while for exactly these notifications: tags, each with its token if it has one. Returns what is shown. */
async function look(worker, wanted) {
  return worker.evaluate(async (wanted) => {
    for (let tries = 0; ; tries += 1) {
      const all = await self.registration.getNotifications();
      const now = all.map(({ tag, data }) => [tag, data?.token].filter(Boolean).join(" ")).sort();
      const isThere = JSON.stringify(now) === JSON.stringify(wanted);
      if (isThere || tries === 100) return { isThere, now, all: all.map(({ title, body, tag, actions }) => ({ title, body, tag, actions: actions.map(({ action, title }) => `${action}: ${title}`) })) };
      await new Promise((done) => setTimeout(done, 20));
    }
  }, wanted);
}

/**
 * Waits until the browser shows exactly these notifications. DevTools lose a message now and then, and a message that
 * comes twice changes nothing, so `again` delivers it once more.
 */
async function shown(worker, wanted, again = async () => undefined) {
  for (let tries = 0; tries < 10; tries += 1) {
    const { isThere, all } = await look(worker, [...wanted].sort());
    if (isThere) return all;
    await again();
  }
  const { now } = await look(worker, [...wanted].sort());
  assert.deepEqual(now, [...wanted].sort());
}

/** Delivers a message, and waits for the notifications that the browser shows then. */
async function deliver({ worker, push }, message, ...wanted) {
  await push(message);
  return shown(worker, wanted, () => push(message));
}

/** Presses a notification, or a button of it, and returns the addresses that were opened. */
async function press(worker, tag, action) {
  return worker.evaluate(
    async ([tag, action]) => {
      const [notification] = await self.registration.getNotifications({ tag });
      const event = new NotificationEvent("notificationclick", { notification, action });
      let lasting;
      // Only events of the browser itself may wait.
      Object.defineProperty(event, "waitUntil", { value: (done) => (lasting = done) });
      self.dispatchEvent(event);
      await lasting;
      return self.opened.splice(0);
    },
    [tag, action],
  );
}

const REQUEST = { type: "notify", id: "1", tag: "ask-1", kind: "permission", session: "KEY", title: "shop", body: "A permission request waits", url: "#/s/KEY?ask=toolu_1", at: "2026-11-17T00:00:00Z", reminder: 0, waiting: true, badge: 1 };

test("a push shows a notification with the page closed, whose buttons decide, and a withdrawal closes it", async () => {
  const inbox = new InboxServer();
  const acts = [];
  inbox.act = (body) => (acts.push(body), body.token === "fresh" ? [200, { outcome: "allowed" }] : [410, { code: "gone", status: 410, title: "Gone", detail: "Gone" }]);
  const closed = await closedPage(inbox);
  const { context, worker } = closed;
  const card = `${at.server.address}/#/s/KEY?ask=toolu_1`;

  const [first] = await deliver(closed, { ...REQUEST, risk: "medium", actions: { token: "fresh", decisions: ["allow", "deny"] } }, "ask-1 fresh");
  assert.deepEqual([first.title, first.body, first.actions], ["shop", "A permission request waits", ["allow: Allow once", "deny: Deny"]]);
  // One tap decides, and no page opens.
  assert.deepEqual(await press(worker, "ask-1", "allow"), []);
  assert.deepEqual(acts, [{ token: "fresh", decision: "allow" }]);
  await shown(worker, []);

  // A reminder replaces the notification before it, and a stale tap opens the card.
  // Each part has a tag of its own: the browser closes a notification some time after it was asked to, by its tag.
  const second = { ...REQUEST, tag: "ask-2", risk: "low" };
  await deliver(closed, { ...second, actions: { token: "old", decisions: ["allow", "deny"] } }, "ask-2 old");
  await deliver(closed, { ...second, reminder: 1, actions: { token: "older", decisions: ["allow", "deny"] } }, "ask-2 older");
  assert.deepEqual(await press(worker, "ask-2", "deny"), [card]);
  assert.deepEqual(acts.at(-1), { token: "older", decision: "deny" });
  await shown(worker, []);

  // A request of high risk opens its card.
  assert.deepEqual((await deliver(closed, { ...REQUEST, tag: "ask-3", risk: "high" }, "ask-3"))[0].actions, []);
  assert.deepEqual(await press(worker, "ask-3", ""), [card]);
  await shown(worker, []);
  assert.equal(acts.length, 2);

  await deliver(closed, { ...REQUEST, tag: "ask-4", risk: "high" }, "ask-4");
  await deliver(closed, { ...REQUEST, tag: "ask-5", risk: "high" }, "ask-4", "ask-5");
  await deliver(closed, { type: "withdraw", id: "1", tags: ["ask-4", "never-shown"], badge: 1 }, "ask-5");
  await deliver(closed, { type: "test", tag: "test", title: "Tidings", body: "Notifications work on this device", url: "#/settings" }, "ask-5", "test");
  assert.deepEqual(await press(worker, "test", ""), [`${at.server.address}/#/settings`]);
  await context.close();
});
