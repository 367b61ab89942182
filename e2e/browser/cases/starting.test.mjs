// Starting sessions: the form as a composer, folders, settings, templates, resuming, forks, shared content.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { button, settle, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
repeat = true
text = "It is done."
`;

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, script: SCRIPT });

/** A recorded session on disk, in the project's folder. */
function onDisk(title) {
  const files = readdirSync(join(root, "projects"), { recursive: true }).filter((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name));
  const recorded = files.find((name) => readFileSync(join(root, "projects", name), "utf8").includes("Third answer."));
  const id = randomUUID();
  const folder = join(root, "projects", at.server.project.replaceAll(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(join(root, "projects", recorded), "utf8").replaceAll(recorded.split("/").pop().replace(".jsonl", ""), id).replaceAll("/home/dev/demo", at.server.project);
  const line = JSON.stringify({ type: "custom-title", customTitle: title, sessionId: id });
  writeFileSync(join(folder, `${id}.jsonl`), `${text.trimEnd()}\n${line}\n`);
  return id;
}

test("p26 a session starts with the keyboard alone, with its model, mode, policy and budget", async () => {
  await at.server.session("Hello");
  const page = await at.visit();
  await page.keyboard.press("Alt+n");
  await page.getByRole("heading", { name: "New session" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches(".start-box textarea"));
  assert.deepEqual(await accessibility(page), []);
  await page.getByLabel("Folder").fill(at.server.project);
  await page.getByLabel("Permission mode").selectOption("plan");
  await page.getByLabel("Policy").selectOption("standard");
  await page.getByLabel("Model").selectOption("haiku");
  await page.getByRole("button", { name: "No budget" }).click();
  await page.getByLabel("Cost in dollars").fill("-2");
  await page.getByLabel("Minutes of work").fill("30");
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await page.keyboard.press("Escape");
  const prompt = page.getByLabel("First prompt");
  await prompt.fill("Sweep the yard");
  await prompt.press("Enter");
  await page.getByRole("alert").getByText("positive number for dollars").waitFor();
  await page.getByRole("button", { name: "$-2, 30 min" }).click();
  await page.getByLabel("Cost in dollars").fill("2.5");
  await page.keyboard.press("Escape");

  // The same again, as a template.
  await button(page, "Save this as a template").click();
  await page.getByLabel("Name of the template").fill("Yard");
  await page.getByLabel("Name of the template").press("Enter");
  await button(page, "Yard").waitFor();

  await prompt.press("Control+Enter");
  await page.locator(".answer").getByText("It is done.").waitFor();
  const session = (await at.server.call("GET", "sessions")).items.at(-1);
  assert.equal(session.policy, "standard");
  assert.equal(session.permission_mode, "plan");
  assert.deepEqual([session.budget.budget_usd, session.budget.max_seconds], [2.5, 1800]);

  await page.goto(`${at.server.address}/#/new`);
  assert.equal(await prompt.inputValue(), "", "the draft was sent");
  await button(page, "Yard").click();
  assert.equal(await prompt.inputValue(), "Sweep the yard");
  assert.equal(await page.getByLabel("Permission mode").inputValue(), "plan");
  await page.getByRole("button", { name: "$2.5, 30 min" }).waitFor();
  await button(page, "Remove the template Yard").click();
  await button(page, "Yard").waitFor({ state: "detached" });
});

test("a folder is completed from what the server lists, and from recent ones", async () => {
  const page = await at.visit();
  const listed = [];
  await page.route(/\/v1\/meta$/, async (route) => {
    const response = await route.fetch();
    const about = await response.json();
    await route.fulfill({ response, json: { ...about, capabilities: [...about.capabilities, "folders"] } });
  });
  await page.route(/\/v1\/folders/, (route) => {
    listed.push(new URL(route.request().url()).search);
    return route.fulfill({ json: { items: [{ name: "shelf", path: "/srv/shelf" }, { name: "shop", path: "/srv/shop", git: true }], more: false } });
  });
  await page.route(/\/v1\/trust/, (route) => route.fulfill({ json: { folder: "/srv/shop", digest: "", trusted: true, commands: [] } }));
  await page.goto(`${at.server.address}/#/new`);
  await page.reload();
  const folder = page.getByRole("combobox", { name: "Folder" });
  await folder.fill("/srv/sh");
  await page.getByRole("option", { name: "/srv/shop" }).waitFor();
  assert.ok(listed.some((query) => query === "?path=%2Fsrv&q=sh"), listed.join(" "));
  assert.deepEqual(await accessibility(page), []);
  await folder.press("ArrowDown");
  await folder.press("ArrowDown");
  await folder.press("Enter");
  assert.equal(await folder.inputValue(), "/srv/shop");
  // Enter in this field starts nothing.
  await page.getByRole("heading", { name: "New session", exact: true }).waitFor();
  await folder.fill("~");
  await folder.press("Escape");
  await page.getByRole("listbox", { name: "Suggestions" }).waitFor({ state: "hidden" });
});

