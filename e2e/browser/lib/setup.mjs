// One server and one browser for the cases of a file, and pages whose errors fail the case.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, afterEach, before } from "node:test";
import { launch, launchFull, open, trouble, visit } from "./browser.mjs";
import { Server } from "./server.mjs";

/**
 * State shared by the cases of a file; filled before the first of them runs. `begin` prepares the server.
 * `notifications`: the cases need a browser that shows notifications.
 */
export function stage({ begin, notifications = false, ...options } = {}) {
  const shared = { pages: [] };
  before(async () => {
    [shared.server, shared.browser] = await Promise.all([Server.start(options), notifications ? launchFull() : launch()]);
    await begin?.(shared.server);
  });
  afterEach(async () => {
    for (const page of shared.pages.splice(0)) {
      const found = await trouble(page);
      await page.context().close();
      assert.deepEqual(found, [], "nothing goes wrong on a page");
    }
  });
  after(async () => {
    await shared.browser?.close();
    await shared.server?.stop();
  });
  // At most five per file: the server limits the rate of pairing.
  shared.visit = async (how, server = shared.server) => {
    const page = await visit(shared.browser, server, how);
    shared.pages.push(page);
    return page;
  };
  shared.tab = async (page, path = "") => {
    const tab = await open(page.context(), `${shared.server.address}/${path}`);
    await tab.locator(".page").waitFor();
    return tab;
  };
  return shared;
}

/**
 * A script: a prompt with "ask" leads to a permission request for `command`; others are answered with `text`.
 */
export function asksAndSays(command, text) {
  return `
[[turn]]
when = { last_contains = "ask" }
repeat = true

[[turn.block]]
text = "I look at it."

[[turn.block]]
tool = "Bash"
ask = true
input = { command = "${command}", description = "Build" }
result = "built"

[[turn]]
repeat = true
text = "${text}"
`;
}

/** Hides the page, or shows it again. */
export async function hide(page, hidden) {
  await page.evaluate((now) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (now ? "hidden" : "visible") });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** Waits until nothing moves or fades. Spinners turn for ever. */
export async function settle(page) {
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity));
}

export function button(page, name) {
  return page.getByRole("button", { name, exact: true });
}

/** Presses a button that allows: it accepts a click only after it was visible for a moment. */
export async function allow(page, name = "Allow once") {
  await button(page, name).click();
}

/** Presses a button until the page no longer shows it. It may disappear between a look and a press. */
export async function pressUntilGone(locator) {
  while ((await locator.count()) > 0) await locator.click({ timeout: 1000 }).catch((error) => {
    if (error.name !== "TimeoutError") throw error;
  });
}

/** Saves a picture of the page for a look at it, or with SCREENSHOTS=1 as one of the docs. */
export async function picture(page, name) {
  const folder = process.env.SCREENSHOTS ? new URL("../../../docs/screenshots", import.meta.url).pathname : process.env.PICTURES;
  if (folder && (process.env.PICTURES || name.startsWith("desk-"))) await page.screenshot({ path: `${folder}/${name}.png`, scale: "css" });
}

/**
 * With HEADED=1 the browser runs in a window, and notifications are on the screen:
 * HEADED=1 xvfb-run -s "-screen 0 1280x800x24" scripts/browser.sh e2e/browser/cases/push.test.mjs
 * It needs xdotool, and with SCREENSHOTS=1 ImageMagick.
 */
export const isHeaded = process.env.HEADED === "1";

/** The notification at the lower right of that screen, as a picture for the docs. */
export async function pictureOfNotification(name) {
  if (!isHeaded || !process.env.SCREENSHOTS) return;
  await slidIn();
  const file = new URL(`../../../docs/screenshots/${name}.png`, import.meta.url).pathname;
  execFileSync("import", ["-window", "root", "-crop", "372x156+904+640", "+repage", file]);
}

/** Presses the left button of that notification with the mouse. */
export async function pressFirstButton() {
  await slidIn();
  execFileSync("xdotool", ["mousemove", "980", "763", "click", "1"]);
}

/** A notification moves for a moment before it can be seen and pressed. */
function slidIn() {
  return new Promise((done) => setTimeout(done, 2000));
}
