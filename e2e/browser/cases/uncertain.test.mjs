// A prompt delivered to an agent that ended before it confirmed it: the page shows it, and the user decides.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { stage } from "../lib/setup.mjs";

const at = stage({ script: '[[turn]]\ntext = "That is done."\nrepeat = true\n' });

/** An open session whose agent was killed after a prompt was delivered. */
async function doubtful(text, files = []) {
  const one = await at.server.session("Hello");
  const page = await at.visit({ path: `#/s/${one.key}` });
  await page.locator(".session .state.idle").waitFor();
  at.server.signalAgents("SIGSTOP");
  await page.getByLabel("Message to the agent").fill(text);
  await page.locator(".composer input[type=file]").setInputFiles(files);
  for (const { name } of files) await page.locator(".picked").getByText(name).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".prompt").getByText(text).waitFor();
  at.server.signalAgents("SIGKILL");
  await page.locator(".queue .doubtful").getByText("it may or may not have read it").waitFor();
  return { page, key: one.key };
}

test("an uncertain prompt can be sent again with its attachments", async () => {
  const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Bread") };
  const { page, key } = await doubtful("Publish it", [notes]);
  const row = page.locator(".queue .doubtful");
  await row.getByText("Publish it · 1 attachment").waitFor();
  assert.deepEqual(await accessibility(page), []);

  // Later clients see it too, and a read-only device has no buttons.
  const reader = await at.visit({ path: `#/s/${key}`, scopes: ["read"] });
  await reader.locator(".queue .doubtful").getByText("Publish it").waitFor();
  assert.equal(await reader.locator(".queue button").count(), 0);

  await page.getByRole("button", { name: "Send again: Publish it" }).click();
  await page.locator(".prompt").getByText("Publish it").nth(1).waitFor();
  await page.locator(".answer").getByText("That is done.").nth(1).waitFor();
  await page.locator(".queue").waitFor({ state: "detached" });
  await reader.locator(".queue").waitFor({ state: "detached" });
  assert.match(await page.locator(".prompt").last().innerText(), /notes\.txt|1 file/);
  const { queued } = await at.server.until(key, (view) => view.state === "idle");
  assert.equal(queued, 0);
});

test("an uncertain prompt can be dismissed, and is not sent again", async () => {
  const { page, key } = await doubtful("Delete it");
  await page.getByRole("button", { name: "Dismiss: Delete it" }).click();
  await page.locator(".queue").waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".prompt").getByText("Delete it").waitFor();
  assert.equal(await page.locator(".prompt").count(), 2);
  assert.deepEqual(await at.server.call("GET", `sessions/${key}/queue`), { items: [] });
});
