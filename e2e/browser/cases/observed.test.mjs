// Sessions that people start themselves. The case plays a process of Claude Code in a terminal: it writes the
// file in which the process describes itself, and the session file.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { asksAndSays, button, stage } from "../lib/setup.mjs";
import { assertStill, recordShifts } from "../lib/shifts.mjs";

const at = stage({ script: asksAndSays("make everything", "That is done.") });
const terminals = new Set();
after(() => Promise.all([...terminals].map((terminal) => terminal.exit())));

/** A session in a terminal, of which only the files are real. */
class Terminal {
  #process = spawn("sleep", ["600"], { stdio: "ignore" });
  #ended = once(this.#process, "exit");
  #entries = 0;

  constructor(server, more = {}) {
    terminals.add(this);
    this.id = randomUUID();
    this.cwd = server.project;
    const config = join(server.folder, "claude-config");
    for (const name of ["sessions", "projects/-x"]) mkdirSync(join(config, name), { recursive: true });
    this.description = join(config, "sessions", `${this.#process.pid}.json`);
    this.file = join(config, "projects/-x", `${this.id}.jsonl`);
    this.more = more;
    this.status("idle");
  }

  status(status) {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, "utf8");
    // The name before it may contain spaces. The start time is the 22nd field.
    const procStart = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    const described = { pid: this.#process.pid, sessionId: this.id, cwd: this.cwd, procStart, kind: "interactive", entrypoint: "cli", status, ...this.more };
    writeFileSync(`${this.description}.new`, JSON.stringify(described));
    renameSync(`${this.description}.new`, this.description);
  }

  write(...entries) {
    for (const entry of entries) {
      const parentUuid = this.#entries === 0 ? null : uuid(this.#entries);
      this.#entries += 1;
      const line = { ...entry, sessionId: this.id, cwd: this.cwd, uuid: uuid(this.#entries), parentUuid, timestamp: new Date().toISOString() };
      appendFileSync(this.file, `${JSON.stringify(line)}\n`);
    }
  }

  async exit() {
    terminals.delete(this);
    rmSync(this.description, { force: true });
    this.#process.kill();
    await this.#ended;
  }
}

function uuid(number) {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

function prompt(text) {
  return { type: "user", message: { role: "user", content: text }, origin: { kind: "human" } };
}

function said(id, ...content) {
  return { type: "assistant", message: { id, type: "message", role: "assistant", model: "claude-x", content, usage: { input_tokens: 3, output_tokens: 5 } } };
}

function result(id, text) {
  return { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] } };
}

const TURN_END = { type: "system", subtype: "turn_duration", durationMs: 5 };

/** Saves a picture of the page, for a look at it. */
async function picture(page, name) {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
}

test("the empty list says how sessions in terminals are answered here", async () => {
  const page = await at.visit();
  await page.locator(".sidebar").getByText("tidings hook install").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "empty");
});

test("a session in a terminal is shown while it runs there, and takes prompts afterwards", async () => {
  const page = await at.visit();
  const terminal = new Terminal(at.server);
  terminal.write(prompt("Look at the fence"), said("msg_1", { type: "text", text: "I look at it." }));
  const card = page.locator(".session-card", { hasText: "Look at the fence" });
  await card.locator(".origin").getByText("Terminal", { exact: true }).waitFor();
  await card.click();
  await page.locator(".session-head .origin").getByText("Terminal", { exact: true }).waitFor();
  await page.locator(".answer").getByText("I look at it.").waitFor();

  // The reason is in place of the prompt field.
  const reason = page.locator(".composer.limited").getByRole("status");
  await reason.getByText("It runs in a terminal").waitFor();
  assert.match(await reason.innerText(), /\w\.$/);
  const limited = await page.locator(".composer").boundingBox();
  const field = page.getByLabel("Message to the agent");
  assert.equal(await field.count(), 0);
  for (const name of ["Model", "Permission mode", "Delivery"]) assert.equal(await page.getByLabel(name).count(), 0, name);
  await page.locator("details.menu summary").click();
  await button(page, "Find in this session…").waitFor();
  for (const name of ["Compact", "Rewind…", "Stop the agent"]) assert.equal(await button(page, name).count(), 0, name);
  await page.keyboard.press("Escape");
  assert.deepEqual(await accessibility(page), []);

  // The conversation grows with the file. A turn that runs elsewhere is not interrupted here.
  terminal.status("busy");
  terminal.write(prompt("Now paint it"), said("msg_2", { type: "text", text: "I paint it." }, { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "paint --green" } }));
  await page.locator(".prompt").getByText("Now paint it").waitFor();
  await page.locator(".tool.running").getByText("paint --green").waitFor();
  await page.locator(".session .state.running").waitFor();
  assert.equal(await button(page, "Interrupt").count(), 0);
  await page.locator(".scroller").click();
  await page.keyboard.press("Escape");
  await picture(page, "desktop");
  for (const theme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme: theme });
    assert.deepEqual(await accessibility(page), [], theme);
    if (theme === "dark") await picture(page, "desktop-dark");
  }
  terminal.write(result("toolu_1", "painted"), said("msg_3", { type: "text", text: "The fence is green." }), TURN_END);
  terminal.status("idle");
  await page.locator(".answer").getByText("The fence is green.").waitFor();
  await page.locator(".session .state.idle").waitFor();
  // The server would have refused an interrupt.
  assert.equal(await page.locator(".toast").count(), 0);

  // When the process has ended, the session is continued here.
  await recordShifts(page);
  await terminal.exit();
  await field.waitFor();
  await page.getByLabel("Permission mode").waitFor();
  assert.equal(await page.getByLabel("Model").inputValue(), "claude-x");
  assert.equal(await page.locator(".composer.limited").count(), 0);
  const whole = await page.locator(".composer").boundingBox();
  assert.deepEqual([whole.x, whole.y, whole.width, whole.height], [limited.x, limited.y, limited.width, limited.height]);
  await assertStill(page, 0.05);
  // Without a title, its last prompt names it.
  const named = page.locator(".session-card", { hasText: "Now paint it" });
  await named.locator(".origin").getByText("Terminal", { exact: true }).waitFor();
  await picture(page, "desktop-after");
});

