// Web Push from the server to the service worker: the server encrypts for a push service on this machine, and
// DevTools deliver the decrypted messages in place of the browser's push service. No page is open.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessibility, newContext, open } from "../lib/browser.mjs";
import { PushService, stubPushManager } from "../lib/push-service.mjs";
import { button, isHeaded, picture, pictureOfNotification, pressFirstButton, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "note" }
repeat = true

[[turn.block]]
tool = "Write"
ask = true
input = { file_path = "note.txt", content = "secret-thing" }
result = "written"

[[turn]]
when = { last_contains = "remove" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = true
input = { command = "rm -rf /" }
result = "removed"

[[turn]]
repeat = true
text = "That is done."
`;
const at = stage({ notifications: true, script: SCRIPT, args: ["--push-on-loopback"] });
const services = [];
after(() => services.forEach((service) => service.stop()));

/** A paired page on the settings, whose browser has a push service on this machine. */
async function settingsPage(context, service) {
  const page = await open(context, await at.server.link());
  at.pages.push(page);
  await page.locator(".page").waitFor();
  await page.addInitScript(stubPushManager, service.subscription);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.goto(`${at.server.address}/#/settings`);
  await page.reload();
  return page;
}

async function begin() {
  const service = await PushService.start();
  services.push(service);
  const context = await newContext(at.browser, { permissions: ["notifications"], serviceWorkers: "allow" });
  return { service, context, page: await settingsPage(context, service) };
}

/** Closes the page. Its service worker stays, and DevTools push to it. */
async function closed(context, page) {
  const other = await context.newPage();
  const devtools = await context.newCDPSession(other);
  const registered = new Promise((found) => devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => registrations[0] && found(registrations[0].registrationId)));
  await devtools.send("ServiceWorker.enable");
  const registrationId = await registered;
  at.pages.splice(at.pages.indexOf(page), 1);
  await page.close();
  const push = (message) => devtools.send("ServiceWorker.deliverPushMessage", { origin: at.server.address, registrationId, data: JSON.stringify(message) });
  /** Runs a function in the service worker, which the browser stops when it has nothing to do. */
  const run = async (what, given) => {
    for (let tries = 0; ; tries += 1) {
      await devtools.send("ServiceWorker.startWorker", { scopeURL: `${at.server.address}/` });
      const worker = context.serviceWorkers().at(-1) ?? (await context.waitForEvent("serviceworker"));
      try {
        return await worker.evaluate(what, given);
      } catch (error) {
        if (tries === 20 || !/restarted|closed|destroyed/.test(String(error))) throw error;
      }
    }
  };
  return { run, push };
}

/**
 * Waits a while for exactly these notifications: tags, each with its token if it has one. Returns what is
 * shown.
 */
