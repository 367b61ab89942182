// Pending requests, and the answers to them.

import type { RequestUpdate } from "@tidings/client";
import { RemoteError } from "@tidings/client";
import assert from "node:assert/strict";
import { test } from "node:test";
import { OpenRequests } from "../src/requests.ts";
import type { SessionRequest } from "../src/requests.ts";
import { Replay } from "./replay.ts";

function question(session: string, id: string): SessionRequest {
  return { kind: "question", request: { session, tool_use_id: id } } as SessionRequest;
}

function words(updates: RequestUpdate[]): string[] {
  return updates.map((update) => {
    if (update.type === "opened") return `+${update.request.tool_use_id}`;
    return update.type === "settled" ? `-${update.toolUseId} ${update.outcome ?? "?"}` : update.type;
  });
}

test("lists and notices report each request once and its end once", () => {
  const open = new OpenRequests();
  const settled = (tool_use_id: string) => open.notice({ type: "settled", session: "s", tool_use_id, outcome: "allowed" });
  assert.deepEqual(words(open.list([question("s", "a"), question("s", "b")])), ["+a", "+b", "up_to_date"]);
  assert.deepEqual(words([...settled("a"), ...settled("a"), ...settled("never reported")]), ["-a allowed"]);
  assert.deepEqual(words(open.list([question("s", "c")])), ["-b ?", "+c", "up_to_date"], "after a lost connection");
  assert.deepEqual(words(open.notice({ type: "deleted", key: "s", handle: 1 })), ["-c ?"]);
});

test("the first answer wins and the second learns who it was", async (context) => {
  const replay = await Replay.start(context);
  const server = replay.client();
  for await (const update of server.requests()) {
    if (update.type !== "opened" || update.kind !== "permission") continue;
    const first = await server.approve(update.request);
    assert.equal(first.came, "first");
    assert.equal(first.result.outcome, "allowed");
    const second = await server.deny(update.request, "too late");
    assert.deepEqual(second, { came: "later", result: first.result });
    break;
  }
});

test("a stream of requests reports a lost connection once, and goes on", async (context) => {
  const replay = await Replay.start(context);
  const seen: string[] = [];
  for await (const update of replay.client().requests()) {
    seen.push(...words([update]));
    if (update.type === "up_to_date" && seen.includes("lost")) break;
    if (update.type === "up_to_date") await replay.close();
    if (update.type === "lost") await replay.listen();
  }
  assert.equal(seen.filter((word) => word === "lost").length, 1, `${seen}`);
});

test("a credential that was revoked ends the stream with its error", async (context) => {
  const replay = await Replay.start(context, (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: revoked\ndata: {}\n\n");
    return true;
  });
  const requests = replay.client().requests()[Symbol.asyncIterator]();
  await assert.rejects(requests.next(), (error) => error instanceof RemoteError && error.code === "unauthorized" && error.retry.advice === "never");
});
