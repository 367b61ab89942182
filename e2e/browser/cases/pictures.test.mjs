// Attachments of a prompt, and their display.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { button, stage } from "../lib/setup.mjs";

const at = stage({ script: '[[turn]]\nrepeat = true\ntext = "That is done."\n' });

test("p18 a picture goes with a prompt", async () => {
  const page = await at.visit({ viewport: { width: 900, height: 500 } });
  const one = await at.server.session();
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  const png = readFileSync(new URL("../../../docs/screenshots/desk-cost-light.png", import.meta.url));
  const text = Buffer.from("What is red?");
  await page.locator(".composer input[type=file]").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: png },
    { name: "notes.txt", mimeType: "text/plain", buffer: text },
  ]);
  for (const name of ["dot.png", "notes.txt"]) await page.locator(".picked").getByText(name).waitFor();
  await page.getByLabel("Message to the agent").fill("What is this?");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".answer").getByText("That is done.").waitFor();

  // It is visible here, to later clients, and in the session's file.
  const seen = (where) => where.waitForFunction(() => document.querySelector(".prompt .pictures img")?.naturalWidth > 1);
  await seen(page);
  await page.locator(".session .state.idle").waitFor();
  // Its space is filled when it arrives, and a list at its end stays there.
  assert.equal(await page.locator(".to-end").count(), 0);
  await page.reload();
  await seen(page);
  assert.equal((await page.locator(".prompt .attached").innerText()).trim(), "notes.txt");
  assert.deepEqual(await accessibility(page), []);
  const reader = await at.visit({ path: `#/s/${one.key}`, scopes: ["read"] });
  await seen(reader);
  const { cli_session_ids: ids } = await at.server.call("GET", `sessions/${one.key}`);
  await reader.goto(`${at.server.address}/#/history/${ids.at(-1)}`);
  await reader.locator(".past, .session").getByText("What is this?").first().waitFor();
  await seen(reader);

  // A press on it opens it in its own size.
  await page.locator(".thumbnail").click();
  const view = page.getByRole("dialog", { name: /^Picture: / });
  await view.locator(".picture-box img").waitFor();
  await button(view, "Original size").click();
  assert.deepEqual(await accessibility(page), []);
  await page.keyboard.press("Escape");
  await view.waitFor({ state: "detached" });

  // Sending a prompt scrolls to it, also after scrolling up.
  await page.setViewportSize({ width: 900, height: 380 });
  await page.locator(".scroller").evaluate((scroller) => (scroller.scrollTop = 0));
  await page.locator(".to-end").waitFor();
  await page.getByLabel("Message to the agent").fill("Thank you");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".to-end").waitFor({ state: "detached" });
  await page.locator(".prompt").getByText("Thank you").waitFor();
  assert.equal(await page.locator(".to-end").count(), 0);
});

test("a photograph is scaled down to the size that models use", async () => {
  const page = await at.visit({ viewport: { width: 900, height: 500 } });
  const one = await at.server.session();
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  // Noise does not compress, so this is larger than the limit, like a camera's picture.
  const bytes = await page.locator(".composer input[type=file]").evaluate(async (field) => {
    const canvas = new OffscreenCanvas(4000, 400);
    const paper = canvas.getContext("2d");
    const image = paper.createImageData(4000, 400);
    for (let at = 0; at < image.data.length; at += 65_536) crypto.getRandomValues(image.data.subarray(at, at + 65_536));
    paper.putImageData(image, 0, 0);
    const photo = new File([await canvas.convertToBlob({ type: "image/png" })], "photo.png", { type: "image/png" });
    const chosen = new DataTransfer();
    chosen.items.add(photo);
    field.files = chosen.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    return photo.size;
  });
  assert.ok(bytes > 3 << 20, `${bytes} bytes are no photograph`);
  await page.locator(".picked").getByText("photo.png").waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".answer").getByText("That is done.").waitFor();
  await page.waitForFunction(() => document.querySelector(".prompt .pictures img")?.naturalWidth === 2576);
});
