// The list of sessions: long lists, and sessions deleted by another device.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { asksAndSays, stage } from "../lib/setup.mjs";

const SLOWLY = `
[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${"It goes on and on, one word after the other. ".repeat(600)}"
pace = { chunk_chars = 8, chunk_delay_ms = 40 }
`;
const MANY = 210;

const at = stage({ script: SLOWLY + asksAndSays("make", "Answered.") });

test("a pending request of an old session is in the list and one press away, and older sessions load on demand", async () => {
  const old = await at.server.session("ask me", { title: "The old one" });
  await at.server.until(old.key, (view) => view.state === "needs_you");
  const quiet = await at.server.session(undefined, { title: "Quiet and old" });
  for (let made = 0; made < MANY; made += 10) await Promise.all(Array.from({ length: 10 }, (_, index) => at.server.session(undefined, { title: `Filler ${made + index}` })));

  const page = await at.visit({ path: "#/settings" });
  const line = page.getByRole("link", { name: "1 pending request" });
  await line.waitFor();
  // The list has the request before it has the session, which is not among the newest ones.
  await page.locator(".session-card").first().getByText("The old one").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await line.click();
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await page.waitForFunction(() => document.activeElement.classList.contains("needs-you"));

  assert.equal(await page.locator(".session-card", { hasText: "Quiet and old" }).count(), 0);
  await page.getByRole("button", { name: "Show older sessions" }).click();
  await page.locator(".session-card", { hasText: "Quiet and old" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Show older sessions" }).count(), 0);
  assert.equal(await page.locator(".session-card").count(), MANY + 2);
  await at.server.call("DELETE", `sessions/${quiet.key}`);
  await page.locator(".session-card", { hasText: "Quiet and old" }).waitFor({ state: "detached" });

  // The same number is listed after the server is back.
  await at.server.kill();
  await page.locator(".link-bar").waitFor();
  await at.server.restart();
  await page.locator(".link-bar").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "1 pending request" }).waitFor();
  assert.equal(await page.locator(".session-card").count(), MANY + 1);
});

test("a request that arrives while the list is being fetched is not lost", async () => {
  const page = await at.visit({ path: "#/settings" });
  const line = page.getByRole("link", { name: "1 pending request" });
  await line.waitFor();
  let late;
  await page.route(/v1\/permissions$/, async (route) => {
    const response = await route.fetch();
    late = await at.server.session("ask me", { title: "The late one" });
    await at.server.until(late.key, (view) => view.state === "needs_you");
    await page.locator(".session-card.needs_you", { hasText: "The late one" }).waitFor();
    await route.fulfill({ response });
    await page.unroute(/v1\/permissions$/);
  });
  await at.server.kill();
  await page.locator(".link-bar").waitFor();
  await at.server.restart();
  await page.getByRole("link", { name: "2 pending requests" }).waitFor();
  await page.waitForFunction(() => document.title.startsWith("(2)"));
  await page.waitForTimeout(300);
  assert.match(await page.title(), /^\(2\)/);
  await at.server.call("POST", `sessions/${late.key}/stop`);
  await line.waitFor();
});

test("Escape in the filter clears only the filter", async () => {
  const page = await at.visit();
  const one = await at.server.session("Speak slowly");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").getByText("one word").waitFor();
  const filter = page.getByLabel("Filter sessions");
  await filter.fill("Fill");
  await filter.press("Escape");
  await page.locator(".title-button").click();
  await page.getByLabel("Title of the session").press("Escape");
  // All earlier commands have a response by then.
  await page.getByLabel("Permission mode").selectOption("plan");
  await at.server.until(one.key, (view) => view.permission_mode === "plan");
  assert.equal((await at.server.call("GET", `sessions/${one.key}`)).state, "running");
  await page.getByLabel("Message to the agent").press("Escape");
  await page.locator(".session .state.idle").waitFor();
});

test("a session that another device deletes is shown as deleted", async () => {
  const page = await at.visit();
  const one = await at.server.session("Say hello");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").getByText("Answered.").waitFor();
  await at.server.call("DELETE", `sessions/${one.key}`);
  await page.getByRole("heading", { name: "This session was deleted" }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.getByRole("link", { name: "All sessions" }).first().click();
  await page.locator(".composer").waitFor();

  // Also while disconnected.
  const two = await at.server.session("Say hello");
  await page.goto(`${at.server.address}/#/s/${two.key}`);
  await page.locator(".answer").getByText("Answered.").waitFor();
  await at.server.kill();
  await page.locator(".link-bar").waitFor();
  await at.server.restart();
  await at.server.call("DELETE", `sessions/${two.key}`);
  await page.getByRole("heading", { name: "This session was deleted" }).waitFor();
});

test("a view opened while disconnected loads after reconnecting", async () => {
  const one = await at.server.session("Say hello");
  const { cli_session_ids: ids } = await at.server.until(one.key, (view) => view.state === "idle" && view.cli_session_ids.length > 0);
  const page = await at.visit({ path: "#/settings" });
  for (const [view, there] of [["history", ".past-card"], [`history/${ids.at(-1)}`, ".answer"], ["cost", ".days"]]) {
    await at.server.kill();
    await page.locator(".link-bar").waitFor();
    await page.goto(`${at.server.address}/#/${view}`);
    await page.getByText("The server cannot be reached").first().waitFor();
    await at.server.restart();
    await page.locator(there).first().waitFor();
  }
});

test("a device is revoked after a confirmation, and the current one is marked", async () => {
  const page = await at.visit({ path: "#/settings" });
  const here = page.locator(".devices li", { has: page.getByText("this device") });
  await here.waitFor();
  const before = await page.locator(".devices li").count();
  assert.ok(before > 1);
  assert.equal(await here.count(), 1, "others are called the same");
  await here.getByRole("button", { name: "Revoke…" }).click();
  await page.getByText("This browser would be signed out at once").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await here.getByRole("button", { name: "Keep" }).click();
  const other = page.locator(".devices li").first();
  await other.getByRole("button", { name: "Revoke…" }).click();
  assert.equal((await at.server.call("GET", "devices")).items.length, before);
  await other.getByRole("button", { name: "Really revoke" }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".devices li").length === count, before - 1);
});
