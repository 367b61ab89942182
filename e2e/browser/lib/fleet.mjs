// A NATS server and a second server of the same fleet, for the cases that need both.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, Server } from "./server.mjs";

const NATS = new URL("../../.cache/nats-server", import.meta.url).pathname;

/** The other server of a fleet, called `two`, and the NATS server between both. */
export class OtherServer {
  #nats;
  #folder;

  /** Starts both, with a script for the agents of `two`. */
  async start(script) {
    if (!existsSync(NATS)) throw new Error("nats-server is not installed: run e2e/install.sh nats");
    this.#folder = mkdtempSync(join(tmpdir(), "tidings-nats-"));
    const port = await freePort();
    this.#nats = spawn(NATS, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", this.#folder], { stdio: "ignore" });
    const init = (server) => fleet(server, "init", `nats://127.0.0.1:${port}`, "--node", "two");
    this.server = await Server.start({ script, prepare: init });
    await until(async () => (await this.#nodes()).length === 1);
  }

  /** Makes a server that is about to start a member of the fleet, as `one`. */
  async invite(server) {
    const { code } = await this.server.call("POST", "fleet/invites", {});
    fleet(server, "join", code, "--node", "one");
  }

  /** Waits until both servers hear each other. */
  async hears(server) {
    for (const one of [server, this.server]) {
      await until(async () => (await one.call("GET", "fleet")).nodes.filter((node) => node.is_reachable).length === 2);
    }
  }

  async #nodes() {
    return (await this.server.call("GET", "fleet")).nodes.filter((node) => node.is_reachable);
  }

  async stop() {
    await this.server?.stop();
    if (this.#nats?.exitCode === null) {
      this.#nats.kill("SIGKILL");
      await once(this.#nats, "exit");
    }
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

function fleet(server, ...args) {
  execFileSync(PROGRAM, ["fleet", ...args, "--data", join(server.folder, "data")], { env: { PATH: process.env.PATH, HOME: server.folder }, stdio: "pipe" });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Waits for a condition; the limit is only for a hang. */
export async function until(condition, ms = 60_000) {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`this never happened: ${condition}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
