// Browser notifications, while the page is hidden.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asksAndSays, hide, stage } from "../lib/setup.mjs";

const at = stage({ notifications: true, script: asksAndSays("make secret", "It is done.") });

/** Records notifications, with a function to click them. */
function watchNotifications() {
  window.shown = [];
  const Real = window.Notification;
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      window.shown.push({ title, body: options.body, press: () => this.onclick(new Event("click")) });
    }
  };
}

test("a notification reports a pending request without secrets, and opens the card", async () => {
  const page = await at.visit({ path: "#/settings", permissions: ["notifications"] });
  await page.addInitScript(watchNotifications);
  await page.reload();
  const wish = page.getByLabel("Notify me about pending requests and ended turns");
  await wish.check();
  const titles = () => page.evaluate(() => window.shown.map((one) => one.title));

  // A visible page shows none.
  const seen = await at.server.session("Say something", { title: "Seen" });
  // The page hears of its end later than the test, and would notify of it once it is hidden.
  await at.server.until(seen.key, (view) => view.totals.turns === 1);
  await page.locator(".card.unread", { hasText: "Seen" }).locator(".state.idle").waitFor();
  assert.deepEqual(await titles(), []);

  await hide(page, true);
  const one = await at.server.session("ask me", { title: "The build" });
  const asks = "The build asks to use Bash";
  await page.waitForFunction((title) => window.shown.some((shown) => shown.title === title), asks);
  assert.ok(!(await page.evaluate((title) => window.shown.find((shown) => shown.title === title).body, asks)).includes("secret"));
  await page.evaluate((title) => window.shown.find((shown) => shown.title === title).press(), asks);
  await hide(page, false);
  await page.waitForURL(new RegExp(`${one.key}$`));
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();

  // The end of a turn is notified too.
  await hide(page, true);
  const other = await at.server.session("Say something", { title: "The letter" });
  await at.server.until(other.key, (view) => view.totals.turns === 1);
  await page.waitForFunction(() => window.shown.some((shown) => shown.title === "The letter is done"));
});

test("a notification of the service worker opens the card too", async () => {
  const page = await at.visit({ permissions: ["notifications"], serviceWorkers: "allow" });
  await page.addInitScript(() => {
    window.Notification = class {
      static permission = "granted";
      constructor() {
        throw new TypeError("Illegal constructor");
      }
    };
    window.shown = [];
    const { showNotification } = ServiceWorkerRegistration.prototype;
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      await showNotification.call(this, title, options);
      window.shown.push(options.data.place);
    };
  });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.goto(`${at.server.address}/#/settings`);
  await page.reload();
  await page.getByLabel("Notify me about pending requests and ended turns").check();
  await hide(page, true);
  const one = await at.server.session("ask me", { title: "The build" });
  // Chromium forgets a notification if its list is read while it is being shown, so the list is read after that.
  await page.waitForFunction((key) => window.shown.some((place) => place.endsWith(key)), one.key);
  const [worker] = page.context().serviceWorkers();
  await worker.evaluate(async (key) => {
    const notification = (await self.registration.getNotifications()).find(({ data }) => data.place.endsWith(key));
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  }, one.key);
  await page.waitForURL(new RegExp(`${one.key}$`));
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
});

test("a page that is hidden before it is connected notifies", async () => {
  const page = await at.visit({ path: "#/settings", permissions: ["notifications"] });
  await page.getByLabel("Notify me about pending requests and ended turns").check();
  await page.addInitScript(watchNotifications);
  let connect;
  const wanted = new Promise((done) => (connect = done));
  await page.routeWebSocket(/\/v1\/ws$/, async (socket) => {
    await wanted;
    socket.connectToServer();
  });
  await page.reload();
  await page.locator(".page").waitFor();
  await hide(page, true);
  const one = await at.server.session("ask me", { title: "The hidden build" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  assert.deepEqual(await page.evaluate(() => window.shown.length), 0);
  connect();
  await page.waitForFunction(() => window.shown.some((shown) => shown.title === "The hidden build asks to use Bash"));
  // Requests that come later are notified by the socket.
  await at.server.session("ask me", { title: "The next build" });
  await page.waitForFunction(() => window.shown.some((shown) => shown.title === "The next build asks to use Bash"));
});

test("a request that came while there was no connection is notified with the list", async () => {
  const page = await at.visit({ path: "#/settings", permissions: ["notifications"] });
  await page.getByLabel("Notify me about pending requests and ended turns").check();
  const one = await at.server.session("ask me", { title: "The letter" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  await page.addInitScript(watchNotifications);
  await page.addInitScript(() => Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
  await page.reload();
  await page.waitForFunction(() => window.shown.some((shown) => shown.title === "The letter asks to use Bash"));
});
