// Records the exchanges that the tests replay, from the real server with a stand-in for `claude`:
//
//     node web/client/tests/record.mjs target/debug/tidings
//
// Each line is a request with its response; `body` is the text of the response, also of a stream.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const SCRIPT = `
[[turn]]
[[turn.block]]
tool = "Bash"
id = "toolu_01Look"
input = { command = "ls", description = "List files" }
ask = true
result = "README.md"

[[turn]]
text = "There is a README."
`;

const tidings = resolve(process.argv[2] ?? "target/debug/tidings");
const scratch = await mkdtemp(join(tmpdir(), "tidings-recording-"));
const [data, cwd, claude] = ["data", "shop", "claude"].map((name) => join(scratch, name));
const env = { PATH: process.env.PATH, HOME: scratch, CLAUDE_CONFIG_DIR: join(scratch, "config"), XDG_RUNTIME_DIR: scratch };
await mkdir(cwd);
await writeFile(join(scratch, "script.toml"), SCRIPT);
await writeFile(claude, `#!/bin/sh\nexec "${tidings}" rehearse agent --script "${scratch}/script.toml" "$@"\n`);
await chmod(claude, 0o755);

const server = spawn(tidings, ["serve", "--json", "--listen", "127.0.0.1:0", "--data", data, "--claude-path", claude], { env, stdio: ["ignore", "pipe", "inherit"] });
const { address } = JSON.parse((await once(createInterface(server.stdout), "line"))[0]);
const { token } = JSON.parse(execFileSync(tidings, ["token", "create", "--name", "recorder", "--scope", "admin", "--json", "--data", data], { env, encoding: "utf8" }));
const exchanges = [];

async function call(method, path, body) {
  const init = { method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(`${address}${path}`, init);
  const text = await response.text();
  exchanges.push({ method, path, status: response.status, body: text });
  return JSON.parse(text);
}

/** Reads a stream until a text has come. */
async function stream(path, last) {
  const controller = new AbortController();
  const response = await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${token}` }, signal: controller.signal });
  const exchange = { method: "GET", path, status: response.status, body: "" };
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    exchange.body += decoder.decode(bytes, { stream: true });
    if (exchange.body.includes(last) && exchange.body.endsWith("\n\n")) break;
  }
  controller.abort();
  exchanges.push(exchange);
}

const notices = stream("/v1/events", '"turn_ended"');
await call("GET", "/v1/meta");
const { key } = await call("POST", "/v1/sessions", { cwd });
const session = `/v1/sessions/${key}`;
const accepted = await call("POST", `${session}/input`, { content: "Look around", client_id: "first" });
await stream(`${session}/events`, "event: PermissionDetails");
exchanges.pop();
await call("GET", "/v1/permissions");
await call("GET", "/v1/questions");
await call("GET", "/v1/sessions");
const answer = `${session}/permissions/toolu_01Look`;
await call("POST", answer, { decision: "allow" });
await call("POST", answer, { decision: "deny" });
await stream(`${session}/events`, "event: Complete");
await notices;
await call("GET", `${session}/snapshot`);
await call("GET", `${session}/history?before=${accepted.seq + 1}&limit=1`);
await call("GET", "/v1/sessions/none");

server.kill();
await once(server, "exit");
await rm(scratch, { recursive: true });
const lines = exchanges.map((exchange) => JSON.stringify(exchange).replaceAll(scratch, "/srv").replaceAll(key, "a-session"));
await writeFile(new URL("exchanges/one-turn.ndjson", import.meta.url), `${lines.join("\n")}\n`);
