// Names of sessions, and descriptions of attachments.

import assert from "node:assert/strict";
import { test } from "node:test";
import { describeAttachments } from "../src/model/attached.ts";
import { nameOf } from "../src/model/name.ts";

test("a session is named by its title, its first prompt, or its folder", () => {
  const cwd = "/home/dev/shop";
  const table: [string | undefined, string | undefined, string][] = [
    ["The gate", "Mend the gate", "The gate"],
    [undefined, "Mend the gate", "Mend the gate"],
    ["", "Mend the gate", "Mend the gate"],
    ["  ", undefined, "shop"],
    [undefined, undefined, "shop"],
  ];
  for (const [title, first_prompt, name] of table) assert.equal(nameOf({ cwd, title, first_prompt } as Parameters<typeof nameOf>[0]), name);
});

test("c31 a session without a title has the name that it has among the sessions on disk", () => {
  const session = { cwd: "/home/dev/shop", first_prompt: "Mend the gate", last_prompt: "And the fence" };
  assert.equal(nameOf(session as Parameters<typeof nameOf>[0]), "And the fence");
  assert.equal(nameOf({ ...session, title: "The gate" } as Parameters<typeof nameOf>[0]), "The gate");
});

test("attachments are counted by word or by media type", () => {
  const table: [string[], string][] = [
    [[], ""],
    [["image"], "1 picture"],
    [["image/png", "image/webp"], "2 pictures"],
    [["image", "document", "text/plain"], "1 picture and 2 files"],
    [["application/pdf"], "1 file"],
  ];
  for (const [attachments, text] of table) assert.equal(describeAttachments(attachments), text);
});
