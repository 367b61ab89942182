// Attachments: the server accepts whatever the page lets through.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pick } from "../src/app/pictures.ts";
import { INPUT_BYTES_MAX } from "../src/wire.ts";

const text = (name: string, bytes: number) => new File([new Uint8Array(bytes).fill(0x61)], name, { type: "text/plain" });

test("what_is_picked_fits_into_a_prompt", async () => {
  for (const size of [1_000_000, 6_240_000, 6_250_000, 9_000_000]) {
    const { picked, refused } = await pick([text("a.txt", size)], []);
    const body = JSON.stringify({ content: "What is this?", attachments: picked.map((one) => one.attachment) });
    assert.ok(body.length <= INPUT_BYTES_MAX, `${size} bytes are too many`);
    assert.equal(picked.length, size < 6_250_000 ? 1 : 0, `${size}`);
    assert.equal(refused.length, 1 - picked.length);
  }
});

test("files_that_are_too_large_together_are_refused", async () => {
  const { picked, refused } = await pick([text("a.txt", 4_000_000), text("b.txt", 4_000_000), text("c.txt", 500_000)], []);
  assert.deepEqual(picked.map((one) => one.attachment.name), ["a.txt", "c.txt"]);
  assert.deepEqual(refused, ["With b.txt, the files of this prompt would be larger than 6.2 MB"]);
});

test("files_that_were_picked_before_count", async () => {
  const { picked: before } = await pick([text("a.txt", 4_000_000)], []);
  const { picked, refused } = await pick([text("b.txt", 4_000_000)], before);
  assert.deepEqual([picked.length, refused.length], [0, 1]);
});
