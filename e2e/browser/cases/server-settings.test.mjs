// Settings of the server: defaults of projects, trusted folders, the audit log in pages, and versions.

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { asksAndSays, button, stage } from "../lib/setup.mjs";

const at = stage({ script: asksAndSays("make", "It is done.") });

test("a project has a default model, mode and policy, with which the form begins", async () => {
  const page = await at.visit({ path: "#/settings/defaults" });
  const section = page.locator("#settings-defaults");
  await button(section, "Add a project").click();
  await section.getByLabel("Folder").fill(at.server.project);
  await section.getByLabel("Default permission mode").selectOption("plan");
  await section.getByLabel("Default policy").selectOption("standard");
  await section.getByLabel("Folder").press("Escape");
  assert.deepEqual(await accessibility(page), []);
  await button(section, "Save").click();
  await section.getByText("Plan mode, Standard rules").waitFor();
  assert.deepEqual((await at.server.call("GET", "policies")).items, [{ folder: at.server.project, policy: "standard" }], "one policy, also for terminals");

  const inner = join(at.server.project, "inner");
  mkdirSync(inner);
  await page.goto(`${at.server.address}/#/new?cwd=${encodeURIComponent(inner)}`);
  await page.getByText(/Begins with the defaults of/).waitFor();
  assert.deepEqual([await page.getByLabel("Permission mode").inputValue(), await page.getByLabel("Policy").inputValue()], ["plan", "standard"]);
  assert.deepEqual(await accessibility(page), []);
  // What the user chose stays, whatever the folder is.
  await page.getByLabel("Permission mode").selectOption("acceptEdits");
  await page.getByLabel("Folder").fill("/");
  await page.getByText(/Begins with the defaults of/).waitFor({ state: "detached" });
  assert.deepEqual([await page.getByLabel("Permission mode").inputValue(), await page.getByLabel("Policy").inputValue()], ["acceptEdits", "ask"]);

  await page.goto(`${at.server.address}/#/settings/defaults`);
  await button(section, `Remove ${at.server.project}`).click();
  await section.getByText("Plan mode, Standard rules").waitFor({ state: "detached" });
  assert.deepEqual((await at.server.call("GET", "policies")).items, []);
});

test("trusted folders are listed with their state, and trust is withdrawn, also from a folder that is gone", async () => {
  const folder = (name, command) => {
    const path = join(at.server.folder, name);
    mkdirSync(join(path, ".claude"), { recursive: true });
    writeFileSync(join(path, ".claude", "settings.json"), JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command }] }] } }));
    return path;
  };
  const trust = async (path) => at.server.call("POST", "trust", { folder: path, digest: (await at.server.call("GET", `trust?folder=${encodeURIComponent(path)}`)).digest });
  const [same, changed, gone] = ["same", "changed", "gone"].map((name) => folder(name, "make lint"));
  for (const path of [same, changed, gone]) await trust(path);
  folder("changed", "make other");
  rmSync(gone, { recursive: true });
  const page = await at.visit({ path: "#/settings/trust" });
  const list = page.getByRole("list", { name: "Trusted folders" });
  await list.getByText("changed since you trusted it").waitFor();
  await list.getByText("does not exist any more").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await button(list, `Trust again: ${changed}`).click();
  await list.getByText("changed since you trusted it").waitFor({ state: "detached" });
  await button(list, `Withdraw trust: ${gone}`).click();
  await list.getByText("does not exist any more").waitFor({ state: "detached" });
  await button(list, `Withdraw trust: ${same}`).click();
  await list.getByText(same, { exact: true }).waitFor({ state: "detached" });
  assert.deepEqual((await at.server.call("GET", "trust/folders")).items.map((one) => [one.folder, one.trusted]), [[changed, true]]);
});

test("the audit log comes in pages that the server filters, and versions are compared in words", async () => {
  // More decisions than one page has.
  for (let number = 0; number < 60; number += 1) await at.server.call("PUT", "policies", { folder: at.server.project, policy: number % 2 === 0 ? "deny" : "ask" });
  const page = await at.visit({ ...PHONE, path: "#/settings/audit" });
  const section = page.locator("#settings-audit");
  const lines = section.locator(".audit > li");
  await section.getByText("The newest 50 decisions").waitFor();
  assert.equal(await lines.count(), 50);
  await button(section, "Show earlier decisions").tap();
  await page.waitForFunction(() => document.querySelectorAll("#settings-audit .audit > li").length > 60);
  await section.getByLabel("Filter the audit log").fill('to "deny"');
  await section.getByText("30 decisions that fit").waitFor();
  await section.locator(".audit-tools select").selectOption({ index: 1 });
  await section.getByText(/that fit|No decision fits/).waitFor();
  assert.deepEqual(await accessibility(page), []);

  const about = page.locator("#settings-about");
  await page.goto(`${at.server.address}/#/settings/about`);
  await about.getByText(/Claude Code \d+\.\d+\.\d+; compared with 2\.1\.197/).waitFor();
  // The last section comes into view, and the page stays where it is.
  await page.waitForFunction(() => document.querySelector(".sheet").scrollTop > 0);
  assert.deepEqual(await page.evaluate(() => [document.documentElement, document.body, document.querySelector(".page")].map((one) => one.scrollTop)), [0, 0, 0]);
});
