// Readability: wide tables, other scripts, long words, pictures, errors, and scroll positions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, PHONE } from "../lib/browser.mjs";
import { button, stage } from "../lib/setup.mjs";

const COLUMNS = Array.from({ length: 14 }, (_, index) => `column number ${index}`);
const TABLE = `| ${COLUMNS.join(" | ")} |\n|${"---|".repeat(14)}\n| ${COLUMNS.map((name) => `value of ${name}`).join(" | ")} |`;
const TEXT = `# A heading\n\nעברית עם \`code\` ועוד טקסט: hello world (123).\n\n${TABLE}\n\nAn \u202eedirrevo\u202c and its end.`;
const TURNED = "| שם | ערך |\n|---|---|\n| אחד | 1 |\n| one | 2 |";
const LONG = "B".repeat(200);
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const quoted = (text) => JSON.stringify(text);
const SCRIPT = `
[[turn]]
when = { last_contains = "write" }
repeat = true
text = ${quoted(TEXT)}

[[turn]]
when = { last_contains = "turn it" }
repeat = true
text = ${quoted(TURNED)}

[[turn]]
when = { last_contains = "fail" }
repeat = true
error = { status = 529, message = "overloaded" }

[[turn]]
when = { last_contains = "run" }
repeat = true

[[turn.block]]
tool = "Bash"
ask = true
input = { command = "echo \\u202eolleh" }
result = "said \\u202eolleh"

[[turn]]
when = { last_contains = "choose" }
repeat = true

[[turn.block]]
tool = "AskUserQuestion"
ask = true
input = { questions = [{ question = "Which one?", header = "Choice", multiSelect = false, options = [{ label = "A", description = "first" }, { label = "${LONG}", description = "second" }] }] }

[[turn]]
when = { last_contains = "look" }
repeat = true

[[turn.block]]
tool = "Read"
input = { file_path = "/tmp/dot.png" }
result = "[image]"
output = { type = "image", file = { base64 = "${PNG}", type = "image/png", originalSize = 70 } }

[[turn]]
when = { last_contains = "huge" }
repeat = true
text = ${quoted(Array.from({ length: 2500 }, (_, index) => `Line ${index} of an answer that fills the screen.`).join("\n"))}
pace = { chunk_chars = 20000, chunk_delay_ms = 1 }

[[turn]]
when = { last_contains = "long" }
repeat = true
text = ${quoted(Array.from({ length: 60 }, (_, index) => `Paragraph ${index} of a long answer.`).join("\n\n"))}

[[turn]]
repeat = true
text = "That is done."
`;

const at = stage({ script: SCRIPT });
const show = (page, key) => page.goto(`${at.server.address}/#/s/${key}`);

test("a wide table scrolls in its box with whole words, and each paragraph runs in its own direction", async () => {
  const one = await at.server.session("write");
  await at.server.until(one.key, (view) => view.state === "idle");
  const page = await at.visit(PHONE);
  await show(page, one.key);
  const box = page.locator(".md-table");
  await box.waitFor();
  const sizes = await box.evaluate((element) => ({
    inner: element.scrollWidth,
    outer: element.clientWidth,
    lines: Math.max(...[...element.querySelectorAll("th")].map((cell) => cell.getClientRects()[0].height)) / parseFloat(getComputedStyle(element.querySelector("th")).lineHeight),
    page: document.documentElement.scrollWidth <= innerWidth,
  }));
  assert.ok(sizes.inner > sizes.outer && sizes.lines < 4 && sizes.page, JSON.stringify(sizes));
  const paragraph = page.locator(".md p", { hasText: "עברית" });
  assert.equal(await paragraph.evaluate((element) => getComputedStyle(element).direction), "rtl");
  assert.equal(await page.locator(".md h3").evaluate((element) => getComputedStyle(element).direction), "ltr");
  // No character reorders an answer.
  assert.match(await page.locator(".md p", { hasText: "and its end" }).innerText(), /An\s+U\+202E\s*edirrevo\s*U\+202C/);
  assert.deepEqual(await accessibility(page), []);

  // A table begins on the side of its language, and its columns stay apart.
  const turned = await at.server.session("turn it");
  await at.server.until(turned.key, (view) => view.state === "idle");
  await show(page, turned.key);
  await page.locator(".md-table").getByText("שם").waitFor();
  const rows = await page.locator(".md-table tr").evaluateAll((all) =>
    all.map((row) =>
      [...row.children].map((cell) => {
        const words = document.createRange();
        words.selectNodeContents(cell);
        const { left, right } = words.getBoundingClientRect();
        return { left, right };
      }),
    ),
  );
  for (const [first, second] of rows) assert.ok(first.left - second.right > 8, JSON.stringify(rows));
});

test("t9_what_turns_the_order_of_text_is_marked_beyond_the_card_too_and_a_denied_call_says_so", async () => {
  const one = await at.server.session("run it", { title: "A \u202eeltit" });
  await at.server.until(one.key, (view) => view.state === "needs_you");
  const page = await at.visit();
  await show(page, one.key);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor();
  for (const place of [".card-title", ".card-line", ".title-button", ".tool-target"]) assert.match(await page.locator(place).first().innerText(), /U\+202E/, place);
  // The focus stays at the card's position after an answer by keyboard.
  await page.keyboard.press("Alt+j");
  await page.waitForFunction(() => document.querySelector(".yes.main").getAttribute("aria-disabled") === "false");
  await page.keyboard.press("a");
  await page.keyboard.press("o");
  await page.locator(".tool .output").waitFor();
  assert.match(await page.locator(".tool .output").innerText(), /said U\+202Eolleh/);
  await page.locator(".needs-you").waitFor({ state: "detached" });
  assert.notEqual(await page.evaluate(() => document.activeElement.tagName), "BODY");

  await at.server.call("POST", `sessions/${one.key}/input`, { content: "run it again" });
  await button(page, "Deny…").click();
  await button(page, "Deny").click();
  await page.locator(".tool-aside.bad").getByText("denied", { exact: true }).waitFor();
});

