// The connection reconnects automatically, and no command is lost or sent twice.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command, Link, Problem, SocketMessage, Surroundings, UnsentCommand } from "@tidings/client";
import { Connection, DOUBT_MS, HEARTBEAT_MS, Outbox, RemoteError } from "@tidings/client";

class FakeSocket {
  readyState = 0;
  sent: { id: number; type: string }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { id: number; type: string });
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  says(message: unknown): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  ends(code: number): void {
    this.onclose?.({ code });
  }
}

class World implements Surroundings {
  time = 0;
  sockets: FakeSocket[] = [];
  timers: { at: number; run: () => void }[] = [];
  /** Number of cancelled timers, including expired ones. */
  cancelled = 0;
  links: Link[] = [];
  connectionCount = 0;
  messages: SocketMessage[] = [];
  connection = new Connection(this, {
    link: (link) => this.links.push(link),
    opened: () => (this.connectionCount += 1),
    message: (message) => this.messages.push(message),
  });

  open(): WebSocket {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket as unknown as WebSocket;
  }

  now(): number {
    return this.time;
  }

  random(): number {
    return 1;
  }

  later(run: () => void, ms: number): () => void {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => {
      this.cancelled += 1;
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  pass(ms: number): void {
    const until = this.time + ms;
    for (;;) {
      const next = this.timers.filter((timer) => timer.at <= until).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      this.time = next.at;
      this.timers = this.timers.filter((timer) => timer !== next);
      next.run();
    }
    this.time = until;
  }

  get last(): FakeSocket {
    const socket = this.sockets.at(-1);
    assert.ok(socket);
    return socket;
  }
}

function problem(status: number, retryable: boolean): Problem {
  return { type: "", title: "", status, code: "x", detail: "no", hint: "", retryable, request_id: "" };
}

test("responses are matched with their requests", async () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  const one = world.connection.request({ type: "ping" });
  const two = world.connection.request({ type: "ping" });
  world.last.says({ type: "error", id: world.last.sent[1]?.id, problem: problem(400, false) });
  world.last.says({ type: "ack", id: world.last.sent[0]?.id, seq: 7 });
  assert.equal((await one).seq, 7);
  await assert.rejects(two, { name: "RemoteError", kind: "refused" });
});

test("a lost connection fails pending requests, and reconnects with growing delays", async () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  const waiting = world.connection.request({ type: "ping" });
  world.last.ends(1006);
  await assert.rejects(waiting, { name: "RemoteError", kind: "cut" });
  assert.equal(world.connection.link, "waiting");
  const gaps: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const before = world.time;
    while (world.connection.link === "waiting") world.pass(100);
    gaps.push(world.time - before);
    world.last.ends(1006);
  }
  assert.deepEqual(gaps, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
});

test("promise_12_silence_for_two_heartbeats_ends_a_connection", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  world.pass(3 * HEARTBEAT_MS + 1);
  assert.ok(world.links.includes("waiting"));
});

test("a server that answers pings keeps its connection", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  for (let beat = 0; beat < 10; beat += 1) {
    world.pass(HEARTBEAT_MS);
    world.last.says({ type: "ack", id: world.last.sent.at(-1)?.id });
  }
  assert.equal(world.connection.link, "open");
  assert.equal(world.sockets.length, 1);
});

test("a long connection keeps no expired timers", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  for (let beat = 0; beat < 100; beat += 1) {
    world.pass(HEARTBEAT_MS);
    world.last.says({ type: "ack", id: world.last.sent.at(-1)?.id });
  }
  const before = world.cancelled;
  world.connection.sleep();
  assert.equal(world.cancelled - before, 1, "the next heartbeat is all that there is to let go");
  assert.deepEqual(world.timers, []);
});

test("a machine that slept often still has one heartbeat", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  for (let sleep = 0; sleep < 5; sleep += 1) {
    // No timer runs while a machine sleeps.
    world.time += HEARTBEAT_MS + 1;
    world.connection.wake();
    world.last.says({ type: "ack", id: world.last.sent.at(-1)?.id });
  }
  const before = world.last.sent.length;
  world.pass(HEARTBEAT_MS);
  assert.equal(world.last.sent.length - before, 1);
});

test("p9 when the network changes, a server that does not answer soon is taken for lost", async () => {
  const world = new World();
  world.connection.doubt();
  assert.equal(world.sockets.length, 0, "no connection was made");
  world.connection.wake();
  world.last.opens();
  world.connection.doubt();
  world.last.says({ type: "ack", id: world.last.sent.at(-1)?.id });
  await Promise.resolve();
  world.pass(DOUBT_MS + 1);
  assert.equal(world.connection.link, "open");
  world.connection.doubt();
  // A message that was sent before is not a response.
  world.last.says({ type: "session" });
  world.pass(DOUBT_MS + 1);
  assert.equal(world.connection.link, "waiting");
});

test("a rejected credential is not retried", () => {
  for (const code of [4401, 4403]) {
    const world = new World();
    world.connection.wake();
    world.last.opens();
    world.last.ends(code);
    world.pass(60_000);
    assert.equal(world.connection.link, "refused");
    assert.equal(world.sockets.length, 1);
  }
});

