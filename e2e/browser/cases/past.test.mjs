// Resuming sessions on disk: as a fork, from another branch, compacted.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { accessibility } from "../lib/browser.mjs";
import { pastSessions } from "../lib/past.mjs";
import { button, stage } from "../lib/setup.mjs";

const SCRIPT = `
[[turn]]
repeat = true
text = "The copy goes on."
`;

const root = pastSessions();
after(() => rmSync(root, { recursive: true }));
const at = stage({ root, script: SCRIPT });

const files = () => readdirSync(join(root, "projects"), { recursive: true }).filter((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name));
const read = (name) => readFileSync(join(root, "projects", name), "utf8");

/** The recorded session with three turns, moved to the project's folder. */
function threeTurns() {
  const recorded = files().find((name) => read(name).includes("Third answer."));
  const id = randomUUID();
  const was = recorded.split("/").pop().replace(".jsonl", "");
  const folder = join(root, "projects", at.server.project.replaceAll(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  writeFileSync(path, read(recorded).replaceAll(was, id).replaceAll("/home/dev/demo", at.server.project));
  return { id, path };
}

/** A session of 600 turns: more than the page loads at first. */
function longSession() {
  const { id, path } = threeTurns();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const said = lines.find((line) => line.type === "user" && line.message?.content === "two");
  const replied = lines.find((line) => line.parentUuid === said.uuid);
  let parentUuid = lines.filter(({ uuid }) => uuid !== undefined).at(-1).uuid;
  const more = Array.from({ length: 600 }, (_, at) => {
    const [prompt, answer] = [randomUUID(), randomUUID()];
    const time = { timestamp: new Date(Date.parse(said.timestamp) + at * 1000).toISOString() };
    const both = [
      { ...said, ...time, uuid: prompt, parentUuid, message: { role: "user", content: `Prompt ${at + 1}` } },
      { ...replied, ...time, uuid: answer, parentUuid: prompt, message: { ...replied.message, id: `msg_${at}`, content: [{ type: "text", text: `Answer ${at + 1}.` }] } },
    ];
    parentUuid = answer;
    return both;
  });
  writeFileSync(path, `${[...lines, ...more.flat()].map((line) => JSON.stringify(line)).join("\n")}\n`);
  return { id };
}

test("a session continues in a fork, and stays unchanged", async () => {
  const { id, path } = threeTurns();
  const before = readFileSync(path, "utf8");
  const page = await at.visit({ path: `#/history/${id}` });
  await page.locator(".answer").getByText("Third answer.").waitFor();
  await page.getByRole("link", { name: "Fork", exact: true }).click();
  assert.equal(await page.getByLabel("Folder").inputValue(), at.server.project);
  assert.ok(await page.getByLabel("Fork: continue in a copy, so that the session stays as it is").isChecked());
  await page.getByLabel("Next prompt").fill("Go on from there");
  await button(page, "Fork").click();
  await page.locator(".answer").getByText("The copy goes on.").waitFor();
  assert.deepEqual(await page.locator(".prompt-text").allInnerTexts(), ["one", "two", "three", "Go on from there"]);
  assert.equal(readFileSync(path, "utf8"), before);
  const [session] = (await at.server.call("GET", "sessions")).items;
  assert.notEqual(session.cli_session_ids.at(-1), id);

  // A note shows the compaction.
  await page.locator(".menu summary").click();
  await page.getByRole("button", { name: "Compact" }).click();
  await page.locator(".mark-line").getByText("The conversation was compacted on request").waitFor();
});

test("a message of a session on disk has a time and a link, which leads there on its branch, also if it is not loaded", async () => {
  const { id } = longSession();
  const page = await at.visit({ path: `#/history/${id}` });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator(".answer").getByText("Answer 600.").waitFor();
  await button(page, "Start of the session").click();
  const answer = page.locator(".answer", { hasText: "Answer 2." });
  await answer.hover();
  assert.match(await answer.locator("time").innerText(), /\d/);
  await button(answer, "Copy link").click();
  await page.locator(".toast").getByText("The link to this message was copied.").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /\/history\/.*message=/);

  await page.goto("about:blank");
  await page.goto(link);
  const shown = page.locator(".row.found", { hasText: "Answer 2." });
  await shown.waitFor();
  assert.ok(await shown.isVisible());
  await page.goto(`${at.server.address}/#/history/${id}?message=nothing`);
  await page.locator(".toast").getByText("The message of this link is not in the session").waitFor();
});

test("the branches of a session can be selected", async () => {
  // Another prompt after the first answer creates a branch.
  const { id, path } = threeTurns();
  const whole = readFileSync(path, "utf8").trimEnd();
  const lines = whole.split("\n").map((line) => JSON.parse(line));
  const said = lines.find((line) => line.type === "user" && line.message?.content === "two");
  const replied = lines.find((line) => line.parentUuid === said.uuid);
  const later = (line, more) => JSON.stringify({ ...line, timestamp: new Date(Date.parse(lines.at(-1).timestamp ?? said.timestamp) + 60_000).toISOString(), ...more });
  const [prompt, answer] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
  const branch = [
    later(said, { uuid: prompt, message: { role: "user", content: "another way" } }),
    later(replied, { uuid: answer, parentUuid: prompt, message: { ...replied.message, id: "msg_other", content: [{ type: "text", text: "The other answer." }] } }),
  ];
  writeFileSync(path, `${whole}\n${branch.join("\n")}\n`);

  const page = await at.visit({ path: `#/history/${id}` });
  await page.locator(".answer").getByText("The other answer.").waitFor();
  assert.deepEqual(await page.locator(".prompt-text").allInnerTexts(), ["one", "another way"]);
  assert.deepEqual(await accessibility(page), []);
  const choice = page.getByLabel("Branch");
  const labels = await choice.locator("option").allInnerTexts();
  assert.equal(labels.length, 3, labels.join(" | "));
  const first = await choice.locator("option", { hasText: "two" }).getAttribute("value");
  await choice.selectOption(first);
  await page.locator(".answer").getByText("Third answer.").waitFor();
  assert.deepEqual(await page.locator(".prompt-text").allInnerTexts(), ["one", "two", "three"]);
});
