// Keeping sessions: the archive, renaming and deleting sessions on disk, forks from any message.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { DESKTOP, PHONE, accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { button, settle, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "first" }
repeat = true
text = "The first answer."

[[turn]]
repeat = true
text = "Another answer."
`;

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, script: SCRIPT });

/** A recorded session on disk, in the project's folder; returns its id and its file. */
function onDisk(title) {
  const files = readdirSync(join(root, "projects"), { recursive: true }).filter((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name));
  const recorded = files.find((name) => readFileSync(join(root, "projects", name), "utf8").includes("Third answer."));
  const id = randomUUID();
  const folder = join(root, "projects", at.server.project.replaceAll(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(join(root, "projects", recorded), "utf8").replaceAll(recorded.split("/").pop().replace(".jsonl", ""), id).replaceAll("/home/dev/demo", at.server.project);
  const file = join(folder, `${id}.jsonl`);
  writeFileSync(file, `${text.trimEnd()}\n${JSON.stringify({ type: "custom-title", customTitle: title, sessionId: id })}\n`);
  return { id, file };
}

async function act(page, title, action) {
  const card = page.locator(".card", { hasText: title });
  await card.hover();
  await card.getByRole("button", { name: /^Actions/ }).click();
  await card.locator(".pop").getByText(action, { exact: true }).click();
}

for (const [size, device, title] of [[DESKTOP, "a desktop", "Mend the roof"], [PHONE, "a phone", "Mend the door"]]) test(`a session that Claude Code deletes is in the archive: listed, searched, read and resumed on ${device}`, async () => {
  const { id, file } = onDisk(title);
  const page = await at.visit({ ...size, path: "#/settings/archive" });
  const section = page.locator("#settings-archive");
  await section.getByText(/deletes sessions that did not change for 30 days/).waitFor();
  await button(section, "Archive all sessions now").click();
  await page.getByText(/\d+ sessions archived\./).waitFor();
  await section.getByText(/all of them still on disk/).waitFor();
  assert.deepEqual(await accessibility(page), []);

  rmSync(file);
  await page.reload();
  await section.getByText(/1 of them deleted by Claude Code/).waitFor();
  await button(section, "Show archived sessions").click();
  const card = page.locator(".disk-card", { hasText: title });
  await card.getByText("Archived copy").waitFor();
  await page.locator(".list-note").getByText(/copies sessions before Claude Code deletes them/).waitFor();
  assert.deepEqual(await accessibility(page), []);

  // It is found and read like any other.
  await page.goto(`${at.server.address}/#/history?q=Third%20answer`);
  await page.locator(".past-card.hit", { hasText: "archived copy" }).filter({ hasText: title }).first().click();
  await page.locator(".session-facts").getByText(/archived copy; Resume restores it/).waitFor();
  await page.locator(".answer").getByText("Third answer.").first().waitFor();
  assert.ok(!existsSync(file), "reading restores nothing");
  await button(page, "Resume").click();
  await page.waitForURL(/#\/s\//);
  await page.locator(".answer").getByText("Third answer.").waitFor();
  assert.ok(existsSync(file), "resuming restores it");
  assert.equal((await at.server.call("GET", "sessions")).items.at(-1).labels.resumed_from, id);
});

