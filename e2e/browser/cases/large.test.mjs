// Long conversations: little is transferred and drawn, and nothing jumps while an answer arrives.
// Durations are measured by `make bench-page`: a test must not fail because a machine is busy.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pressUntilGone, stage } from "../lib/setup.mjs";
import { assertStill, recordShifts } from "../lib/shifts.mjs";

/** A turn with a number of calls: about nine events each. */
function calls(count) {
  return Array.from({ length: count }, (_, index) => `
[[turn]]
[[turn.block]]
text = "Step ${index}: a look at the **next** file, with \`code\` and a [link](https://example.com/${index})."
[[turn.block]]
tool = "Read"
input = { file_path = "/home/dev/demo/file${index}.py" }
result = "1\\tdef step():\\n2\\t    return ${index}"
`).join("");
}

const CALLS = 300;
const SCRIPT = `
${calls(CALLS)}
[[turn]]
text = "All steps are done."

[[turn]]
repeat = true
text = "${"Word after word, **bold** and \`code\`, goes by. ".repeat(60)}The last words."
pace = { chunk_chars = 7, chunk_delay_ms = 5 }
`;

const at = stage({ script: SCRIPT });
let session;

test("p23 a long session draws little of itself and moves at most 200 KB", async () => {
  session = await at.server.session("Look at all files");
  const view = await at.server.until(session.key, (now) => now.state === "idle" && now.totals.turns === 1, 200_000);
  assert.ok(view.head >= 7 * CALLS, `${view.head} events`);

  const page = await at.visit({ path: "#/settings" });
  // The first view has opened the session once already.
  await page.waitForLoadState("networkidle");
  const wire = await page.context().newCDPSession(page);
  let moved = 0;
  await wire.send("Network.enable");
  wire.on("Network.dataReceived", (event) => (moved += event.encodedDataLength || event.dataLength));
  wire.on("Network.webSocketFrameReceived", (event) => (moved += event.response.payloadData.length));
  await page.goto(`${at.server.address}/#/s/${session.key}`);
  await page.getByText("All steps are done").first().waitFor();
  await page.waitForLoadState("networkidle");
  const rows = await page.locator(".row").count();
  assert.ok(moved <= 200_000, `${moved} bytes`);
  assert.ok(rows < 120, `${rows} rows are drawn`);

  // Earlier events are loaded on demand, and the visible ones stay in place.
  await page.locator(".scroller").evaluate((element) => (element.scrollTop = 0));
  // A visible one: rows at the end are drawn until the page has noticed the scroll.
  const found = await page.waitForFunction(() => {
    const frame = document.querySelector(".scroller").getBoundingClientRect();
    const inSight = (row) => row.getBoundingClientRect().top >= frame.top && row.getBoundingClientRect().bottom <= frame.bottom;
    const rows = [...document.querySelectorAll(".row")].filter(inSight);
    return rows.map((row) => /^Step \d+/.exec(row.innerText)?.[0]).find(Boolean);
  });
  const step = await found.jsonValue();
  const row = page.locator(".row", { hasText: `${step}:` });
  const place = async () => (await row.boundingBox()).y;
  const height = () => page.locator(".scroller").evaluate((element) => element.scrollHeight);
  const [was, tall] = [await place(), await height()];
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.waitForFunction((before) => document.querySelector(".scroller").scrollHeight > before + 1000, tall);
  await page.waitForTimeout(500);
  assert.ok(Math.abs((await place()) - was) < 8, `${step} has moved from ${was} to ${await place()}`);

  // p23: search finds early events, and the start is one click away.
  await page.locator("details.menu summary").click();
  await page.getByRole("button", { name: "Find in this session…" }).click();
  const find = page.getByLabel("Find in this session");
  await find.fill("Step 2:");
  await find.press("Enter");
  await page.locator(".row.found", { hasText: "Step 2:" }).waitFor();
  await page.getByRole("button", { name: "Close search" }).click();
  await page.locator(".scroller").evaluate((element) => (element.scrollTop = 0));
  await pressUntilGone(page.getByRole("button", { name: "Go to the start" }));
  await page.waitForFunction(() => document.querySelector(".older") === null);
});

test("while an answer arrives, nothing jumps, and its end is in sight", async () => {
  const page = await at.visit({ path: `#/s/${session.key}` });
  await page.getByText("All steps are done").first().waitFor();
  await recordShifts(page);
  await at.server.call("POST", `sessions/${session.key}/input`, { content: "Speak fast" });
  await at.server.until(session.key, (now) => now.totals.turns === 2);
  await page.locator(".session .state.idle").waitFor();
  await assertStill(page, 0.02);
  await page.locator(".answer").last().getByText("The last words.").waitFor();
  const left = await page.locator(".scroller").evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  assert.ok(left < 4, `${left} pixels below`);
});

test("p45 the way to the start of a long session says how much there is to load", async () => {
  const page = await at.visit({ path: `#/s/${session.key}` });
  await page.getByText("All steps are done").first().waitFor();
  let [release, pages] = [undefined, 0];
  const released = new Promise((done) => (release = done));
  await page.route(/\/history\?/, async (route) => {
    pages += 1;
    if (pages > 1) await released;
    await route.continue();
  });
  await page.locator(".scroller").evaluate((element) => (element.scrollTop = 0));
  await page.getByRole("button", { name: "Go to the start" }).click();
  await page.getByRole("button", { name: /^Loading, [\d,]+ events to go$/ }).waitFor();
  release();
  await page.waitForFunction(() => document.querySelector(".older") === null);
  assert.ok(pages > 1);
});
