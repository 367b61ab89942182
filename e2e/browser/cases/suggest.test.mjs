// The agent's suggestion for the next prompt is accepted by key or touch, and only the user sends it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { stage } from "../lib/setup.mjs";

const SUGGESTED = "Add a test for prices with three decimals, and one for those that have none";
const at = stage({
  script: `
[[turn]]
text = "That is done."
after = [{ frame = { type = "prompt_suggestion", suggestion = "${SUGGESTED}" } }]
`,
});

test("a suggestion is accepted with Tab on a desktop and by touch on a phone", async () => {
  const one = await at.server.session("Hello");
  const desk = await at.visit({ path: `#/s/${one.key}` });
  const field = desk.getByPlaceholder(SUGGESTED);
  await field.press("Tab");
  assert.equal(await desk.getByLabel("Message to the agent").inputValue(), SUGGESTED);

  const phone = await at.visit({ ...PHONE, path: `#/s/${one.key}` });
  const offer = phone.getByRole("button", { name: `Write: ${SUGGESTED}` });
  await offer.waitFor();
  assert.deepEqual(await accessibility(phone), []);
  assert.ok(!(await phone.evaluate(() => document.documentElement.scrollWidth > innerWidth)));
  await offer.tap();
  assert.equal(await phone.getByLabel("Message to the agent").inputValue(), SUGGESTED);
  await offer.waitFor({ state: "detached" });
  assert.equal((await at.server.call("GET", `sessions/${one.key}`)).totals.turns, 1);
});
