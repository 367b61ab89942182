// Cards: of requests, whose typed text is kept over a reload, and of sessions in the list, with what stands
// beside it.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { pastSessions } from "../lib/past.mjs";
import { button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "ask" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = true
input = { command = "cargo build", description = "Build" }
result = "built"

[[turn]]
when = { last_contains = "propose" }
repeat = true

[[turn.block]]
tool = "ExitPlanMode"
ask = true
input = { plan = "1. Dig\\n2. Plant\\n3. Water" }

[[turn]]
repeat = true
text = "That is done."
`;

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, script: SCRIPT });
const address = ({ key }) => `${at.server.address}/#/s/${key}`;
const storedCards = (page) => page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("tidings.card.")).length);
const done = async (title) => {
  const { key } = await at.server.session(`Do ${title}`, { title });
  return at.server.until(key, (view) => view.state === "idle" && view.totals.turns === 1);
};

test("p38 text that was typed into a card is still there after a reload, until the request is answered", async () => {
  const page = await at.visit();
  const [one, two] = [await at.server.session("ask me"), await at.server.session("propose something")];
  const reason = page.getByLabel("What should it do instead?");
  await page.goto(address(one));
  await button(page, "Deny…").click();
  await reason.fill("Use the release profile");
  await page.reload();
  await button(page, "Deny…").click();
  assert.equal(await reason.inputValue(), "Use the release profile");

  await page.goto(address(two));
  await page.getByRole("heading", { name: "Approve this plan?" }).waitFor();
  await page.getByLabel("What should be different?").fill("Mind the roots");
  await button(page, "Open in the reader, and comment on lines").click();
  const reader = page.getByRole("dialog", { name: "Plan" });
  await reader.getByRole("button", { name: "Comment on line 1", exact: true }).click();
  await reader.getByLabel(/^Comment on line 1 /).fill("Not so deep");
  assert.equal(await storedCards(page), 2);
  await page.reload();
  await page.locator(".comments").getByText("Not so deep").waitFor();
  assert.equal(await page.getByLabel("What should be different?").inputValue(), "Mind the roots");
  await page.getByRole("button", { name: "Keep planning with 1 comment" }).click();
  const call = page.locator(".tool[data-tool=ExitPlanMode]");
  await call.getByText("Not so deep").first().waitFor();
  await call.getByText("Mind the roots").first().waitFor();
  assert.equal(await storedCards(page), 1);

  await page.goto(address(one));
  await button(page, "Deny…").click();
  assert.equal(await reason.inputValue(), "Use the release profile");
  await button(page, "Deny").click();
  await page.locator(".tool[data-tool=Bash]").getByText("Use the release profile").first().waitFor();
  assert.equal(await storedCards(page), 0);
});

test("p38 text of a request that was answered while no page showed it is in the prompt field", async () => {
  const page = await at.visit();
  const [one, other] = [await at.server.session("ask me"), await done("Another job")];
  await page.goto(address(one));
  await button(page, "Deny…").click();
  await page.getByLabel("What should it do instead?").fill("Use make instead");
  await page.goto(address(other));
  await page.locator(".answer").getByText("That is done.").waitFor();
  await page.reload();
  await page.locator(".answer").getByText("That is done.").waitFor();
  const { items } = await at.server.call("GET", `permissions?session=${one.key}`);
  await at.server.call("POST", `sessions/${one.key}/permissions/${items[0].tool_use_id}`, { decision: "allow" });
  await at.server.until(one.key, (view) => view.state === "idle");
  await page.goto(address(one));
  await page.locator(".toast").getByText("Your text is in the prompt field.").waitFor();
  assert.equal(await page.getByLabel("Message to the agent").inputValue(), "Use make instead");
  assert.equal(await storedCards(page), 0);
});

test("p46 the title of an unread session stands beside its mark, and the news are counted before the page's title", async () => {
  const [one, two] = [await done("First job"), await done("Second job")];
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("That is done.").waitFor();
  await page.locator(".session-card", { hasText: "Second job" }).waitFor();
  await at.server.call("POST", `sessions/${two.key}/input`, { content: "More" });
  const card = page.locator(".card.unread", { hasText: "Second job" });
  await card.waitFor();
  const [line, mark, title, age] = await Promise.all([".card-top", ".unread-dot", ".card-title", ".card-age"].map((part) => card.locator(part).boundingBox()));
  assert.ok(mark.x - line.x < 2, `the mark is ${mark.x - line.x} px from the left`);
  const gap = title.x - mark.x - mark.width;
  assert.ok(gap >= 0 && gap <= 16, `the title is ${gap} px from its mark`);
  assert.ok(age.x >= title.x + title.width, "the age is at the right of the title");
  await page.waitForFunction(() => /^\(\d+\) First job · Tidings$/.test(document.title));
});

test("p46 the number beside the list is that of the sessions on disk, and says so", async () => {
  await done("One more job");
  const page = await at.visit();
  const figure = page.locator(".machine dl > div").first();
  assert.equal(await figure.locator("dt").innerText(), "on disk");
  const { sessions, projects } = await at.server.call("GET", "transcripts/summary");
  await figure.locator("dd").getByText(String(sessions), { exact: true }).waitFor();
  assert.match(await figure.getAttribute("title"), new RegExp(`^${sessions} sessions in ${projects} project`));
});

test("p46 a Start that cannot be pressed says why", async () => {
  const page = await at.visit({ path: "#/new" });
  const folder = page.getByLabel("Folder");
  const why = page.getByText("Choose a folder to start in.");
  await folder.fill(at.server.project);
  await why.waitFor({ state: "detached" });
  assert.ok(await button(page, "Start").isEnabled());
  await folder.fill(" ");
  await why.waitFor();
  assert.ok(await button(page, "Start").isDisabled());
});
