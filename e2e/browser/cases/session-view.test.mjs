// The view of a session: commands, modes, failed turns, the ways through it, and paper.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { button, picture, settle, stage } from "../lib/setup.mjs";

const LONG = "A long line of an answer that fills the whole width of the column, so that every button in front of it would cover some of its words. ".repeat(12);
const SCRIPT = `
[[turn]]
when = { last_contains = "delegate" }

[[turn.block]]
tool = "Agent"
input = { description = "Look for all other sums of prices in the repository", prompt = "Find every sum of prices.", subagent_type = "general-purpose", run_in_background = false }

[[turn]]
when = { last_contains = "every sum of prices" }
text = "Two places add prices."

[[turn]]
repeat = true
text = "${LONG}"
`;

const at = stage({ script: SCRIPT });
const address = ({ key }) => `${at.server.address}/#/s/${key}`;
const done = (one, turns = 1) => at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === turns);

test("p42 slash commands have the agent's descriptions, and internal ones are not offered", async () => {
  const one = await at.server.session("Hello");
  await done(one);
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").first().waitFor();
  const field = page.getByLabel("Message to the agent");
  await field.fill("/");
  const list = page.getByRole("listbox", { name: "Commands" });
  await list.getByRole("option", { name: /^\/compact/ }).getByText("Summarise the conversation to free context").waitFor();
  await list.getByRole("option", { name: /^\/usage/ }).getByText("Show what the session cost").waitFor();
  await picture(page, "commands");
  await field.fill("/__");
  await list.waitFor({ state: "detached" });
  const { items, about } = await at.server.call("GET", `sessions/${one.key}/commands`);
  assert.ok(items.every((name) => !name.startsWith("__")));
  assert.equal(about.mcp, "Manage MCP servers");

  // The answer of a command is drawn as the Markdown that it is.
  await field.fill("/context ");
  await field.press("Enter");
  await page.locator(".note.display h2, .note.display h3, .note.display h4").getByText("Context Usage").waitFor();
});

test("p45 auto mode can be chosen with the scope always, and only with it", async () => {
  const one = await at.server.session("Hello");
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.getByLabel("Permission mode").selectOption("auto");
  await at.server.until(one.key, (view) => view.permission_mode === "auto");
  await page.goto(`${at.server.address}/#/new`);
  await page.getByLabel("Permission mode").locator("option[value=auto]").waitFor({ state: "attached" });
  const other = await at.server.session("Hello");
  const limited = await at.visit({ scopes: ["read", "prompt", "decide"], path: `#/s/${other.key}` });
  await limited.getByLabel("Permission mode").locator("option[value=plan]").waitFor({ state: "attached" });
  assert.equal(await limited.getByLabel("Permission mode").locator("option[value=auto]").count(), 0);
});

test("p45 the buttons that lead through a session stand in a gutter and cover no text", async () => {
  const one = await at.server.session("Hello");
  await done(one);
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "Once more" });
  await done(one, 2);
  const page = await at.visit({ viewport: { width: 1280, height: 800 }, path: `#/s/${one.key}` });
  const nav = page.getByRole("navigation", { name: "Prompts" });
  await nav.getByRole("button", { name: "Previous prompt" }).waitFor();
  await picture(page, "gutter");
  const covered = await page.evaluate(() => {
    const buttons = [...document.querySelectorAll(".prompt-nav button")].map((one) => one.getBoundingClientRect());
    return [...document.querySelectorAll(".row p")].filter((text) => {
      const box = text.getBoundingClientRect();
      return buttons.some((one) => one.left < box.right && one.right > box.left);
    }).length;
  });
  assert.equal(covered, 0);
  assert.deepEqual(await accessibility(page), []);

  // On paper there is the whole conversation, and nothing else.
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.locator(".sidebar").waitFor({ state: "hidden" });
  assert.ok(await page.locator(".composer").isHidden());
  assert.equal(await page.locator(".row .prompt").count(), 2);
  await page.locator(".row .prompt").first().waitFor();
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
});

test("p45 p46 the head of a sub-agent fits beside a panel, and its result is displayed once", async () => {
  // The panel is wide once it has a diff.
  const git = (...words) => execFileSync("git", ["-C", at.server.project, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words]);
  git("init", "--quiet");
  writeFileSync(join(at.server.project, "notes.txt"), "one\n");
  git("add", "notes.txt");
  git("commit", "--quiet", "-m", "Begin");
  writeFileSync(join(at.server.project, "notes.txt"), "two\n");
  const one = await at.server.session("delegate it");
  await done(one);
  const page = await at.visit({ viewport: { width: 1280, height: 800 }, path: `#/s/${one.key}` });
  await page.locator(".tool[data-tool=Agent]").waitFor();
  await button(page, "Changes in the working tree").click();
  await page.getByRole("complementary", { name: "Changes" }).locator(".diff").waitFor();
  await page.locator(".scroller").evaluate((scroller) => (scroller.scrollTop = 0));
  const head = page.locator(".tool[data-tool=Agent] .tool-head");
  await settle(page);
  await picture(page, "agent-head");
  assert.ok(await head.evaluate((element) => [...element.children].every((part) => part.scrollWidth <= part.clientWidth + 1 || part.matches(".tool-target")) && element.scrollWidth <= element.clientWidth));
  const more = page.locator(".lane .link").first();
  if ((await more.getAttribute("aria-expanded")) === "false") await more.click();
  assert.equal((await page.locator(".lane").innerText()).match(/Two places add prices/g).length, 1);
});
