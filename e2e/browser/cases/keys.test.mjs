// Keyboard only: from the list to a session, to its card, and an approval with two keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "ask" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = { permission_suggestions = [] }
input = { command = "make" }
result = "built"

[[turn]]
when = { last_contains = "star" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = { permission_suggestions = [], blocked_path = "/srv/other/\u202eo.txt" }
input = { command = "rm *.o" }
result = "removed"

[[turn]]
repeat = true
text = "It is done."
`;

const at = stage({ script: SCRIPT });

test("a session is reached, read and allowed by keys alone, and never by Enter", async () => {
  const one = await at.server.session("ask me", { title: "The build" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  const page = await at.visit({ path: "#/settings" });
  await page.locator(".session-card").first().waitFor();

  // By Tab to the card in the list, and into the session.
  for (let press = 0; press < 40; press += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.classList.contains("session-card"))) break;
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await page.keyboard.press("Alt+j");
  // The card has the focus, and none of its buttons.
  await page.waitForFunction(() => document.activeElement.classList.contains("needs-you"));
  await page.waitForFunction(() => document.querySelector(".yes.main").getAttribute("aria-disabled") === "false");

  // Neither Enter nor a single key allows anything.
  for (const key of ["Enter", "o", "s", "a", "x", "o", "Enter"]) await page.keyboard.press(key);
  assert.equal((await at.server.call("GET", `sessions/${one.key}`)).state, "needs_you");
  await page.keyboard.press("a");
  await page.locator(".key-steps").getByText("for the session").waitFor();
  assert.deepEqual(await accessibility(page), []);
  // The first key counts for some seconds only, which that check may take.
  await page.keyboard.press("a");
  await page.keyboard.press("o");
  await page.locator(".answer").getByText("It is done.").waitFor();

  // From anywhere to the next card, and a denial with its reason.
  const two = await at.server.session("ask again", { title: "Once more" });
  await at.server.until(two.key, (view) => view.state === "needs_you");
  await page.locator(".session-card.needs_you").waitFor();
  // As a Mac reports it.
  await page.evaluate(() => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "∆", code: "KeyJ", altKey: true, bubbles: true, cancelable: true })));
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await page.waitForFunction(() => document.activeElement.classList.contains("needs-you"));
  await page.keyboard.press("d");
  await page.keyboard.type("Not like this");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator(".decision.bad").getByText("Not like this").waitFor();
});

test("a question mark shows the list of keys, except in a text field", async () => {
  const page = await at.visit();
  const one = await at.server.session("Hello");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").waitFor();
  await page.getByLabel("Message to the agent").press("?");
  assert.equal(await page.getByLabel("Message to the agent").inputValue(), "?");
  await page.locator(".scroller").press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
});

test("'always' shows its rule if the agent suggests none, and the reason if there is none", async () => {
  const page = await at.visit();
  const one = await at.server.session("ask me");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await button(page, "Always…").click();
  assert.equal(await page.locator(".rules pre").innerText(), "Bash(make)");
  assert.match(await page.locator(".rules").innerText(), /settings\.local\.json/);
  await button(page, "Add the rule and allow").click();
  await page.locator(".answer").getByText("It is done.").waitFor();
  assert.match(await page.locator(".decision").innerText(), /Allowed by you.*always/is);

  const two = await at.server.session("star it");
  await page.goto(`${at.server.address}/#/s/${two.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  // The path that caused the request, with every character.
  assert.match(await page.locator(".ask-fact", { hasText: "Path:" }).innerText(), /\/srv\/other\/.*202E.*o\.txt/);
  await page.locator(".ask-scopes").getByText("Not offered: this command").waitFor();
  assert.equal(await button(page, "Always…").count(), 0);
});
