// The page with the real CLI, which uses a script instead of a model. `e2e/install.sh` downloads the CLI.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { allow, button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
when = { last_contains = "Make a file" }
repeat = true
optional = true

[[turn.block]]
text = "I will **write** a file."

[[turn.block]]
tool = "Bash"
input = { command = "echo it-was-made | tee made.txt", description = "Write a file" }

[[turn]]
when = { last_contains = "it-was-made" }
repeat = true
optional = true
text = "It is written."

[[turn]]
when = { last_contains = "Write a note" }
repeat = true
optional = true

[[turn.block]]
tool = "Write"
input = { file_path = "note.txt", content = "one\\ntwo\\n" }

[[turn]]
when = { last_contains = "note.txt" }
repeat = true
optional = true
text = "The note is there."

[[turn]]
when = { last_contains = "Count the third", contains = "Count the first", lacks = "Count the second" }
repeat = true
optional = true
text = "I know the first, and not the second."

[[turn]]
when = { last_contains = "Count the" }
repeat = true
optional = true
text = "Counted."

[[turn]]
when = { last_contains = "Leave it" }
repeat = true
optional = true
text = "Then not."
`;

const at = stage({ script: SCRIPT, real: true });

async function asked() {
  const page = await at.visit();
  const one = await at.server.session("Make a file");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Run this command?" }).waitFor({ timeout: 90_000 });
  assert.equal(await page.locator(".needs-you pre").first().innerText(), "echo it-was-made | tee made.txt");
  return page;
}

test("the real CLI receives a denial with its reason", async () => {
  const page = await asked();
  await button(page, "Deny…").click();
  await page.getByLabel("What should it do instead?").fill("Leave it");
  await button(page, "Deny").click();
  await page.locator(".answer").getByText("Then not.").waitFor({ timeout: 60_000 });
  assert.ok(!existsSync(join(at.server.project, "made.txt")));
});

test("the real CLI runs what was allowed on the page", async () => {
  const page = await asked();
  await allow(page);
  await page.locator(".answer").getByText("It is written.").waitFor({ timeout: 60_000 });
  assert.ok(existsSync(join(at.server.project, "made.txt")));
  assert.match(await page.locator(".tool[data-tool=Bash] .output").innerText(), /it-was-made/);
});

test("the real CLI continues a fork from a message, and knows only what came before it", async () => {
  const page = await at.visit(PHONE);
  const one = await at.server.session("Count the first", { title: "To be forked" });
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 1, 90_000);
  await at.server.call("POST", `sessions/${one.key}/input`, { content: "Count the second" });
  await at.server.until(one.key, (view) => view.state === "idle" && view.totals.turns === 2, 90_000);
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  const answers = page.locator(".answer");
  await answers.nth(1).waitFor();
  await answers.first().getByRole("button", { name: "Fork from here" }).click();
  await page.waitForURL((url) => url.hash.startsWith("#/s/") && !url.hash.includes(one.key));
  await page.locator(".prompt", { hasText: "the first" }).waitFor();
  assert.equal(await page.locator(".prompt", { hasText: "the second" }).count(), 0);
  await page.getByLabel("Message to the agent").fill("Count the third");
  await button(page, "Send").click();
  await answers.getByText("I know the first, and not the second.").waitFor({ timeout: 90_000 });
  const [fork] = (await at.server.call("GET", "sessions")).items.filter(({ labels }) => labels.forked_from !== undefined);
  assert.notEqual(fork.cli_session_ids.at(-1), (await at.server.call("GET", `sessions/${one.key}`)).cli_session_ids.at(-1));
  assert.deepEqual(await accessibility(page), []);
});

test("files are rewound after a preview", async () => {
  const note = join(at.server.project, "note.txt");
  const page = await at.visit();
  const one = await at.server.session("Write a note");
  await page.goto(`${at.server.address}/#/s/${one.key}`);
  await page.getByRole("heading", { name: "Write this file?" }).waitFor({ timeout: 90_000 });
  await allow(page);
  await page.locator(".answer").getByText("The note is there.").waitFor({ timeout: 60_000 });
  await page.locator(".session .state.idle").waitFor({ timeout: 60_000 });
  assert.ok(existsSync(note));

  await page.locator(".menu summary").click();
  await page.getByRole("button", { name: "Rewind…" }).click();
  await page.locator(".rewind .option").filter({ hasText: "Write a note" }).click();
  const preview = page.getByRole("region", { name: "Preview of the changes" });
  await preview.waitFor({ timeout: 60_000 });
  assert.match(await preview.innerText(), /1 file\s+\+0 −2\s+note\.txt/);
  assert.ok(existsSync(note), "a look changes nothing");
  assert.deepEqual(await accessibility(page), []);
  await button(page, "Rewind 1 file").click();
  await page.getByText("Files were rewound").waitFor({ timeout: 60_000 });
  assert.ok(!existsSync(note));
});
