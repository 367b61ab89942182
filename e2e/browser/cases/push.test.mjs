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

/**
 * Waits until the browser shows exactly these notifications: tags, each with its token if it has one. Messages are
 * handled one beside the other, and the browser shows and closes notifications some time later.
 */
async function shown(worker, ...wanted) {
  return worker.evaluate(async (wanted) => {
    for (let tries = 0; ; tries += 1) {
      const all = await self.registration.getNotifications();
      const now = all.map(({ tag, data }) => [tag, data?.token].filter(Boolean).join(" ")).sort();
      if (JSON.stringify(now) === JSON.stringify(wanted)) return all.map(({ title, body, tag, actions }) => ({ title, body, tag, actions: actions.map(({ action, title }) => `${action}: ${title}`) }));
      if (tries === 1000) throw new Error(`the browser shows ${JSON.stringify(now)} instead of ${JSON.stringify(wanted)}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }, wanted.sort());
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
  const { context, worker, push } = await closedPage(inbox);
  const card = `${at.server.address}/#/s/KEY?ask=toolu_1`;

  await push({ ...REQUEST, risk: "medium", actions: { token: "fresh", decisions: ["allow", "deny"] } });
  const [first] = await shown(worker, "ask-1 fresh");
  assert.deepEqual([first.title, first.body, first.actions], ["shop", "A permission request waits", ["allow: Allow once", "deny: Deny"]]);
  // One tap decides, and no page opens.
  assert.deepEqual(await press(worker, "ask-1", "allow"), []);
  assert.deepEqual(acts, [{ token: "fresh", decision: "allow" }]);
  await shown(worker);

  // A reminder replaces the notification before it, and a stale tap opens the card.
  await push({ ...REQUEST, risk: "low", actions: { token: "old", decisions: ["allow", "deny"] } });
  await shown(worker, "ask-1 old");
  await push({ ...REQUEST, risk: "low", reminder: 1, actions: { token: "older", decisions: ["allow", "deny"] } });
  await shown(worker, "ask-1 older");
  assert.deepEqual(await press(worker, "ask-1", "deny"), [card]);
  assert.deepEqual(acts.at(-1), { token: "older", decision: "deny" });
  await shown(worker);

  // A request of high risk opens its card.
  await push({ ...REQUEST, risk: "high" });
  assert.deepEqual((await shown(worker, "ask-1"))[0].actions, []);
  assert.deepEqual(await press(worker, "ask-1", ""), [card]);
  await shown(worker);
  assert.equal(acts.length, 2);

  await push({ ...REQUEST, tag: "ask-1", risk: "high" });
  await push({ ...REQUEST, tag: "ask-2", risk: "high" });
  await shown(worker, "ask-1", "ask-2");
  await push({ type: "withdraw", id: "1", tags: ["ask-1", "never-shown"], badge: 1 });
  await shown(worker, "ask-2");
  await push({ type: "test", tag: "test", title: "Tidings", body: "Notifications work on this device", url: "#/settings" });
  await shown(worker, "ask-2", "test");
  assert.deepEqual(await press(worker, "test", ""), [`${at.server.address}/#/settings`]);
  await context.close();
});
