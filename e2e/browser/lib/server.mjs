// `tidings serve` as a child process: with the demo, or with a script in place of Claude Code and a
// persistent journal.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const PROGRAM = process.env.TIDINGS ?? new URL("../../../target/debug/tidings", import.meta.url).pathname;
const REAL = process.env.CLAUDE ?? new URL("../../.cache/claude", import.meta.url).pathname;

export class Server {
  #child;
  /** Number of pairing links since it was started. */
  #links = 0;
  #api;
  #log = "";

  /**
   * `script` is the text of a script: the stand-in runs it, or with `real` the real CLI runs against it as
   * its API. Without one the demo runs and nothing is stored; `beside` is a script for a stand-in that is
   * found as `claude`. `args` are passed to the server, and `prepare` is called before it starts. `agents` has
   * scripts of other agents by their names, in which `{project}` is the folder of the sessions.
   */
  static async start({ script, root, real, beside, prepare, agents, args = [] } = {}) {
    const server = new Server();
    server.args = [...args];
    server.folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));
    server.project = join(server.folder, "project");
    mkdirSync(server.project);
    server.root = root;
    if (agents !== undefined) server.args.push("--config", server.#configure(agents));
    if (script !== undefined || beside !== undefined) {
      writeFileSync(join(server.folder, "script.toml"), script ?? beside);
    }
    if (real !== undefined) {
      server.claude = REAL;
      await server.#serveApi();
    } else if (script !== undefined) {
      server.claude = server.#standIn();
    } else {
      // Programs installed on this machine are not used.
      server.env = { CLAUDE_CLI_PATH: beside === undefined ? join(server.folder, "no-claude") : server.#standIn() };
    }
    await prepare?.(server);
    await server.#run("127.0.0.1:0");
    return server;
  }

  #standIn() {
    const path = join(this.folder, "claude");
    writeFileSync(path, `#!/bin/sh\nexec ${PROGRAM} rehearse agent --script ${this.folder}/script.toml "$@"\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** Writes the configuration of other agents, each of which plays a script. */
  #configure(agents) {
    const entries = Object.entries(agents).map(([name, script]) => {
      const path = join(this.folder, `agent-${name}.toml`);
      writeFileSync(path, script.replaceAll("{project}", this.project));
      const args = ["rehearse", "acp", "--script", path];
      return `[[agent]]\nname = ${JSON.stringify(name)}\ncommand = ${JSON.stringify(PROGRAM)}\nargs = ${JSON.stringify(args)}\n`;
    });
    const config = join(this.folder, "serve.toml");
    writeFileSync(config, entries.join("\n"));
    return config;
  }

  /** The Messages API, served from the script. */
  async #serveApi() {
    this.#api = spawn(PROGRAM, ["rehearse", "api", "--script", join(this.folder, "script.toml"), "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
    const said = await Promise.race([this.#api.stdout, this.#api.stderr].map((stream) => once(createInterface(stream), "line")));
    const address = /http:\/\/[\d.:]+/.exec(said[0])?.[0];
    if (address === undefined) throw new Error(`the API did not say where it is: ${said[0]}`);
    this.env = { ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "dummy", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  }

  async #run(listen) {
    this.#links = 0;
    const args = ["serve", "--json", "--listen", listen, ...this.args];
    if (this.claude === undefined) args.push("--demo");
    else args.push("--data", join(this.folder, "data"), "--claude-path", this.claude, "--agent-lease=60");
    for (const name of Object.keys(this.env ?? {})) args.push(`--pass-env=${name}`);
    const env = { ...this.env, PATH: process.env.PATH, HOME: this.folder, CLAUDE_CONFIG_DIR: this.root ?? join(this.folder, "claude-config") };
    this.#child = spawn(PROGRAM, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stderr.on("data", (bytes) => (this.#log += bytes));
    const first = once(createInterface(this.#child.stdout), "line");
    const ended = once(this.#child, "exit").then(() => Promise.reject(new Error(`the server ended: ${this.#log}`)));
    const [line] = await Promise.race([first, ended]);
    ended.catch(() => undefined);
    this.#child.once("exit", (code, signal) => (this.#log += `\nended with ${code ?? signal}`));
    const said = JSON.parse(line);
    this.address = said.address;
    this.socket = said.socket;
    this.token = readFileSync(join(said.data, "token"), "utf8").trim();
  }

  /** Kills the server, and starts it again at the same address. */
  async killAndRestart() {
    await this.kill();
    await this.#run(new URL(this.address).host);
  }

  async kill() {
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  async restart() {
    await this.#run(new URL(this.address).host);
  }

  async stop() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      // Agents outlive the server, and must not outlive the tests.
      const { items } = await this.call("GET", "sessions?limit=1000");
      const own = items.filter(({ node, origin }) => node === undefined && origin === "server");
      await Promise.all(own.map(({ key }) => this.call("POST", `sessions/${key}/stop`)));
      this.#child.kill("SIGTERM");
      await once(this.#child, "exit");
    }
    this.#api?.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }

  get log() {
    return this.#log;
  }

  /** A request with the admin token, on the socket: it is not accepted on the address. */
  async call(method, path, body) {
    const { status, text } = await this.#exchange(method, path, body).catch((cause) => {
      throw new Error(`${method} ${path}: the server does not answer; it said: ${this.#log.slice(-2000)}`, { cause });
    });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  async #exchange(method, path, body) {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const headers = { host: "localhost", authorization: `Bearer ${this.token}`, ...(sent === undefined ? {} : { "content-type": "application/json" }) };
    const asked = request({ socketPath: this.socket, path: `/v1/${path}`, method, headers, agent: false });
    asked.end(sent);
    const [answer] = await once(asked, "response");
    let text = "";
    for await (const part of answer.setEncoding("utf8")) text += part;
    return { status: answer.statusCode, text };
  }

  /** A link that pairs one browser. */
  /** A link that pairs a browser; `tries` counts wrong codes of the case too. */
  async link(scopes = ["admin"], { tries = 1 } = {}) {
    // A sixth would be rejected or not, depending on the speed of the machine.
    assert.ok((this.#links += tries) <= 5, "a server takes five tries to pair at once: put the case into another file");
    const { code } = await this.call("POST", "pair/codes", { name: "browser", scopes });
    return `${this.address}/#code=${code}`;
  }

  async session(prompt, more = {}) {
    return this.call("POST", "sessions", { cwd: this.project, ...(prompt === undefined ? {} : { prompt }), ...more });
  }

  /** Sends a signal to every running stand-in. */
  signalAgents(signal) {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${this.folder}/script.toml`)) process.kill(Number(pid), signal);
      } catch {
        // It has ended in the meantime.
      }
    }
  }

  /** Waits until a session has the wanted state. */
  async until(key, wanted, ms = 60_000) {
    const end = Date.now() + ms;
    for (;;) {
      const view = await this.call("GET", `sessions/${key}`);
      if (wanted(view)) return view;
      if (Date.now() > end) throw new Error(`the session stays ${JSON.stringify(view)}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}
