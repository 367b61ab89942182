// What the top of a session tells besides its state.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "slowly" }
repeat = true
text = "${"It goes on and on, one word after the other. ".repeat(40)}"
pace = { chunk_chars = 8, chunk_delay_ms = 40 }

[[turn]]
repeat = true
text = "That is done."
`;

const at = stage({ script: SCRIPT });

test("a session says that it goes without its folder's settings, and how that ends", async () => {
  const cwd = join(at.server.folder, "brings-hooks");
  mkdirSync(join(cwd, ".claude"), { recursive: true });
  writeFileSync(join(cwd, ".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch canary"}]}]}}`);
  const one = await at.server.session("Hello", { cwd });
  const page = await at.visit({ path: `#/s/${one.key}` });
  const chip = button(page, "Without the folder’s settings");
  await chip.waitFor();
  await button(page, "Close").click();
  await chip.click();
  await page.locator(".panel .trust").getByText("touch canary").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Agree to these commands").click();
  await page.locator(".panel .trust").waitFor({ state: "detached" });
  // What runs was started without them, and stays so.
  assert.equal(await chip.count(), 1);
  await at.server.call("POST", `sessions/${one.key}/stop`);
  await chip.waitFor({ state: "detached" });
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "Again" });
  await at.server.until(one.key, (view) => view.totals.turns === 2);
  assert.equal(await chip.count(), 0);
});

test("a session says that somebody has stopped its agent, and goes on with it", async () => {
  const one = await at.server.session("Speak slowly", { title: "The story" });
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".answer").getByText("one word after the other").waitFor();
  const told = page.locator(".session-head .stalled").getByText("Somebody has stopped the agent");
  const listed = page.locator(".session-card", { hasText: "The story" }).locator(".stalled");
  try {
    at.server.signalAgents("SIGSTOP");
    await told.waitFor();
    await listed.waitFor();
    assert.deepEqual(await accessibility(page), []);
  } finally {
    at.server.signalAgents("SIGCONT");
  }
  await told.waitFor({ state: "detached" });
  await listed.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.locator(".session .state.idle").waitFor();
});
