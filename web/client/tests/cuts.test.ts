// Connections that are cut, at every byte of what the server sends.

import type { RequestUpdate } from "@tidings/client";
import assert from "node:assert/strict";
import { test } from "node:test";
import { CURSORS, forEach, Replay, SESSION } from "./replay.ts";

/** More than the server sends for the whole stream, with its head. */
const STREAM_BYTES = 6600;
/** Cursor near the end of the stream, and more than the server sends after it. */
const [AFTER, END_BYTES] = [CURSORS[20], 1350];
/** The same for the response to a command. */
const ANSWER_BYTES = 260;
const LANES = 8;

test("each event comes once and in order wherever the stream is cut", async (context) => {
  const replays = await Promise.all(Array.from({ length: LANES }, () => Replay.start(context)));
  const expected = CURSORS.slice(21);
  await forEach(END_BYTES, LANES, async (bytes, lane) => {
    const replay = replays[lane];
    assert.ok(replay);
    replay.bytesLeft = bytes;
    const cursors: string[] = [];
    for await (const update of replay.client().session(SESSION).events(AFTER)) {
      if (update.type === "event") cursors.push(update.cursor);
      if (cursors.length === expected.length) break;
    }
    assert.deepEqual(cursors, expected, `cut after ${bytes} bytes`);
  });
  const sent = replays.reduce((count, { requests }) => count + requests.length, 0);
  assert.ok(sent > 1.5 * END_BYTES, `most connections were cut, and made again: ${sent}`);
});

test("a long stream is put together from its parts", async (context) => {
  const replay = await Replay.start(context);
  for (let bytes = 0; bytes < STREAM_BYTES; bytes += 101) {
    replay.bytesLeft = bytes;
    const cursors: string[] = [];
    for await (const update of replay.client().session(SESSION).events()) {
      if (update.type === "event") cursors.push(update.cursor);
      if (cursors.length === CURSORS.length) break;
    }
    assert.deepEqual(cursors, CURSORS, `cut after ${bytes} bytes`);
  }
});

test("a prompt is delivered once wherever its response is cut", async (context) => {
  const path = `/v1/sessions/${SESSION}/input`;
  const replays = await Promise.all(Array.from({ length: LANES }, () => Replay.start(context)));
  let repeated = 0;
  await forEach(ANSWER_BYTES, LANES, async (bytes, lane) => {
    const replay = replays[lane];
    assert.ok(replay);
    const before = { effects: replay.effects(path), requests: replay.requests.length };
    replay.bytesLeft = bytes;
    const accepted = await replay.client().session(SESSION).prompt("Look around");
    assert.equal(accepted.seq, 1);
    assert.equal(replay.effects(path), before.effects + 1, `cut after ${bytes} bytes`);
    repeated += replay.requests.length - before.requests - 1;
    replay.bytesLeft = Infinity;
  });
  assert.ok(repeated > ANSWER_BYTES / 2, `the responses were cut: ${repeated}`);
});

test("the answer to a prompt is the same wherever a connection is cut", async (context) => {
  const replay = await Replay.start(context);
  for (let bytes = 0; bytes < STREAM_BYTES + 2 * ANSWER_BYTES; bytes += 149) {
    replay.bytesLeft = bytes;
    const { text, blocks } = await replay.client().session(SESSION).ask("Look around");
    assert.deepEqual([text, blocks.length], ["There is a README.", 1], `cut after ${bytes} bytes`);
  }
});

test("a request is reported once, and its end once, wherever a connection is cut", async (context) => {
  const replay = await Replay.start(context);
  for (let bytes = 0; bytes < 9500; bytes += 151) {
    replay.bytesLeft = bytes;
    const seen: RequestUpdate[] = [];
    for await (const update of replay.client().requests()) {
      if (update.type === "opened" || update.type === "settled") seen.push(update);
      if (update.type === "settled") break;
    }
    assert.deepEqual(seen.map(({ type }) => type), ["opened", "settled"], `cut after ${bytes} bytes`);
  }
});

test("events continue after a restart of the server", async (context) => {
  const replay = await Replay.start(context);
  const cursors: string[] = [];
  const lost: string[] = [];
  for await (const update of replay.client().session(SESSION).events(CURSORS[2])) {
    if (update.type === "lost") {
      lost.push(update.error.kind);
      await replay.listen();
    }
    if (update.type === "event") cursors.push(update.cursor);
    if (cursors.length === 4 && lost.length === 0) await replay.close();
    if (cursors.at(-1) === CURSORS.at(-1) && lost.length > 0) break;
  }
  assert.deepEqual(cursors, CURSORS.slice(3));
  assert.equal(lost.length, 1);
});

test("another iteration continues after the last event", async (context) => {
  const events = (await Replay.start(context)).client().session(SESSION).events();
  const cursors: string[] = [];
  while (cursors.length < CURSORS.length) {
    for await (const update of events) {
      if (update.type !== "event") continue;
      cursors.push(update.cursor);
      break;
    }
    assert.equal(events.cursor, cursors.at(-1));
  }
  assert.deepEqual(cursors, CURSORS);
});
