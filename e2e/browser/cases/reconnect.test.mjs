// The server is killed and restarted, tabs are opened and closed: the page shows every event once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { allow, asksAndSays, hide, stage } from "../lib/setup.mjs";

const SLOWLY = `
[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ")} end."
pace = { chunk_chars = 6, chunk_delay_ms = 60 }
`;

const at = stage({ script: SLOWLY + asksAndSays("make", "Answered.") });

test("promise_12_a_server_that_is_killed_is_noticed_and_nothing_is_lost_or_doubled", async () => {
  const page = await at.visit();
  const one = await at.server.session("Say hello");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").getByText("Answered.").waitFor();
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "Speak slowly" });
  await page.locator(".answer").getByText("word3").waitFor();

  await at.server.kill();
  await page.locator(".link-bar").waitFor();
  // A prompt is stored, shown as not sent, and sent once when the server is back.
  const field = page.getByLabel("Message to the agent");
  await field.fill("Written while it was away");
  await field.press("Enter");
  await page.locator(".queue").getByText("not sent yet").waitFor();
  await field.fill("Not finished yet");
  await at.server.restart();
  await page.reload();

  await page.locator(".prompt").getByText("Written while it was away").waitFor({ timeout: 60_000 });
  await page.locator(".link-bar").waitFor({ state: "detached" });
  await page.locator(".session .state.idle").waitFor({ timeout: 60_000 });
  const prompts = await page.locator(".prompt-text").allInnerTexts();
  assert.deepEqual(prompts, ["Say hello", "Speak slowly", "Written while it was away"]);
  assert.equal(await field.inputValue(), "Not finished yet");
  const again = await at.tab(page, `#/s/${one.key}`);
  await again.locator(".answer").nth(2).waitFor();
  assert.deepEqual(await again.locator(".answer").allInnerTexts(), await page.locator(".answer").allInnerTexts());
});

test("two tabs show the same, and an answer in one settles the card in the other", async () => {
  const page = await at.visit();
  const one = await at.server.session("ask me");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  const other = await at.tab(page, `#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  await other.getByRole("heading", { name: "Run this command?" }).waitFor();
  await allow(page);
  await other.locator(".needs-you").waitFor({ state: "detached" });
  await other.locator(".answer").getByText("Answered.").waitFor();
  assert.deepEqual(await other.locator(".answer").allInnerTexts(), await page.locator(".answer").allInnerTexts());
  assert.match(await other.locator(".decision").innerText(), /Allowed by you/);
});

test("a hidden page closes its connection after half a minute, and catches up when it is visible", async () => {
  const page = await at.visit();
  const one = await at.server.session("Say hello");
  await page.clock.install();
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(socket));
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.reload();
  await page.locator(".answer").getByText("Answered.").waitFor();
  await hide(page, true);
  await page.clock.runFor(29_000);
  assert.ok(!sockets.at(-1).isClosed(), "it is still open before half a minute is over");
  const closed = sockets.at(-1).waitForEvent("close");
  await page.clock.runFor(2000);
  await closed;
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "While nobody looked" });
  await at.server.until(one.key, (view) => view.totals.turns === 2);
  assert.equal(await page.locator(".prompt").getByText("While nobody looked").count(), 0);
  await hide(page, false);
  await page.clock.runFor(1000);
  await page.locator(".prompt").getByText("While nobody looked").waitFor();
  assert.equal(sockets.filter((socket) => !socket.isClosed()).length, 1);
});

test("a lost network is noticed before the next heartbeat, and prompts are sent when it is back", async () => {
  const page = await at.visit();
  const one = await at.server.session("Say hello");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").getByText("Answered.").waitFor();
  await page.context().setOffline(true);
  await page.locator(".link-bar").waitFor({ timeout: 15_000 });
  const field = page.getByLabel("Message to the agent");
  await field.fill("Written without a network");
  await field.press("Enter");
  await page.locator(".queue").getByText("not sent yet").waitFor();
  await page.context().setOffline(false);
  await page.locator(".prompt").getByText("Written without a network").waitFor();
  await page.locator(".link-bar").waitFor({ state: "detached" });
  assert.equal(await page.locator(".prompt").count(), 2);
  // The browser itself reports the network error.
  page.wrong = page.wrong.filter((line) => !line.includes("ERR_INTERNET_DISCONNECTED"));
});

test("p46 an open page notices that its server was upgraded, and loads the new page", async () => {
  const page = await at.visit();
  let meta;
  await page.route(/\/v1\/meta$/, async (route) => {
    if (meta !== undefined) return route.fulfill({ json: meta });
    const answer = await route.fetch();
    meta = await answer.json();
    return route.fulfill({ response: answer });
  });
  await page.reload();
  await page.waitForLoadState("networkidle");
  meta = { ...meta, version: "99.0.0" };
  await at.server.kill();
  await page.locator(".link-bar").getByText("Not connected").waitFor();
  await at.server.restart();
  await page.getByText("The server was upgraded").waitFor();
  await page.getByRole("button", { name: "Load the new page" }).click();
  await page.locator(".page").waitFor();
  assert.equal(await page.getByText("The server was upgraded").count(), 0);
});
