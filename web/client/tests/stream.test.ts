// Streams: their messages, and how they connect again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SseDecoder } from "../src/sse.ts";
import type { SseMessage } from "../src/sse.ts";
import { CURSORS, Replay, SESSION } from "./replay.ts";

test("messages are found wherever the stream was cut", () => {
  const whole = ': \nid: e:1\n\nid: e:2\nevent: TextChunk\ndata: {"a":\ndata: 1}\n\nretry: 7\n\n';
  for (let cut = 0; cut < whole.length; cut += 1) {
    const decoder = new SseDecoder();
    const messages: SseMessage[] = [];
    for (const part of [whole.slice(0, cut), whole.slice(cut)]) {
      assert.ok(decoder.add(part));
      for (let message = decoder.take(); message !== undefined; message = decoder.take()) messages.push(message);
    }
    assert.deepEqual(messages, [
      { name: "", id: "e:1", data: "" },
      { name: "TextChunk", id: "e:2", data: '{"a":\n1}' },
      { name: "", id: undefined, data: "" },
    ]);
  }
});

test("a stream that falls silent is connected again", async (context) => {
  const replay = await Replay.start(context);
  const lost: string[] = [];
  for await (const update of replay.client({ silenceMaxMs: 30 }).session(SESSION).events(CURSORS.at(-1))) {
    if (update.type === "lost") lost.push(update.error.message);
    else if (lost.length > 0) break;
  }
  assert.match(lost[0] ?? "", /sends nothing/);
});

test("reconnects slow down while a server sends only problems", async (context) => {
  const times: number[] = [];
  const replay = await Replay.start(context, (_, response) => {
    times.push(performance.now());
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(times.length < 5 ? "event: problem\ndata: {}\n\n" : 'event: resync\ndata: {"reason":"deleted"}\n\n');
    return true;
  });
  const session = replay.client({ pauseFirstMs: 10, pauseMaxMs: 40 }).session(SESSION);
  for await (const update of session.events()) assert.notEqual(update.type, "event");
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // A timer may be a millisecond early.
  assert.ok(gaps.every((gap, index) => gap >= [9, 19, 39, 39][index]!), `${gaps}`);
});

test("a deleted session has no events", async (context) => {
  const replay = await Replay.start(context, (_, response) => {
    response.writeHead(404, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ code: "not_found", status: 404, title: "", detail: "No such session", hint: "", retryable: false }));
    return true;
  });
  const updates = [];
  for await (const update of replay.client().session("none").events()) updates.push(update);
  assert.deepEqual(updates, []);
});

test("a signal ends an iteration with its reason", async (context) => {
  const replay = await Replay.start(context);
  const controller = new AbortController();
  const seen: string[] = [];
  const reading = (async () => {
    for await (const update of replay.client().session(SESSION).events(undefined, { signal: controller.signal })) {
      seen.push(update.type);
      if (seen.length === 3) setTimeout(() => controller.abort(new Error("enough")), 5);
    }
  })();
  await assert.rejects(reading, { message: "enough" });
  assert.equal(seen[0], "subscribed");
});