test("a sleeping connection stays closed until it is woken", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  world.connection.sleep();
  world.pass(600_000);
  assert.equal(world.sockets.length, 1);
  world.connection.wake();
  world.last.opens();
  assert.equal(world.connectionCount, 2);
});

test("messages without JSON, or of unknown types, are ignored", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  world.last.onmessage?.({ data: "{" });
  world.last.says({ type: "from_the_future" });
  assert.equal(world.messages.length, 1);
  assert.equal(world.connection.link, "open");
});

const input = (content: string, session = "s"): Command => ({ type: "input", session, input: { content, delivery: "queue" } }) as Command;
const answer = { type: "answer", session: "s", to: "t" } as Command;
const run = (command: string): Command => ({ type: "command", session: "s", command, with: {} }) as Command;

class Post {
  kept = new Map<string, string>();
  posted: string[] = [];
  /** Answers to the next commands, in order, and refusals by the text of a prompt. */
  answers: ("ok" | "lost" | Problem)[] = [];
  refusals = new Map<string, Problem>();
  shown: readonly UnsentCommand[] = [];
  world = new World();

  outbox(): Outbox {
    return new Outbox(
      { load: () => [...this.kept.values()].reverse(), save: (id, text) => void this.kept.set(id, text), remove: (id) => void this.kept.delete(id) },
      (command) => {
        const name = command.type === "input" ? command.input.content : command.type === "command" ? command.command : command.type;
        this.posted.push(name);
        const answer = this.refusals.get(name) ?? this.answers.shift() ?? "ok";
        if (answer === "ok") return Promise.resolve();
        return Promise.reject(answer === "lost" ? RemoteError.of("cut", "lost") : RemoteError.refused(answer));
      },
      (run, ms) => this.world.later(run, ms),
      {
        changed: (unsentCommands) => (this.shown = unsentCommands),
        refused: (unsent) => (unsent.command.type === "input" ? "keep" : "drop"),
      },
    );
  }
}

test("unsent commands are sent again, in order, also after a reload", async () => {
  const post = new Post();
  post.answers = ["lost"];
  const first = post.outbox();
  first.put("1", input("one"));
  first.put("2", input("two"));
  await settle();
  assert.equal(post.shown.length, 2);
  const second = post.outbox();
  await second.flush();
  assert.deepEqual(post.posted, ["one", "one", "two"]);
  assert.equal(second.unsentCommands.length, 0);
  assert.equal(post.kept.size, 0);
});

test("a rejected prompt stays visible and does not block others", async () => {
  const post = new Post();
  post.answers = [problem(422, false)];
  const outbox = post.outbox();
  outbox.put("1", input("bad"));
  outbox.put("2", input("good"));
  await settle();
  assert.deepEqual(post.posted, ["bad", "good"]);
  assert.deepEqual(outbox.unsentCommands.map((unsent) => unsent.problem?.status), [422]);
});

test("a delayed prompt blocks neither other sessions nor decisions", async () => {
  const post = new Post();
  post.refusals.set("stuck", problem(429, true));
  const outbox = post.outbox();
  outbox.put("1", input("stuck"));
  outbox.put("2", input("behind it"));
  outbox.put("3", input("elsewhere", "other"));
  outbox.put("4", answer);
  outbox.put("5", run("model"));
  outbox.put("6", run("interrupt"));
  await settle();
  assert.deepEqual(post.posted, ["stuck", "elsewhere", "answer", "interrupt"]);
  assert.deepEqual(outbox.unsentCommands.map(({ delayed }) => delayed?.status), [429, undefined, undefined], "it says why it waits");
  assert.equal(outbox.unsentCommands[0]?.problem, undefined);
});

test("temporary rejections are retried with growing delays, and never before the server's retry time", async () => {
  const post = new Post();
  post.refusals.set("later", problem(429, true));
  const outbox = post.outbox();
  outbox.put("1", input("later"));
  await settle();
  const gaps: number[] = [];
  for (const wanted of [undefined, undefined, 10_000, undefined]) {
    post.refusals.set("later", { ...problem(429, true), ...(wanted === undefined ? {} : { retry_after_ms: wanted }) });
    const [timer] = post.world.timers;
    assert.ok(timer);
    gaps.push(timer.at - post.world.time);
    post.world.pass(timer.at - post.world.time);
    await settle();
  }
  assert.deepEqual(gaps, [1000, 2000, 4000, 10_000]);
  post.refusals.clear();
  post.world.pass(60_000);
  await settle();
  assert.equal(outbox.unsentCommands.length, 0);
  assert.equal(post.world.timers.length, 0);
});

test("unsent commands are removed when the credential is revoked", async () => {
  const post = new Post();
  post.refusals.set("mine", problem(429, true));
  const outbox = post.outbox();
  outbox.put("1", input("mine"));
  await settle();
  outbox.clear();
  post.world.pass(600_000);
  await settle();
  assert.deepEqual(post.posted, ["mine"]);
  assert.equal(post.kept.size, 0);
});

function settle(): Promise<void> {
  return new Promise((done) => setTimeout(done, 5));
}
