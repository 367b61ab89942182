// The program of `src/main.rs` with the official TypeScript SDK: `node host.mjs CLAUDE SESSIONS`.

import { query } from "@anthropic-ai/claude-agent-sdk";

const [, , program, sessions] = process.argv;
let end;
const over = new Promise((resolve) => (end = resolve));

/** One prompt, and a session that stays open after it. */
async function* prompt() {
  yield { type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null, session_id: "" };
  await over;
}

async function read(number) {
  const options = { pathToClaudeCodeExecutable: program, includePartialMessages: true, settingSources: [] };
  const run = query({ prompt: prompt(), options });
  let [messages, deltas, letters] = [0, 0, 0];
  for (;;) {
    const { value: message, done } = await run.next();
    if (done) throw new Error("the session ended early");
    messages += 1;
    if (messages === 1 && number === 0) console.log("first");
    if (message.type === "stream_event" && message.event.type === "content_block_delta") {
      if (message.event.delta.type === "text_delta") {
        deltas += 1;
        letters += message.event.delta.text.length;
      }
    }
    if (message.type === "result") return [run, deltas, letters];
  }
}

const stories = await Promise.all(Array.from({ length: Number(sessions) }, (_, number) => read(number)));
console.log(`done ${stories.reduce((sum, [, deltas]) => sum + deltas, 0)} ${stories.reduce((sum, [, , letters]) => sum + letters, 0)}`);
process.stdin.once("data", async () => {
  end();
  for (const [run] of stories) for await (const _ of run);
  process.exit(0);
});
