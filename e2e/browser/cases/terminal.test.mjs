// The terminal of a session, and “Continue here”. The cases play the server's part of both: they give a session
// the capabilities, and answer for it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { asksAndSays, button, picture, stage } from "../lib/setup.mjs";

const at = stage({ script: asksAndSays("make everything", "That is done.") });
const CLEAR = "\x1b[2J\x1b[H";
/** A menu in true colour, in the 256 colours, bold and dim. */
const MENU = `${CLEAR}\x1b[38;2;215;119;87mChoose a theme\x1b[0m\r\n\x1b[38;5;153m> 1. Dark mode\x1b[0m\r\n\x1b[1m  2. Light mode\x1b[0m`;

/** Opens a session whose messages are changed on their way: `changes` are fields of its view. */
async function openChanged(page, changes) {
  const one = await at.server.session("Say something", { title: "Paint the fence" });
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 1);
  const changed = (text) => text.replace(/"origin":"server","capabilities":\[[^\]]*\]/g, () => JSON.stringify(changes.now).slice(1, -1));
  await page.routeWebSocket(/\/v1\/ws$/, (socket) => socket.connectToServer().onMessage((message) => socket.send(changed(message))));
  await page.route(/\/v1\/sessions/, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    try {
      const response = await route.fetch();
      await route.fulfill({ response, body: changed(await response.text()) });
    } catch {
      // The page asks for sessions at any time, also when the case is over: the server or the page is gone then.
    }
  });
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.reload();
  await page.locator(".answer").getByText("That is done.").waitFor();
  return one;
}

/** The server's side of a terminal: `received` has the keys. */
async function serveTerminal(page, keys) {
  const side = { received: [], opened: 0 };
  await page.routeWebSocket(/\/terminal$/, (socket) => {
    side.opened += 1;
    side.socket = socket;
    socket.onMessage((message) => side.received.push(message.toString()));
    socket.send(JSON.stringify({ type: "ready", rows: 24, cols: 80, keys }));
    socket.send(Buffer.from(MENU));
  });
  return side;
}

async function until(holds) {
  while (!holds()) await new Promise((done) => setTimeout(done, 20));
}

const HOSTED = { origin: "terminal", capabilities: ["prompt", "interrupt", "answer", "terminal"] };

test("the terminal is loaded on demand, shows the program, and sends keys", async () => {
  const page = await at.visit();
  const scripts = [];
  page.on("request", (request) => request.url().includes("page-terminal-") && scripts.push(request.url()));
  const side = await serveTerminal(page, true);
  await openChanged(page, { now: HOSTED });
  assert.deepEqual(scripts, []);
  await button(page, "Terminal").click();
  const screen = page.locator(".terminal-view .xterm-rows");
  await screen.getByText("Choose a theme").waitFor();
  assert.equal(scripts.length, 1);
  // Colours are set although the content security policy allows no inline styles.
  assert.equal(await screen.getByText("Choose a theme").evaluate((element) => getComputedStyle(element).color), "rgb(215, 119, 87)");
  assert.ok(await screen.getByText("2. Light mode").evaluate((element) => Number(getComputedStyle(element).fontWeight) >= 600));
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    assert.deepEqual(await accessibility(page), [], theme);
    await picture(page, `desk-terminal-${theme}`);
  }

  await page.locator(".terminal-screen").click();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.type("2?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await until(() => side.received.join("").endsWith("\r"));
  assert.equal(side.received.join(""), "\x1b[B2?\x1b\r");
  // The keys are the terminal's alone.
  assert.equal(await page.locator("dialog[open]").count(), 0);
  await page.keyboard.press("F6");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Terminal");

  // Another size, and a screen that is drawn anew.
  side.socket.send(JSON.stringify({ type: "size", rows: 10, cols: 100 }));
  side.socket.send(JSON.stringify({ type: "redraw" }));
  side.socket.send(Buffer.from(`${CLEAR}${"x".repeat(100)}`));
  await screen.getByText("x".repeat(100)).waitFor();
  assert.equal(await page.locator(".xterm-rows > div").count(), 10);
  side.socket.send(JSON.stringify({ type: "ended", code: 3 }));
  await page.locator(".terminal-status").getByText("The program in the terminal has ended with exit code 3.").waitFor();
});

test("a device without admin looks at the terminal, and a lost connection can be opened again", async () => {
  const page = await at.visit({ ...PHONE, scopes: ["read", "prompt"] });
  const side = await serveTerminal(page, false);
  await openChanged(page, { now: HOSTED });
  await button(page, "Terminal").tap();
  await page.locator(".terminal-view .xterm-rows").getByText("Choose a theme").waitFor();
  await page.locator(".terminal-status").getByText("View only.").waitFor();
  await page.locator(".terminal-screen").tap();
  await page.keyboard.type("y");
  assert.deepEqual(await accessibility(page), []);
  assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)), "nothing has to be scrolled sideways");
  await picture(page, "terminal-phone");
  await side.socket.close({ code: 1012 });
  await page.locator(".terminal-status").getByText("The connection to the terminal was lost.").waitFor();
  await button(page, "Connect again").tap();
  await page.locator(".terminal-status").getByText("View only.").waitFor();
  assert.deepEqual([side.opened, side.received], [2, []]);
});

test("“Continue here” asks first, names the reason of a refusal, and leads to the prompt field", async () => {
  const page = await at.visit();
  const changes = { now: { origin: "terminal", capabilities: ["take_over"], limited: "It runs in a terminal" } };
  const bodies = [];
  const busy = { type: "about:blank", title: "Conflict", status: 409, code: "conflict", detail: "The terminal is working on a turn", hint: "interrupt it there, or wait for its end", retryable: false, request_id: "1" };
  await openChanged(page, changes);
  await page.route(/\/take_over$/, async (route) => {
    bodies.push(route.request().postDataJSON());
    if (bodies.length === 1) return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify(busy) });
    changes.now = { origin: "terminal", capabilities: ["prompt", "interrupt", "answer", "stop"] };
    return route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify({ seq: 1, cursor: "1:1" }) });
  });
  const box = page.locator(".take-over");
  await button(page, "Continue here…").click();
  await box.getByText("A draft in its input line is lost.").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "take-over");
  await button(page, "Cancel").click();
  assert.deepEqual(bodies, []);
  await button(page, "Continue here…").click();
  await button(page, "Continue here").click();
  await box.getByRole("alert").getByText("The terminal is working on a turn (interrupt it there, or wait for its end)").waitFor();
  await picture(page, "take-over-refused");
  // A response with an error is an error to the browser's console too.
  page.wrong = page.wrong.filter((text) => !text.includes("status of 409"));
  await button(page, "Continue here…").click();
  await button(page, "Continue here").click();
  // The next notice has the new capabilities.
  await box.getByText("Waiting for the end of").waitFor();
  const { key } = (await at.server.call("GET", "sessions?limit=1")).items[0];
  await at.server.call("PATCH", `sessions/${key}`, { title: "Paint it green" });
  await page.getByLabel("Message to the agent").waitFor();
  assert.equal(await box.count(), 0);
});

test("“Continue here” needs the scope always", async () => {
  const page = await at.visit({ scopes: ["read", "prompt", "decide"] });
  await openChanged(page, { now: { origin: "terminal", capabilities: ["take_over"], limited: "It runs in a terminal" } });
  await page.locator(".composer.limited").getByText("It runs in a terminal").waitFor();
  assert.equal(await page.locator(".take-over").count(), 0);
});