test("p24 a session on disk is resumed with one press, opened if it is live, and a fork is marked", async () => {
  const id = onDisk("Mend the roof");
  const page = await at.visit({ path: "#/new" });
  await button(page, "Resume Mend the roof").click();
  await page.locator(".answer").getByText("Third answer.").waitFor();
  const session = (await at.server.call("GET", "sessions")).items.at(-1);
  assert.equal(session.labels.resumed_from, id);
  assert.equal(await page.locator(".disk-card", { hasText: "Mend the roof" }).count(), 0, "it is listed once");
  assert.equal(await page.locator(".session-head .origin", { hasText: "Fork" }).count(), 0);

  // Its transcript leads to it instead of starting another agent; so does a button that does not know of it yet.
  await page.goto(`${at.server.address}/#/history/${id}`);
  await page.getByRole("link", { name: "Open session" }).click();
  await page.waitForURL(`**/#/s/${session.key}`);
  await at.server.call("PATCH", `sessions/${session.key}`, { labels: {} });
  await page.goto(`${at.server.address}/#/new`);
  await page.reload();
  await button(page, "Resume Mend the roof").click();
  await page.waitForURL(`**/#/s/${session.key}`);
  assert.equal((await at.server.call("GET", "sessions")).items.at(-1).key, session.key, "no other session was created");
  page.wrong.splice(0);
  await page.getByLabel("Message to the agent").fill("Go on");
  await page.getByLabel("Message to the agent").press("Enter");
  await page.locator(".answer").getByText("It is done.").waitFor();

  await page.locator(".menu summary").click();
  await page.locator(".menu-items").getByText("Fork…").click();
  await page.getByRole("heading", { name: "Fork a session" }).waitFor();
  await page.getByLabel("Next prompt").fill("Another way");
  await button(page, "Fork").click();
  await page.locator(".session-head .origin", { hasText: "Fork" }).waitFor();
  await page.locator(".session-card[aria-current] .origin", { hasText: "Fork" }).waitFor();
  assert.deepEqual(await accessibility(page), []);
});

test("on a phone the form fits, and text and pictures that an app shares fill it", async () => {
  const page = await at.visit({ ...PHONE, serviceWorkers: "allow" });
  const manifest = await page.evaluate(async () => (await fetch("manifest.webmanifest")).json());
  assert.equal(manifest.share_target.action, "share");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  // As the browser posts it: a text and a picture. The policy of the page forbids forms, so that the page sends it.
  const { url, redirected } = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 4, height: 4 });
    const picture = await new Promise((done) => canvas.toBlob(done, "image/png"));
    const form = new FormData();
    form.set("text", "Look at this screenshot");
    form.set("files", new File([picture], "shot.png", { type: "image/png" }));
    const { url, redirected } = await fetch("share", { method: "POST", body: form });
    return { url, redirected };
  });
  assert.deepEqual({ url, redirected }, { url: `${at.server.address}/`, redirected: true });
  await page.goto(`${at.server.address}/#/new?shared=1`);
  await page.getByRole("heading", { name: "New session" }).waitFor();
  await page.locator(".picked").getByText("shot.png").waitFor();
  assert.equal(await page.getByLabel("First prompt").inputValue(), "Look at this screenshot");
  assert.deepEqual(await accessibility(page), []);
  assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)));
  const start = await button(page, "Start").boundingBox();
  assert.ok(start.height >= 44 && start.x >= 0 && start.x + start.width <= 390);
});
