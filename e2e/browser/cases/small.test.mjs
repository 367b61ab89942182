// Small screens and settings: one line of header with a sheet, landscape, 200 % zoom, no network; pairing by a QR code,
// devices, trust, the audit log.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, accessibility, newContext } from "../lib/browser.mjs";
import { allow, asksAndSays, button, settle, stage } from "../lib/setup.mjs";

const SLOWLY = `
[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${"It goes on and on, one word after the other. ".repeat(600)}"
pace = { chunk_chars = 8, chunk_delay_ms = 40 }
`;

const at = stage({ script: SLOWLY + asksAndSays("make", "Answered.") });

test("the header of a phone is one line, and its sheet sets model and mode", async () => {
  const one = await at.server.session("Hello", { title: "A rather long title that does not fit into the line of a phone" });
  const page = await at.visit({ ...PHONE, path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("Answered.").waitFor();
  const head = await page.locator(".session-head").boundingBox();
  assert.ok(head.height <= 56, `the header is ${head.height} px high`);
  await button(page, "Model and mode").tap();
  const sheet = page.getByRole("dialog", { name: "Model and mode" });
  await sheet.waitFor();
  await settle(page);
  const box = await sheet.boundingBox();
  assert.ok(Math.abs(box.y + box.height - 844) <= 1, "it stands at the lower edge, near the thumb");
  assert.deepEqual(await accessibility(page), []);
  await page.getByLabel("Permission mode").selectOption("plan");
  await at.server.until(one.key, (view) => view.permission_mode === "plan");
  await button(page, "Close").tap();
  await sheet.waitFor({ state: "detached" });
  assert.deepEqual(await accessibility(page), []);

  // With reduced motion it is there at once.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await button(page, "Model and mode").tap();
  await sheet.waitFor();
  const moving = await page.evaluate(() => document.getAnimations().filter((one) => one.playState === "running").length);
  assert.equal(moving, 0);
});

test("p8 a phone on its side and a page at 200 % keep the composer and Interrupt in sight", async () => {
  const one = await at.server.session("Speak slowly", { title: "The story" });
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("one word").waitFor();
  for (const [name, width, height] of [["landscape", 844, 390], ["200 %", 720, 450], ["a small phone on its side", 667, 375]]) {
    await page.setViewportSize({ width, height });
    for (const part of [page.getByLabel("Message to the agent"), button(page, "Interrupt")]) {
      const box = await part.boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= height && box.x + box.width <= width, `${name}: ${JSON.stringify(box)}`);
    }
    assert.deepEqual(await accessibility(page, ["color-contrast", "scrollable-region-focusable"]), [], name);
  }
  await button(page, "Interrupt").click();
  await page.locator(".session .state.idle").waitFor();
});

test("p9 the page says within three seconds that the network is gone, and when it is back", async () => {
  const one = await at.server.session("Hello", { title: "Offline" });
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("Answered.").waitFor();
  await page.waitForFunction(() => document.querySelector(".link-bar") === null);
  await page.evaluate(() => (window.went = undefined));
  await page.evaluate(() => {
    addEventListener("offline", () => (window.went = performance.now()));
    new MutationObserver(() => {
      if (window.told === undefined && window.went !== undefined && document.querySelector(".link-bar") !== null) window.told = performance.now();
    }).observe(document.body, { childList: true, subtree: true });
  });
  await page.context().setOffline(true);
  await page.locator(".link-bar").waitFor();
  const [went, told] = await page.evaluate(() => [window.went, window.told]);
  assert.ok(told - went < 3000, `${told - went} ms`);
  await page.context().setOffline(false);
  await page.locator(".link-bar").waitFor({ state: "detached" });
  page.wrong.splice(0);
});

test("a phone is paired by the QR code of the settings, and appears among the devices", async () => {
  const cwd = join(at.server.folder, "hooked");
  mkdirSync(join(cwd, ".claude"), { recursive: true });
  writeFileSync(join(cwd, ".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch canary"}]}]}}`);
  const one = await at.server.session("ask me", { cwd, title: "The build" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  const page = await at.visit({ path: `#/s/${one.key}` });
  await allow(page);
  await page.locator(".decision").waitFor();

  await page.goto(`${at.server.address}/#/settings`);
  await page.locator(".devices li").first().waitFor();
  await page.getByText("Only read", { exact: true }).click();
  await button(page, "Show QR code").click();
  await page.getByRole("img", { name: "QR code that pairs a device" }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  const link = await page.locator(".pair-link code").innerText();
  await page.getByText("works on this machine only").waitFor();
  const other = await newContext(at.browser, PHONE);
  const phone = await other.newPage();
  await phone.goto(link);
  await phone.locator(".page").waitFor();
  await page.getByText("The device is paired.").waitFor();
  await page.locator(".qr").waitFor({ state: "detached" });
  const scopes = page.locator(".devices li", { hasText: "seen" }).filter({ hasNotText: "admin" }).locator(".device-scopes");
  await page.waitForFunction(() => document.querySelectorAll(".devices .device-scopes").length > 1);
  assert.deepEqual(await scopes.first().innerText(), "read");
  await other.close();

  // Commands of a folder are trusted and distrusted here.
  await page.locator("#settings-trust").scrollIntoViewIfNeeded();
  const trust = page.locator(".trust-row", { hasText: "hooked" });
  await trust.getByRole("button", { name: /^Trust:/ }).click();
  await trust.getByText("trusted").waitFor();
  await trust.getByRole("button", { name: "Withdraw trust" }).click();
  await trust.getByRole("button", { name: /^Trust:/ }).waitFor();

  // The decision is in the audit log.
  await page.goto(`${at.server.address}/#/settings/audit`);
  await page.reload();
  const log = page.locator(".audit li");
  await log.first().waitFor();
  const all = await log.count();
  await page.getByLabel("Filter the audit log").fill("the build");
  await page.waitForFunction((before) => document.querySelectorAll(".audit li").length < before, all);
  assert.match(await log.first().innerText(), /The build/);
  await page.getByLabel("Filter the audit log").fill("no such word");
  await page.getByText("No decision fits.").waitFor();
  await page.locator("#settings-about").getByText("Tidings", { exact: true }).waitFor();
  assert.deepEqual(await accessibility(page), []);
});
