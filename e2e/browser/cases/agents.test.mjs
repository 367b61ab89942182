// Agents other than Claude Code: choosing one, its conversation, models, requests, past sessions and its end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, accessibility } from "../lib/browser.mjs";
import { until } from "../lib/fleet.mjs";
import { allow, button, picture, settle, stage } from "../lib/setup.mjs";

const CLAUDE = `
[[turn]]
repeat = true
text = "This is Claude Code."
`;

const SAMPLE = `
sessions = [
  { sessionId = "own-7", cwd = "{project}", title = "Mend the roof", updatedAt = "2026-11-01T10:00:00Z" },
  { sessionId = "own-8", cwd = "/nowhere", title = "A folder that is gone" },
]
history = [
  { sessionUpdate = "user_message_chunk", content = { type = "text", text = "What about the roof?" } },
  { sessionUpdate = "agent_message_chunk", content = { type = "text", text = "It is mended." } },
]

[session]
configOptions = [
  { id = "model", name = "Model", category = "model", type = "select", currentValue = "small", options = [
    { value = "small", name = "Small one", description = "Quick" },
    { value = "large", name = "Large one", description = "Thorough" },
  ] },
  { id = "effort", name = "Effort", description = "How long it thinks", category = "thought_level", type = "select", currentValue = "low", options = [
    { value = "low", name = "Low" },
    { value = "high", name = "High" },
  ] },
  { id = "sandbox", name = "Sandbox", type = "boolean", currentValue = true },
]

[session.modes]
currentModeId = "build"
availableModes = [{ id = "build", name = "Build" }, { id = "plan", name = "Plan" }]

[[turn]]
when = "rename"
steps = [
  { thought = "A rename." },
  { text = "I rename the total." },
  { update = { sessionUpdate = "tool_call", toolCallId = "e1", title = "Edit shop.py", kind = "edit", status = "completed", locations = [{ path = "{project}/shop.py" }], content = [{ type = "diff", path = "{project}/shop.py", oldText = "total = 0\\n", newText = "amount = 0\\n" }] } },
  { request = { method = "session/request_permission", params = { toolCall = { toolCallId = "c1", title = "Test", kind = "execute", rawInput = { command = "make test" } }, options = [
    { optionId = "yes", name = "Yes", kind = "allow_once" },
    { optionId = "no", name = "No", kind = "reject_once" },
  ] } } },
  { update = { sessionUpdate = "tool_call_update", toolCallId = "c1", status = "completed", rawOutput = { output = "12 passed" } } },
  { text = "It is renamed." },
]

[[turn]]
when = "fail"
steps = [{ text = "Half an answer" }, { stderr = "out of ideas" }, { exit = 7 }]

[[turn]]
when = "hello"
steps = [{ text = "Hello again." }]

[[turn]]
when = "options"
steps = [
  { text = "Options: {options}" },
  { update = { sessionUpdate = "config_option_update", configOptions = [
    { id = "effort", name = "Effort", category = "thought_level", type = "select", currentValue = "max", options = [{ value = "max", name = "Max" }] },
  ] } },
  { text = " and now one." },
]
`;

const PLAIN = `
[initialize]
agentCapabilities = { loadSession = true }

[[turn]]
steps = [{ text = "I have no models." }]
`;

const at = stage({ script: CLAUDE, agents: { sample: SAMPLE, plain: PLAIN } });

/** Opens the form for a new session with an agent. */
async function choose(page, agent) {
  await page.goto(`${at.server.address}/#/new`);
  await page.getByLabel("Folder").fill(at.server.project);
  await page.getByLabel("Agent").selectOption(agent);
}

async function prompt(page, text) {
  await page.getByLabel("Message to the agent").fill(text);
  await page.getByLabel("Message to the agent").press("Enter");
}

const newest = async () => (await at.server.call("GET", "sessions")).items.at(-1);