test("a failed turn is red in the list and shows its reason once", async () => {
  const page = await at.visit();
  const one = await at.server.session("fail");
  await show(page, one.key);
  await page.locator(".session .state").getByText("Turn failed").waitFor();
  await page.locator(".session-card.idle .state").getByText("Turn failed").waitFor();
  await page.locator(".row .note.error").waitFor();
  assert.equal((await page.locator(".scroller").innerText()).match(/529 Overloaded/g).length, 1);

  // The next turn removes it.
  await page.getByLabel("Message to the agent").fill("Hello");
  await page.getByLabel("Message to the agent").press("Enter");
  await page.locator(".session .state").getByText("Idle").waitFor();
});

test("a long option stays on its card, and a picture that a tool read is displayed", async () => {
  const page = await at.visit(PHONE);
  const one = await at.server.session("choose");
  await show(page, one.key);
  const label = page.locator(".option-label", { hasText: LONG });
  await label.waitFor();
  assert.ok(await label.evaluate((element) => element.getBoundingClientRect().right <= innerWidth));
  const two = await at.server.session("look");
  await show(page, two.key);
  const picture = page.locator(".tool[data-tool=Read] img");
  await picture.waitFor();
  await page.waitForFunction(() => document.querySelector(".tool img").naturalWidth === 1);
  assert.equal(await picture.getAttribute("alt"), "Picture: /tmp/dot.png");
});

/** Waits until the position of a conversation is stored and stays the same: a slow machine still measures rows. */
async function stored(page) {
  await page.waitForFunction(() => {
    const now = JSON.stringify(Object.entries(sessionStorage).filter(([name]) => name.startsWith("tidings.place.")));
    const rests = now !== "[]" && now === window.storedPlaces;
    window.storedPlaces = now;
    document.querySelector(".scroller").dispatchEvent(new Event("scroll"));
    return rests;
  }, undefined, { polling: 300 });
}

test("Back and a reload restore the scroll position", async () => {
  const one = await at.server.session("a long one");
  await at.server.until(one.key, (view) => view.totals.turns === 1);
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "another long one" });
  await at.server.until(one.key, (view) => view.totals.turns === 2);
  const page = await at.visit();
  await show(page, one.key);
  await page.locator(".answer").last().getByText("Paragraph 59").waitFor();
  const middle = page.locator(".answer").first().getByText("Paragraph 30", { exact: false });
  const scroller = page.locator(".scroller");
  await scroller.evaluate((element) => (element.scrollTop = 900));
  await middle.waitFor();
  await stored(page);
  const top = () => middle.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  // Measured in the moment of leaving: rows above may still be drawn.
  let before = await middle.evaluate((element) => {
    const top = Math.round(element.getBoundingClientRect().top);
    location.hash = "#/settings";
    return top;
  });
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.goBack();
  await middle.waitFor();
  const near = async () => {
    let now = await top();
    for (let tries = 0; Math.abs(now - before) > 2 && tries < 100; tries += 1) {
      await page.evaluate(() => new Promise(requestAnimationFrame));
      now = await top();
    }
    assert.ok(Math.abs(now - before) <= 2, `${now} after ${before}`);
  };
  await near();
  await page.reload();
  await middle.waitFor();
  await near();
  // Leaving stores the position, also directly after scrolling.
  before = await scroller.evaluate((element) => {
    element.scrollTop -= 100;
    return new Promise((resolve) => element.addEventListener("scroll", () => {
      const paragraph = [...element.querySelectorAll(".answer p")].find((one) => one.textContent.includes("Paragraph 30"));
      location.hash = "#/settings";
      resolve(Math.round(paragraph.getBoundingClientRect().top));
    }, { once: true }));
  });
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.goBack();
  await middle.waitFor();
  await near();
  await button(page, "Latest ↓").click();
  await page.locator(".to-end").waitFor({ state: "detached" });

  // Also if it is before the initially loaded events.
  const two = await at.server.session("The first huge one");
  for (const turns of [1, 2]) {
    await at.server.until(two.key, (view) => view.totals.turns === turns && view.state === "idle");
    if (turns === 1) await at.server.call("POST", `sessions/${two.key}/input`, { content: "The second huge one" });
  }
  await show(page, two.key);
  await page.locator(".answer").last().waitFor();
  const begin = page.locator(".prompt").getByText("The first huge one");
  await scroller.evaluate((element) => (element.scrollTop = 0));
  await button(page, "Show earlier messages").click();
  await button(page, "Show earlier messages").waitFor({ state: "detached" });
  // While the earlier messages are drawn, the page keeps the rows in view where they are.
  await page.waitForFunction(() => {
    const element = document.querySelector(".scroller");
    element.scrollTop = 0;
    return element.querySelector(".prompt")?.textContent.includes("The first huge one");
  });
  // A reload stores it too.
  await page.reload();
  await begin.waitFor();
});