test("p46 the card of a session in a terminal names its folder", async () => {
  const page = await at.visit();
  const terminal = new Terminal(at.server);
  terminal.write(prompt("Sweep the path"), said("msg_6", { type: "text", text: "It is swept." }), TURN_END);
  const one = await at.server.session("Hello");
  const card = page.locator(".session-card", { hasText: "Sweep the path" });
  await card.locator(".card-facts").getByText(basename(at.server.project), { exact: true }).waitFor();
  // Those of this server stand below the name of their project.
  const own = page.locator(`.session-card[href$="${one.key}"]`);
  await own.waitFor();
  assert.equal(await own.locator(".card-facts").getByText(basename(at.server.project), { exact: true }).count(), 0);
  await terminal.exit();
});

test("a phone shows where a session runs, and why it takes no prompts", async () => {
  const page = await at.visit(PHONE);
  const terminal = new Terminal(at.server, { entrypoint: "claude-vscode" });
  const background = new Terminal(at.server, { kind: "bg" });
  terminal.write(prompt("Mend the gate of the garden behind the house"), said("msg_4", { type: "text", text: "The hinge is loose." }), TURN_END);
  background.write(prompt("Count the apples"), said("msg_5", { type: "text", text: "There are seven." }), TURN_END);
  await page.locator(".session-card", { hasText: "Count the apples" }).locator(".origin").getByText("Background").waitFor();
  const card = page.locator(".session-card", { hasText: "Mend the gate" });
  await card.locator(".origin").getByText("Editor").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "phone-list");
  await card.tap();
  await page.locator(".composer.limited").getByText("It runs in an editor").waitFor();
  await page.locator(".answer").getByText("The hinge is loose.").waitFor();
  assert.deepEqual(await accessibility(page), []);
  assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)), "nothing has to be scrolled sideways");
  await picture(page, "phone");
  await Promise.all([terminal.exit(), background.exit()]);
  await page.getByLabel("Message to the agent").waitFor();
  await picture(page, "phone-after");
});

test("a request that this server cannot answer says where it is answered", async () => {
  const page = await at.visit();
  // The server sends such a session only in rare moments, so its messages are changed on their way.
  const changed = (text) => text.replace(/"origin":"server","capabilities":\[[^\]]*\]/g, `"origin":"terminal","capabilities":[]`).replaceAll(/"by":"[^"]*"/g, `"by":"terminal"`);
  await page.routeWebSocket(/./, (socket) => socket.connectToServer().onMessage((message) => socket.send(changed(message))));
  await page.route(/\/v1\/(sessions|permissions)/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: changed(await response.text()) });
  });
  const one = await at.server.session("ask me");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.reload();
  const card = page.locator(".needs-you");
  await card.getByText("Answer this request in the terminal.").waitFor();
  await card.getByText("make everything").waitFor();
  assert.equal(await card.getByRole("button").count(), 0);
  assert.equal(await button(page, "Interrupt").count(), 0);
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "answer-there");
  const { items } = await at.server.call("GET", "permissions");
  await at.server.call("POST", `sessions/${one.key}/permissions/${items[0].tool_use_id}`, { decision: "allow" });
  await page.locator(".toast").getByText("This request was allowed in the terminal.").waitFor();
  await page.locator(".tool .decision").getByText("Allowed in the terminal").waitFor();
});
