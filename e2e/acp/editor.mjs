// The official TypeScript SDK of the Agent Client Protocol as an editor.
//
// `node editor.mjs CASE PROGRAM ARGS…` starts an agent, plays one case and prints what it saw as JSON. It exits
// with 0 if the agent did what the protocol says.
// The SDK checks every message of the agent against the protocol's schema.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const [name, program, ...args] = process.argv.slice(2);
const cwd = process.cwd();
const seen = { updates: [], asked: [] };
let answer = "allow_once";
// Resolved when the agent asks, so that a case can act while a request is pending.
let whenAsked = () => {};

const text = () =>
  seen.updates
    .filter((update) => update.sessionUpdate === "agent_message_chunk")
    .map((update) => update.content.text)
    .join("");

function chosen(options) {
  const kinds = answer === "allow_once" ? ["allow_once"] : ["reject_once"];
  return options.find((option) => kinds.includes(option.kind)).optionId;
}

const editor = client({ name: "tidings-e2e" })
  .onRequest(methods.client.session.requestPermission, async ({ params }) => {
    seen.asked.push(params);
    await whenAsked(params);
    if (answer === "cancelled") return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: chosen(params.options) } };
  })
  .onRequest(methods.client.elicitation.create, ({ params }) => {
    seen.asked.push(params);
    return { action: "accept", content: { question_0: "Blue" } };
  })
  .onNotification(methods.client.session.update, ({ params }) => {
    seen.updates.push(params.update);
  });

const initialize = (agent) =>
  agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "tidings-e2e", version: "1" },
    clientCapabilities: { elicitation: { form: {} } },
  });

const open = async (agent) => (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;

/** A response, and the updates before it: the SDK calls their handlers later if it read all of it at once. */
async function withUpdates(response) {
  const result = await response;
  await new Promise(setImmediate);
  return result;
}

const prompt = (agent, sessionId, words) =>
  withUpdates(agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] }));

/** A tool that is asked about, its output, and the answer after it. */
async function noted(agent) {
  const about = await initialize(agent);
  assert.equal(about.protocolVersion, PROTOCOL_VERSION);
  const sessionId = await open(agent);
  const ended = await prompt(agent, sessionId, "note it");
  assert.equal(ended.stopReason, "end_turn");
  assert.equal(seen.asked.length, 1);
  assert.match(text(), /It is noted/);
  const calls = seen.updates.filter((update) => update.sessionUpdate === "tool_call_update");
  assert.ok(calls.some((update) => update.status === "completed"));
  seen.prompt = { updates: [...seen.updates], asked: [...seen.asked] };
  return sessionId;
}

const cases = {
  prompt: noted,

  // The same, and then the session is listed and loaded.
  async talk(agent) {
    const sessionId = await noted(agent);
    const { sessions } = await agent.request(methods.agent.session.list, { cwd });
    assert.ok(sessions.some((session) => session.sessionId === sessionId));
    seen.updates.length = 0;
    await withUpdates(agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] }));
    assert.match(text(), /It is noted/, "load replays before it answers");
    assert.ok(seen.updates.some((update) => update.sessionUpdate === "user_message_chunk"));
  },

  // The turn is cancelled while its request is pending; the next prompt has its own answer.
  async cancel(agent) {
    await initialize(agent);
    const sessionId = await open(agent);
    answer = "cancelled";
    whenAsked = () => agent.notify(methods.agent.session.cancel, { sessionId });
    const ended = await prompt(agent, sessionId, "note it");
    assert.equal(ended.stopReason, "cancelled");
    seen.updates.length = 0;
    const again = await prompt(agent, sessionId, "and again");
    assert.equal(again.stopReason, "end_turn");
    assert.match(text(), /As I said/);
  },

  // The request stays pending until the test has restarted the server; the answer comes from elsewhere.
  async restart(agent) {
    await initialize(agent);
    const sessionId = await open(agent);
    whenAsked = () => {
      console.log(JSON.stringify({ asked: sessionId }));
      return new Promise(() => {});
    };
    const ended = await prompt(agent, sessionId, "note it");
    assert.equal(ended.stopReason, "end_turn");
    assert.equal(seen.asked.length, 1, "it is asked once");
    assert.match(text(), /^I will \*\*note\*\* it\.It is noted\.$/, "each delta once, in order");
  },
};

const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
await editor.connectWith(stream, cases[name]);
console.log(JSON.stringify(seen));
child.stdin.end();
child.kill();
process.exit(0);