test("sessions on disk are renamed and deleted, many at once, and an open one leads to its session", async () => {
  const [one, two, kept] = ["Old one", "Old two", "Old and kept"].map(onDisk);
  const page = await at.visit();
  await page.locator(".disk-card", { hasText: "Old one" }).locator("time").waitFor();
  await act(page, "Old and kept", "Rename");
  await page.getByLabel("New title").fill("Worth keeping");
  await page.getByLabel("New title").press("Enter");
  await page.locator(".disk-card", { hasText: "Worth keeping" }).waitFor();
  const { items } = await at.server.call("GET", "transcripts?limit=1000");
  assert.equal(items.find((item) => item.id === kept.id).title, "Worth keeping");

  // Marks are the same on all devices, at once and later.
  const phone = await at.visit(PHONE);
  await phone.locator(".disk-card", { hasText: "Worth keeping" }).waitFor();
  assert.equal(await phone.getByRole("button", { name: /^Pinned/ }).count(), 0);
  await act(page, "Worth keeping", "Pin");
  for (const one of [page, phone]) await one.getByRole("button", { name: /^Pinned/ }).waitFor();
  await act(page, "Worth keeping", "Mark as read");
  await phone.locator(".card", { hasText: "Worth keeping" }).getByRole("img", { name: "Unread" }).waitFor({ state: "detached" });
  await act(page, "Worth keeping", "Mark as unread");
  await phone.locator(".card", { hasText: "Worth keeping" }).getByRole("img", { name: "Unread" }).waitFor();
  await act(page, "Old two", "Archive");
  await phone.locator(".disk-card", { hasText: "Old two" }).waitFor({ state: "detached" });
  await phone.reload();
  await phone.getByRole("button", { name: /^Pinned/ }).waitFor();
  await button(phone, "Archived").click();
  await phone.locator(".disk-card", { hasText: "Old two" }).waitFor();
  assert.deepEqual(await accessibility(phone), []);
  await act(page, "Worth keeping", "Unpin");
  await button(page, "Archived").click();
  await act(page, "Old two", "Unarchive");
  await button(page, "All").click();

  await act(page, "Old one", "Select");
  await page.getByLabel("Select Old two").check();
  await button(page, "Delete…").click();
  const dialog = page.getByRole("dialog", { name: "Delete 2 sessions?" });
  await dialog.getByText(/their transcripts are deleted.*cannot be undone/).waitFor();
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator(".disk-card", { hasText: "Old one" }).waitFor({ state: "detached" });
  assert.deepEqual([one, two, kept].map(({ file }) => existsSync(file)), [false, false, true]);

  // The refusal names the session that has it open.
  const session = await at.server.call("POST", "sessions", { cwd: at.server.project, resume: kept.id });
  await at.server.call("PATCH", `transcripts/${kept.id}`, { title: "No" }).then(
    () => assert.fail("it is open"),
    (error) => {
      assert.match(error.message, /409/);
      assert.ok(error.message.includes(`"session":"${session.key}"`), error.message);
    },
  );
});

test("every message forks the session: a prompt with the talk before it, an answer with all up to it", async () => {
  const { key } = await at.server.session("The first prompt", { title: "Fork me" });
  await at.server.until(key, (view) => view.state === "idle" && view.totals.turns === 1);
  await at.server.call("POST", `sessions/${key}/input`, { content: "Second prompt" });
  const original = await at.server.until(key, (view) => view.totals.turns === 2);
  const page = await at.visit({ path: `#/s/${key}` });
  const row = (kind, text) => page.locator(`.${kind}`, { hasText: text });
  const fork = async (within) => {
    await within.hover();
    await within.getByRole("button", { name: "Fork from here" }).click();
    await page.locator(".session-head .origin", { hasText: "Fork" }).waitFor();
  };
  await row("answer", "Another answer.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Fork from here" }).count(), 4);
  assert.deepEqual(await accessibility(page), []);

  await fork(row("answer", "The first answer."));
  await row("answer", "The first answer.").waitFor();
  assert.equal(await row("answer", "Another answer.").count(), 0);
  const field = page.getByLabel("Message to the agent");
  await field.fill("Go elsewhere");
  await field.press("Enter");
  await row("answer", "Another answer.").waitFor();

  await page.goto(`${at.server.address}/#/s/${key}`);
  await row("prompt", "Second prompt").waitFor();
  await fork(row("prompt", "Second prompt"));
  await row("answer", "The first answer.").waitFor();
  await page.waitForFunction(() => document.querySelector(".composer textarea").value === "Second prompt");
  assert.equal(await row("prompt", "Second prompt").count(), 0);

  // Nothing comes before the first prompt: its text begins a new session.
  await page.goto(`${at.server.address}/#/s/${key}`);
  const first = row("prompt", "The first prompt");
  await first.hover();
  await first.getByRole("button", { name: "Fork from here" }).click();
  await page.getByRole("heading", { name: "New session" }).waitFor();
  assert.equal(await page.getByLabel("First prompt").inputValue(), "The first prompt");
  page.wrong = page.wrong.filter((line) => !/ 400 /.test(line));

  // The same in a transcript.
  await page.goto(`${at.server.address}/#/history/${original.cli_session_ids.at(-1)}`);
  await row("prompt", "The first prompt").locator("time").waitFor();
  await button(page, "Outline of prompts").click();
  await page.locator(".outline li").nth(1).waitFor();
  assert.deepEqual(await accessibility(page), []);
  await page.locator(".outline").getByText("Second prompt").click();
  await button(page, "Start of the session").click();
  await fork(row("answer", "The first answer."));
});
