// Errors of requests: what failed, and whether the same request may be sent again.

import type { ErrorKind, Problem, Retry } from "@tidings/client";
import { RemoteError, RemoteServer } from "@tidings/client";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { Replay } from "./replay.ts";

function refusal(response: ServerResponse, problem: Partial<Problem>): true {
  response.writeHead(problem.status ?? 500, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ type: "", title: "", detail: "No", hint: "Go", retryable: false, request_id: "1", ...problem }));
  return true;
}

async function failure(promise: Promise<unknown>): Promise<RemoteError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(error instanceof RemoteError, String(error));
  return error;
}

test("a refusal has the code, the sentence, the hint and the advice of the server", async (context) => {
  const cases: [Partial<Problem>, Retry][] = [
    [{ status: 409, code: "conflict" }, { advice: "never" }],
    [{ status: 503, code: "unavailable", retryable: true, retry_after_ms: 250 }, { advice: "after", ms: 250 }],
    [{ status: 500, code: "from_the_future", retryable: true }, { advice: "after", ms: 1000 }],
  ];
  for (const [problem, retry] of cases) {
    const replay = await Replay.start(context, (_, response) => refusal(response, problem));
    const error = await failure(replay.client().meta());
    assert.deepEqual([error.kind, error.code, error.message, error.hint, error.retry], ["refused", problem.code, "No", "Go", retry]);
  }
});

test("what does not exist is gone", async (context) => {
  const replay = await Replay.start(context);
  const error = await failure(replay.client().session("none").view());
  assert.equal(error.isGone, true);
  assert.notEqual(error.hint, "");
});

test("a server that is not there is reported at once, since nothing was sent", async (context) => {
  const replay = await Replay.start(context);
  await replay.close();
  const cases: [RemoteServer, ErrorKind][] = [[replay.client(), "unreachable"], [RemoteServer.at("box.example", "none"), "invalid"]];
  for (const [server, kind] of cases) assert.equal((await failure(server.session(1).prompt("hello"))).kind, kind);
});

test("a server that stays away after a cut may have done what it was asked", async (context) => {
  const replay = await Replay.start(context, (request) => {
    request.socket.destroy();
    void replay.close();
    return true;
  });
  const error = await failure(replay.client({ patienceMs: 60 }).session(1).prompt("hello"));
  assert.deepEqual([error.kind, error.retry], ["cut", { advice: "with_same_id" }]);
});

test("a response that does not come in time is a cut", async (context) => {
  const replay = await Replay.start(context, () => true);
  const error = await failure(replay.client({ answerMaxMs: 20, patienceMs: 0 }).meta());
  assert.equal(error.kind, "cut");
});

test("a proxy whose server restarts is temporary, another program is not", async (context) => {
  for (const [status, advice] of [[502, "after"], [404, "never"]] as const) {
    const replay = await Replay.start(context, (_, response) => {
      response.writeHead(status);
      response.end("<html>");
      return true;
    });
    const error = await failure(replay.client().meta());
    assert.deepEqual([error.kind, error.retry.advice, error.isGone], ["response", advice, false]);
  }
});

test("a certificate that is not trusted is named as the reason", async () => {
  const folder = join(process.cwd(), "../crates/bridge/tests/served/certificates");
  const server = createServer({ cert: readFileSync(join(folder, "first.pem")), key: readFileSync(join(folder, "first.key")) });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const error = await failure(RemoteServer.at(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, "none").meta());
  server.close();
  assert.deepEqual([error.kind, error.retry.advice], ["untrusted", "never"], error.message);
});

test("a base path and the parameters are part of the address", async () => {
  const seen: string[] = [];
  const server = RemoteServer.at("https://box.example/tidings/", "t", {
    fetch(url, { headers }) {
      seen.push(`${url} ${(headers as Record<string, string>).authorization}`);
      return Promise.resolve(new Response("{}"));
    },
  });
  await server.session("a/b").snapshot(50);
  assert.deepEqual(seen, ["https://box.example/tidings/v1/sessions/a%2Fb/snapshot?limit=50 Bearer t"]);
});
