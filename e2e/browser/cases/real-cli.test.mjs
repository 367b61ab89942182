// The page on top of the real CLI, which talks to a script instead of a model. `e2e/install.sh` fetches the CLI.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allow, button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "Make a file" }
repeat = true
optional = true

[[turn.block]]
text = "I will **write** a file."

[[turn.block]]
tool = "Bash"
input = { command = "echo it-was-made | tee made.txt", description = "Write a file" }

[[turn]]
when = { last_contains = "it-was-made" }
repeat = true
optional = true
text = "It is written."

[[turn]]
when = { last_contains = "Leave it" }
repeat = true
optional = true
text = "Then not."
`;

const at = stage({ script: SCRIPT, real: true });

async function asked() {
  const page = await at.visit();
  const one = await at.server.session("Make a file");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor({ timeout: 90_000 });
  assert.equal(await page.locator(".needs-you pre").first().innerText(), "echo it-was-made | tee made.txt");
  return page;
}

test("the real CLI is told of a denial, and why", async () => {
  const page = await asked();
  await button(page, "Deny…").click();
  await page.getByLabel("What should it do instead?").fill("Leave it");
  await button(page, "Deny").click();
  await page.locator(".answer").getByText("Then not.").waitFor({ timeout: 60_000 });
  assert.ok(!existsSync(join(at.server.project, "made.txt")));
});

test("the real CLI runs what was allowed on the page", async () => {
  const page = await asked();
  await allow(page);
  await page.locator(".answer").getByText("It is written.").waitFor({ timeout: 60_000 });
  assert.ok(existsSync(join(at.server.project, "made.txt")));
  assert.match(await page.locator(".tool[data-tool=Bash] .output").innerText(), /it-was-made/);
});