async function look({ run }, wanted) {
  return run(async (wanted) => {
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
async function shown(browser, wanted, again = async () => undefined) {
  for (let tries = 0; tries < 10; tries += 1) {
    const { isThere, all } = await look(browser, [...wanted].sort());
    if (isThere) return all;
    await again();
  }
  const { now } = await look(browser, [...wanted].sort());
  assert.deepEqual(now, [...wanted].sort());
}

/** Delivers a message, and waits for the notifications that the browser shows then. */
async function deliver(browser, message, ...wanted) {
  await browser.push(message);
  return shown(browser, wanted, () => browser.push(message));
}

/** Presses a notification, or a button of it, and returns the addresses that were opened. */
async function press({ run }, tag, action) {
  return run(
    async ([tag, action]) => {
      const opened = [];
      self.Clients.prototype.openWindow = async (url) => void opened.push(url);
      const [notification] = await self.registration.getNotifications({ tag });
      const event = new NotificationEvent("notificationclick", { notification, action });
      let lasting;
      // Only events of the browser itself may wait.
      Object.defineProperty(event, "waitUntil", { value: (done) => (lasting = done) });
      self.dispatchEvent(event);
      await lasting;
      return opened;
    },
    [tag, action],
  );
}

/** The tag of a notification, and its token if it has one. */
const named = ({ tag, actions }) => [tag, actions?.token].filter(Boolean).join(" ");
const asks = (session, reminder = 0) => (message) => message.type === "notify" && message.kind === "permission" && message.session === session && message.reminder === reminder;

test("a device turns notifications on, tests them with a plain reason for a failure, and turns them off", async () => {
  const { service, page } = await begin();
  const section = page.getByRole("region", { name: "Notifications on this device" });
  await section.getByText("Off", { exact: true }).waitFor();
  await page.evaluate(() => (window.pushServiceFails = true));
  await button(section, "Turn on").click();
  await section.getByRole("alert").getByText("push service error").waitFor();
  await page.evaluate(() => (window.pushServiceFails = false));
  await button(section, "Turn on").click();
  await section.getByText("On", { exact: true }).waitFor();
  await section.getByText(`Push service: ${service.host.split(":")[0]}`).waitFor();
  assert.equal(await page.evaluate(() => window.subscribedWith.applicationServerKey), (await at.server.call("GET", "push")).key);
  await button(section, "Send a test").click();
  await section.getByText("The test was sent.").waitFor();
  const sent = await service.next(({ type }) => type === "test");
  assert.ok(sent.signed && sent.url.startsWith("#/"), JSON.stringify(sent));
  service.status = 503;
  await button(section, "Send a test").click();
  await section.locator(".test-result.test-bad").getByText("503").waitFor();
  service.status = 201;
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "settings-push");
  await button(section, "Turn off").click();
  await section.getByText("Off", { exact: true }).waitFor();
});

test("one tap on a notification decides with the page closed, and an answer elsewhere closes it", async () => {
  const { service, context, page } = await begin();
  await page.getByRole("region", { name: "Notifications on this device" }).getByRole("button", { name: "Turn on" }).click();
  await page.getByText("On", { exact: true }).waitFor();
  const settings = await at.server.call("GET", "notify/settings");
  await at.server.call("PUT", "notify/settings", { ...settings, first_after_s: 0, reminders_s: [1, 600], details: true });
  const browser = await closed(context, page);

  const one = await at.server.session("Write a note");
  const message = await service.next(asks(one.key));
  assert.match(message.detail, /^Write /, "a notification that allows shows what it allows");
  const [first] = await deliver(browser, message, named(message));
  assert.deepEqual(first.actions, ["allow: Allow once", "deny: Deny"]);
  await pictureOfNotification("desk-notification");
  // The reminder replaces it, with a token of its own.
  const again = await service.next(asks(one.key, 1));
  await deliver(browser, again, named(again));
  assert.notEqual(named(again), named(message));
  // One tap decides, and no page opens.
  if (isHeaded) await pressFirstButton();
  else assert.deepEqual(await press(browser, again.tag, "allow"), []);
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 1);
  const { items } = await at.server.call("GET", `inbox?session=${one.key}`);
  assert.equal(items.find(({ kind }) => kind === "permission").outcome, "allowed");
  await shown(browser, []);

  // An answer on another device withdraws the notification; a tap on one that was not withdrawn yet opens the
  // card.
  const two = await at.server.session("Write another note");
  const second = await service.next(asks(two.key));
  await deliver(browser, second, named(second));
  const [{ tool_use_id }] = (await at.server.call("GET", "permissions")).items;
  await at.server.call("POST", `sessions/${two.key}/permissions/${tool_use_id}`, { decision: "deny" });
  assert.deepEqual(await press(browser, second.tag, "allow"), [`${at.server.address}/#/s/${two.key}?ask=${tool_use_id}`]);
  const withdrawn = await service.next(({ type, tags }) => type === "withdraw" && tags.includes(second.tag));
  await deliver(browser, withdrawn);

  // A request of high risk has no buttons: it is decided on its card.
  const three = await at.server.session("remove it");
  const high = await service.next(asks(three.key));
  assert.equal(high.risk, "HIGH");
  const shownNow = await deliver(browser, high, named(high));
  assert.deepEqual(shownNow.find(({ tag }) => tag === high.tag).actions, []);
  assert.deepEqual(await press(browser, high.tag, ""), [`${at.server.address}/${high.url}`]);
  await context.close();
});
