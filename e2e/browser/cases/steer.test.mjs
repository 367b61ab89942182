// Actions while an agent works: start, send and withdraw prompts, interrupt, switch settings, view changes.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { button, stage } from "../lib/setup.mjs";

const WORDS = "It goes on and on, one word after the other. ".repeat(600);
const SCRIPT = `
[pace]
chunk_chars = 8
chunk_delay_ms = 40

[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${WORDS}"

[[turn]]
repeat = true
text = "That is done."
`;

const at = stage({ script: SCRIPT });

test("a session is started from the page, and its answer is streamed", async () => {
  const page = await at.visit();
  await page.getByRole("link", { name: "New session" }).first().click();
  await page.getByLabel("Folder").fill(at.server.project);
  await page.getByLabel("First prompt").fill("Speak slowly");
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Start").click();
  const answer = page.locator(".answer");
  await answer.getByText("one word after the other").waitFor();
  const early = (await answer.innerText()).length;
  await page.waitForFunction((length) => document.querySelector(".answer").innerText.length > length + 40, early);

  // A prompt is queued in the meantime, and can be withdrawn.
  const field = page.getByLabel("Message to the agent");
  await field.fill("Never mind");
  await field.press("Enter");
  await page.locator(".queue").getByText("Never mind").waitFor();
  await page.getByRole("button", { name: "Cancel: Never mind" }).click();
  await page.locator(".queue").waitFor({ state: "detached" });
  await field.fill("And then?");
  await field.press("Enter");
  await page.locator(".queue").getByText("And then?").waitFor();

  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.locator(".prompt").getByText("And then?").waitFor();
  await page.locator(".answer").getByText("That is done.").waitFor();
  await page.locator(".session .state.idle").waitFor();
  assert.equal(await page.locator(".prompt").count(), 2);
});

test("escape interrupts, and the model and the mode are switched", async () => {
  const page = await at.visit();
  const one = await at.server.session("Speak slowly again");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").waitFor();
  await page.locator(".scroller").press("Escape");
  await page.locator(".session .state.idle").waitFor();
  await page.getByLabel("Permission mode").selectOption("plan");
  await at.server.until(one.key, (view) => view.permission_mode === "plan");
  await page.getByLabel("Model").selectOption("haiku");
  await at.server.until(one.key, (view) => /haiku/.test(view.model ?? ""));
});

test("commands and files are completed, and the working tree's changes are shown", async () => {
  const git = (...args) => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: at.server.project });
  mkdirSync(join(at.server.project, "src"), { recursive: true });
  writeFileSync(join(at.server.project, "src/total.py"), "def total(prices):\n    return sum(prices)\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "begin");
  writeFileSync(join(at.server.project, "src/total.py"), "def total(prices):\n    return sum(prices) / 100\n");

  const page = await at.visit();
  const one = await at.server.session("Hello");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.locator(".answer").getByText("That is done.").waitFor();
  const field = page.getByLabel("Message to the agent");
  await field.pressSequentially("/comp");
  await page.getByRole("option", { name: "/compact" }).waitFor();
  await field.press("Tab");
  assert.equal(await field.inputValue(), "/compact ");
  await field.fill("");
  await field.pressSequentially("look at @tot");
  await page.getByRole("option", { name: "src/total.py" }).waitFor();
  await field.press("Enter");
  assert.equal(await field.inputValue(), "look at @src/total.py ");

  await page.getByRole("button", { name: "Changes in the working tree" }).click();
  await page.locator(".panel .diff tr.added").waitFor();
  assert.match(await page.locator(".panel .diff tr.added").innerText(), /sum\(prices\) \/ 100/);
  assert.deepEqual(await accessibility(page), []);
});
