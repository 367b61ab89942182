// The working tree of a session: files, changes, commits and worktrees.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { asksAndSays, button, picture, settle, stage } from "../lib/setup.mjs";

const DAILY = ["read", "prompt", "decide", "edit", "always"];

const git = (folder, ...args) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { cwd: folder, encoding: "utf8" }).trim();

/** A source file, as it was and as it is after the change. */
const tides = (period) => `/** Hours from one high tide to the next. */
const PERIOD = ${period};

export type Phase = "rising" | "falling";

/** Hours since the last high tide. */
export function tide(hours: number): number {
  return hours % PERIOD;
}

export function phase(hours: number): Phase {
  return tide(hours) < PERIOD / 2 ? "falling" : "rising";
}

export function nextHigh(hours: number): number {
  return hours + PERIOD - tide(hours);
}
`;

/** A repository with a file of credentials, a link, and a user who may commit. */
function prepare(server) {
  writeFileSync(join(server.folder, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  const at = (name) => join(server.project, name);
  mkdirSync(at("src"));
  writeFileSync(at("src/tide.ts"), tides("12"));
  writeFileSync(at("README.md"), "# Tides\n");
  writeFileSync(at(".env"), "KEY=1\n");
  symlinkSync("/etc", at("outside"));
  git(server.project, "init", "-q", "-b", "main");
  git(server.project, "add", "-A");
  git(server.project, "commit", "-q", "-m", "Begin");
}

const SAID = "The moon comes back after 24 hours and 50 minutes, so two high tides are **12.42** hours apart. `tide`, `phase` and `nextHigh` count with it now, and the tests pass.";
const at = stage({ script: asksAndSays("make", SAID), begin: prepare });

async function pictures(page, name) {
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await settle(page);
    await picture(page, `${name}-${colorScheme}`);
  }
}

/** A session that has changed some files. */
async function changed(name) {
  const session = await at.server.session("The tide tables drift by an hour every day. Please find out why.", { title: name });
  await at.server.until(session.key, (view) => view.totals.turns === 1);
  writeFileSync(join(session.cwd, "src/tide.ts"), tides("12.42"));
  writeFileSync(join(session.cwd, "notes.txt"), "The moon.\n");
  return session;
}

test("files of the project are browsed, and neither links nor credentials are opened", async () => {
  const session = await changed("Correct the tide tables");
  const page = await at.visit({ path: `#/s/${session.key}`, scopes: DAILY });
  await button(page, "Files").click();
  const panel = page.getByRole("complementary", { name: "Files" });
  await panel.getByRole("button", { name: /^src/ }).click();
  await panel.getByRole("button", { name: /^tide\.ts/ }).click();
  await panel.locator(".file-text .hl-keyword, .file-text [class*=keyword]").first().waitFor();
  assert.match(await panel.locator(".file-text").innerText(), /PERIOD = 12\.42/);
  await pictures(page, "desk-files");
  assert.deepEqual(await accessibility(page), []);
  await panel.getByRole("button", { name: "Project" }).click();
  assert.ok(await panel.getByRole("button", { name: /outside/ }).isDisabled());
  assert.ok(await panel.getByRole("button", { name: /^\.env/ }).isDisabled());
  await panel.getByRole("searchbox", { name: "Find a file" }).fill("tide");
  await panel.getByRole("button", { name: "src/tide.ts" }).click();
  await panel.locator(".file-text").waitFor();
});

test("changes are staged and committed, and stay visible since the session began", async () => {
  const session = await changed("Correct the tides");
  const page = await at.visit({ path: `#/s/${session.key}` });
  await button(page, "Changes in the working tree").click();
  const panel = page.getByRole("complementary", { name: "Changes" });
  await panel.getByRole("checkbox", { name: "Stage src/tide.ts" }).check();
  await panel.getByRole("checkbox", { name: "Stage notes.txt" }).check();
  await panel.getByLabel("Commit message").fill("Count the tides by the moon");
  await panel.locator("button:enabled", { hasText: "Commit 2 files" }).waitFor();
  await pictures(page, "desk-changes");
  assert.deepEqual(await accessibility(page), []);
  await panel.getByRole("button", { name: "Commit 2 files" }).click();
  await panel.getByText("No changes since the last commit.").waitFor();
  assert.equal(git(at.server.project, "log", "-1", "--format=%s by %an"), "Count the tides by the moon by Ada");
  await panel.getByRole("button", { name: "Since the session began" }).click();
  await panel.getByText("src/tide.ts").waitFor();
  await panel.getByText("notes.txt").waitFor();
});

test("on a phone files and changes are in the menu, and a read-only device cannot commit", async () => {
  const session = await changed("The phone");
  writeFileSync(join(session.cwd, "more.txt"), "More.\n");
  const page = await at.visit({ ...PHONE, path: `#/s/${session.key}`, scopes: ["read"] });
  await page.getByLabel("More", { exact: true }).click();
  await button(page, "Files").click();
  const files = page.getByRole("complementary", { name: "Files" });
  await files.getByRole("button", { name: /^README/ }).click();
  await files.getByText("# Tides").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await files.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("More", { exact: true }).click();
  await button(page, "Changed files").click();
  const changes = page.getByRole("complementary", { name: "Changes" });
  await changes.getByText("more.txt").waitFor();
  assert.equal(await changes.getByRole("checkbox").count(), 0);
  assert.equal(await changes.getByLabel("Commit message").count(), 0);
  assert.deepEqual(await accessibility(page), []);
});

test("a session gets a git worktree, which is removed after a clear confirmation", async () => {
  const page = await at.visit({ path: "#/new" });
  await page.getByRole("textbox", { name: "First prompt" }).fill("Say something");
  await page.getByLabel("Folder").first().fill(at.server.project);
  await page.getByRole("checkbox", { name: /git worktree/ }).check();
  await page.getByRole("textbox", { name: "Branch" }).fill("try/this");
  assert.deepEqual(await accessibility(page), []);
  await page.getByRole("textbox", { name: "Branch" }).press("Control+Enter");
  await page.locator(".session-head").getByText("try/this").waitFor();
  await page.locator(".talk").getByText("The moon comes back").waitFor();
  const folder = join(at.server.project, ".claude/worktrees/try-this");
  assert.ok(existsSync(join(folder, "src/tide.ts")));
  writeFileSync(join(folder, "notes.txt"), "Not committed.\n");
  const overview = page.getByRole("complementary", { name: "Overview" });
  await overview.getByRole("button", { name: "Remove the worktree…" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove the worktree?" });
  await dialog.getByText("1 file with changes").waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Remove" }).isDisabled());
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await dialog.getByRole("button", { name: "Keep it" }).click();
  assert.ok(existsSync(folder));
  await overview.getByRole("button", { name: "Remove the worktree…" }).click();
  await dialog.getByRole("checkbox").check();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await overview.getByText("Its branch still exists.").waitFor();
  assert.ok(!existsSync(folder));
  assert.notEqual(git(at.server.project, "rev-parse", "try/this"), "");
  // It goes with its session, too, unless something in it is not committed.
  const { key } = await at.server.session("Say something", { worktree: "try/that", title: "In a worktree" });
  const other = join(at.server.project, ".claude/worktrees/try-that");
  await at.server.until(key, (view) => view.state === "idle" && view.totals.turns === 1);
  writeFileSync(join(other, "draft.txt"), "Not committed.\n");
  await page.goto(`${at.server.address}/#/s/${key}`);
  const remove = async () => {
    await page.getByLabel("More", { exact: true }).click();
    await page.locator(".menu-items").getByText("Delete…").click();
    const question = page.getByRole("dialog", { name: "Delete 1 session?" });
    await question.getByRole("checkbox", { name: /Remove its git worktree too/ }).check();
    await settle(page);
    assert.deepEqual(await accessibility(page), []);
    await question.getByRole("button", { name: "Delete", exact: true }).click();
    await question.waitFor({ state: "detached" });
  };
  await remove();
  await page.locator(".toast.error").waitFor();
  assert.ok(existsSync(other));
  page.wrong = page.wrong.filter((line) => !/ 409 /.test(line));
  rmSync(join(other, "draft.txt"));
  await remove();
  await page.getByRole("heading", { name: "This session was deleted" }).waitFor();
  assert.ok(!existsSync(other));
});

test("p45 a session whose worktree was removed takes no prompts, and says why", async () => {
  const page = await at.visit();
  const { key } = await at.server.session("Say something", { worktree: "try/gone", title: "Gone" });
  await at.server.until(key, (view) => view.state === "idle" && view.totals.turns === 1);
  await page.goto(`${at.server.address}/#/s/${key}`);
  await page.getByLabel("Message to the agent").waitFor();
  await at.server.call("POST", `sessions/${key}/worktree/remove`, { discard: true });
  await page.locator(".composer.limited").getByText("Its git worktree was removed").waitFor();
  assert.equal(await page.getByLabel("Message to the agent").count(), 0);
  assert.deepEqual(await accessibility(page), []);
});