test("another agent is chosen, asks, shows its change, is given another model, and its end has its name", async () => {
  const page = await at.visit();
  await choose(page, "sample");
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "agent-new");
  await page.getByLabel("First prompt").fill("rename the total");
  await page.getByLabel("First prompt").press("Enter");
  const card = page.getByRole("region", { name: /Permission/ });
  await card.getByText("make test").first().waitFor();
  assert.equal(await button(page, "Edit…").count(), 0, "the agent takes no changed input");
  await page.locator(".answer").getByText("I rename the total.").waitFor();
  await picture(page, "agent-asks");
  await allow(page);
  await page.locator(".answer").getByText("It is renamed.").waitFor();
  const edit = page.getByText("shop.py").first();
  await edit.waitFor();
  assert.equal((await newest()).backend, "sample");

  const model = page.getByLabel("Model");
  assert.deepEqual(await model.locator("option").evaluateAll((all) => all.map((one) => one.value)), ["small", "large"], "its own models, and no default to return to");
  assert.equal(await model.inputValue(), "small");
  const modes = await page.getByLabel("Permission mode").locator("option").evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(modes.toSorted(), ["default", "plan"], "its own modes");
  await model.selectOption("large");
  await page.waitForFunction(() => document.querySelector("select[aria-label=Model]")?.value === "large");
  await prompt(page, "hello");
  await page.locator(".answer").getByText("Hello again.").waitFor();
  assert.equal((await newest()).model, "large");
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "agent-model");

  await prompt(page, "fail now");
  await page.getByText("This session has failed.").waitFor();
  await picture(page, "agent-ended");
  assert.equal(await page.locator(".note.error").getByText("sample ended with exit code 7: out of ideas").count(), 1, "told once");
  assert.doesNotMatch(await page.locator("main").innerText(), /Claude/, "no word of Claude Code");
});

test("options of another agent are set by devices that may, and follow the agent", async () => {
  const page = await at.visit();
  await choose(page, "sample");
  await page.getByLabel("First prompt").fill("hello");
  await page.getByLabel("First prompt").press("Enter");
  await page.locator(".answer").getByText("Hello again.").waitFor();
  const effort = page.getByLabel("Effort");
  await effort.waitFor();
  assert.equal(await effort.inputValue(), "low");
  await effort.selectOption("high");
  await page.getByLabel("Sandbox").selectOption("Off");
  const { key } = await newest();
  const values = async () => Object.fromEntries((await at.server.call("GET", `sessions/${key}/models`)).options.map((option) => [option.id, option.value]));
  await until(async () => JSON.stringify(await values()) === JSON.stringify({ effort: "high", sandbox: "false" }));
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "agent-options");

  // A device without the scope sees the sandbox, and may set the effort.
  const other = await at.visit({ path: `#/s/${key}`, scopes: ["read", "prompt"] });
  await other.getByLabel("Effort").waitFor();
  assert.equal(await other.getByLabel("Effort").inputValue(), "high", "as it is now");
  assert.equal(await other.getByLabel("Effort").isDisabled(), false);
  assert.equal(await other.getByLabel("Sandbox").isDisabled(), true);

  await prompt(page, "options");
  await page.locator(".answer").getByText('"effort":"high"').waitFor();
  for (const one of [page, other]) {
    await one.waitForFunction(() => document.querySelector("select[aria-label=Effort]")?.value === "max");
    assert.equal(await one.getByLabel("Sandbox").count(), 0, "the agent has taken it away");
  }
});

test("an agent without models shows none, also in the sheet of a phone", async () => {
  const page = await at.visit(PHONE);
  await choose(page, "plain");
  assert.equal(await page.getByLabel("Model").count(), 0, "unknown before its first start");
  await page.getByLabel("First prompt").fill("hi");
  await button(page, "Start").click();
  await page.locator(".answer").getByText("I have no models.").waitFor();
  await button(page, "Model and mode").click();
  await page.getByRole("dialog", { name: "Model and mode" }).getByText("Cost").waitFor();
  assert.equal(await page.getByLabel("Model", { exact: true }).count(), 0);
  assert.equal(await page.locator(".sheet-setting").filter({ visible: true }).count(), 0, "no name without a setting");
  await picture(page, "phone-agent-sheet");
});

test("past sessions of another agent are listed on demand, and resumed with their conversation", async () => {
  const page = await at.visit();
  await choose(page, "plain");
  await button(page, "List its sessions").click();
  await page.getByRole("alert").getByText("does not list its sessions").waitFor();
  page.wrong = page.wrong.filter((line) => !line.includes("409"));
  await choose(page, "sample");
  await button(page, "List its sessions").click();
  await button(page, "Resume Mend the roof").waitFor();
  assert.equal(await page.getByText("A folder that is gone").count(), 0);
  await settle(page);
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "agent-past");
  await button(page, "Resume Mend the roof").click();
  await page.locator(".answer").getByText("It is mended.").waitFor();
  await page.getByText("What about the roof?").first().waitFor();
  assert.deepEqual((await newest()).cli_session_ids, ["own-7"]);
  await prompt(page, "hello");
  await page.locator(".answer").getByText("Hello again.").waitFor();
  assert.equal(await page.locator(".answer").getByText("It is mended.").count(), 1, "the conversation is shown once");
  await choose(page, "sample");
  await button(page, "List its sessions").click();
  await button(page, "Open Mend the roof").click();
  await page.locator(".answer").getByText("It is mended.").waitFor();
});
