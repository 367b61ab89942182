// Two servers of a fleet on one page: projects that both have, and the server of a new session.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { OtherServer, until } from "../lib/fleet.mjs";
import { stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
repeat = true
text = "It is done."
`;

const other = new OtherServer();
const at = stage({
  script: SCRIPT,
  prepare: async (server) => {
    await other.start(SCRIPT);
    await other.invite(server);
  },
  begin: (server) => other.hears(server),
});
after(() => other.stop());

function repository(folder, url) {
  execFileSync("git", ["init", "--quiet", folder]);
  execFileSync("git", ["-C", folder, "remote", "add", "origin", url]);
}

test("copies of a repository on two servers are one project, and cards name the other server", async () => {
  repository(at.server.project, "git@example.com:acme/shop.git");
  repository(other.server.project, "https://ada:s3cret@example.com/acme/shop");
  await at.server.session("Hello one");
  await other.server.session("Hello two");
  const sessions = async () => (await at.server.call("GET", "sessions?limit=10")).items;
  await until(async () => (await sessions()).filter(({ project }) => project === "example.com/acme/shop").length === 2);
  assert.ok(!JSON.stringify(await sessions()).includes("s3cret"), "credentials stay on their server");
  const page = await at.visit();
  const group = page.locator(".group");
  await group.getByText("Hello two").waitFor();
  assert.equal(await group.count(), 1);
  assert.match(await group.locator(".group-name").innerText(), /^\s*shop\s+2\s*$/);
  assert.equal(await group.locator(".group-name").getAttribute("title"), "example.com/acme/shop");
  const card = (text) => group.locator("li", { hasText: text });
  await card("Hello two").getByTitle("Runs on the server two").waitFor();
  assert.equal(await card("Hello one").getByTitle(/Runs on the server/).count(), 0);
  assert.deepEqual(await accessibility(page), []);
});

test("the server of a new session is chosen on the page", async () => {
  // The browser is an admin here, and has the rights of this server on the other one.
  const page = await at.visit();
  await page.keyboard.press("Alt+n");
  await page.getByRole("heading", { name: "New session" }).waitFor();
  await page.getByLabel("Folder").fill(other.server.project);
  const servers = page.getByLabel("Server", { exact: true });
  await servers.selectOption("two");
  assert.deepEqual(await accessibility(page), []);
  const prompt = page.getByLabel("First prompt");
  await prompt.fill("Sweep the yard of two");
  await prompt.press("Enter");
  await page.locator(".prompt", { hasText: "Sweep the yard of two" }).waitFor();
  const started = async (server) => (await server.call("GET", "sessions?limit=10")).items.find(({ first_prompt }) => first_prompt === "Sweep the yard of two");
  await until(async () => (await started(at.server)) !== undefined);
  assert.equal((await started(at.server)).node, "two");
  assert.equal((await started(other.server)).node, undefined, "it runs there");
});
