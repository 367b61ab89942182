// A phone: one column, approvals near the thumb, paired by a link, installable.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, accessibility, newContext } from "../lib/browser.mjs";
import { allow, button, stage } from "../lib/setup.mjs";

const at = stage();

test("a phone is paired by a link, and the code is gone from the address", async () => {
  const page = await at.visit(PHONE);
  assert.ok(!page.url().includes("code="));
  // The first view is the list, with pending requests first.
  await page.locator(".session-card.needs_you").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.locator(".session-card").first().tap();
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  assert.deepEqual(await accessibility(page), []);

  const { width, height } = page.viewportSize();
  for (const name of ["Allow once", "Allow for session", "Always…", "Edit…", "Deny…"]) {
    const box = await button(page, name).boundingBox();
    assert.ok(box.height >= 44, `${name} is large enough for a thumb`);
    assert.ok(box.y > height * 0.4, `${name} is in reach of a thumb`);
    assert.ok(box.x >= 0 && box.x + box.width <= width, `${name} is on the screen`);
  }
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.ok(!sideways, "nothing has to be scrolled sideways");

  await button(page, "Allow once").waitFor();
  await allow(page);
  await page.getByRole("heading", { name: "Change this file?" }).waitFor();
  await page.getByRole("link", { name: "All sessions" }).tap();
  await page.locator(".session-card").first().waitFor();

  // Every other view fits too. The same page, since pairing is rate-limited.
  for (const [view, heading] of Object.entries({ history: "History", cost: "Cost", new: "New session", settings: "Settings" })) {
    await page.goto(`${at.server.address}/#/${view}`);
    await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    assert.deepEqual(await accessibility(page), [], view);
    assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)), `${view} has to be scrolled sideways`);
  }
  // Keyboard hints are shown only with a keyboard.
  assert.ok(!(await page.getByRole("heading", { name: "Keys" }).isVisible()));
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  assert.deepEqual(await accessibility(page), [], "keys");
});

test("a code is good once", async () => {
  const link = await at.server.link();
  const page = await at.visit(PHONE);
  const first = await page.context().browser().newContext(PHONE);
  const one = await first.newPage();
  await one.goto(link);
  await one.locator(".page").waitFor();
  await first.close();
  const second = await page.context().browser().newContext(PHONE);
  const two = await second.newPage();
  await two.goto(link);
  await two.getByText("This browser is not paired yet").waitFor();
  assert.ok(await two.locator(".pairing [role=alert]").isVisible());
  assert.deepEqual(await accessibility(two), []);
  // Without an on-screen keyboard the field is focused at once.
  assert.equal(await two.evaluate(() => document.activeElement.tagName), "BODY");
  await second.close();
  const desk = await newContext(page.context().browser());
  const three = await desk.newPage();
  await three.goto(at.server.address);
  await three.getByText("This browser is not paired yet").waitFor();
  assert.ok(await three.getByLabel("Code or link").evaluate((field) => field === document.activeElement));
  await desk.close();
});

test("the page can be installed, and opens without the server", async () => {
  const page = await at.visit({ ...PHONE, serviceWorkers: "allow" });
  const manifest = await page.evaluate(async () => (await fetch("manifest.webmanifest")).json());
  assert.equal(manifest.display, "standalone");
  for (const { src } of manifest.icons) assert.equal((await page.request.get(`${at.server.address}/${src}`)).status(), 200, src);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.context().setOffline(true);
  await page.reload();
  await page.locator(".page").waitFor();
  await page.context().setOffline(false);
  // An unreachable server is the subject of this case.
  page.wrong.splice(0);
});

test("p46 a session that cannot be loaded leads to the list, and requests and rewind rows have their times", async () => {
  const one = await at.server.session("Hello", { title: "Out of reach" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  const page = await at.visit({ ...PHONE, path: `#/s/${one.key}` });
  await page.locator(".ask-head time").waitFor();
  await page.locator("details.menu summary").click();
  await page.getByRole("button", { name: "Rewind…" }).click();
  await page.locator(".rewind time").first().waitFor();

  await page.route(/\/snapshot/, (route) => route.abort("internetdisconnected"));
  await page.reload();
  await page.getByRole("link", { name: "All sessions" }).first().click();
  await page.getByRole("navigation", { name: "Sessions" }).locator(".session-card", { hasText: "Out of reach" }).waitFor();
  page.wrong = page.wrong.filter((line) => !line.includes("ERR_INTERNET_DISCONNECTED"));
});
