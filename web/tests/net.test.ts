// The connection comes back by itself, and nothing that was said is lost or said twice.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Link, Surroundings } from "../src/net/connection.ts";
import { Connection, HEARTBEAT_MS, Lost, Refused } from "../src/net/connection.ts";
import type { Command, Letter } from "../src/net/outbox.ts";
import { Outbox } from "../src/net/outbox.ts";
import type { Problem, SocketMessage } from "../src/wire.ts";

Object.assign(globalThis, { WebSocket: { OPEN: 1 } });

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
  links: Link[] = [];
  openings = 0;
  messages: SocketMessage[] = [];
  connection = new Connection(this, {
    link: (link) => this.links.push(link),
    opened: () => (this.openings += 1),
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

test("answers find their requests", async () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  const one = world.connection.request({ type: "ping" });
  const two = world.connection.request({ type: "ping" });
  world.last.says({ type: "error", id: world.last.sent[1]?.id, problem: problem(400, false) });
  world.last.says({ type: "ack", id: world.last.sent[0]?.id, seq: 7 });
  assert.equal((await one).seq, 7);
  await assert.rejects(two, Refused);
});

test("a lost connection fails what waits, and comes back later each time", async () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  const waiting = world.connection.request({ type: "ping" });
  world.last.ends(1006);
  await assert.rejects(waiting, Lost);
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

test("p12_silence_for_two_heartbeats_ends_a_connection", () => {
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

test("a refused credential is not tried again", () => {
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

test("asleep it stays closed until it is woken", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  world.connection.sleep();
  world.pass(600_000);
  assert.equal(world.sockets.length, 1);
  world.connection.wake();
  world.last.opens();
  assert.equal(world.openings, 2);
});

test("messages that are no JSON, or of unknown types, do no harm", () => {
  const world = new World();
  world.connection.wake();
  world.last.opens();
  world.last.onmessage?.({ data: "{" });
  world.last.says({ type: "from_the_future" });
  assert.equal(world.messages.length, 1);
  assert.equal(world.connection.link, "open");
});

const input = (content: string): Command => ({ type: "input", session: "s", input: { content, delivery: "queue" } }) as Command;

class Post {
  kept: string | null = null;
  posted: string[] = [];
  answers: ("ok" | "lost" | Problem)[] = [];
  shown: readonly Letter[] = [];

  outbox(): Outbox {
    return new Outbox(
      { load: () => this.kept, save: (text) => (this.kept = text) },
      (command) => {
        this.posted.push(command.type === "input" ? command.input.content : command.type);
        const answer = this.answers.shift() ?? "ok";
        if (answer === "ok") return Promise.resolve();
        return Promise.reject(answer === "lost" ? new Lost() : new Refused(answer));
      },
      (letters) => (this.shown = letters),
      (letter) => (letter.command.type === "input" ? "keep" : "drop"),
    );
  }
}

test("what could not be sent is sent again, in order, also after a reload", async () => {
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
  assert.equal(second.letters.length, 0);
});

test("a prompt that is refused stays in sight and does not stop the others", async () => {
  const post = new Post();
  post.answers = [problem(422, false)];
  const outbox = post.outbox();
  outbox.put("1", input("bad"));
  outbox.put("2", input("good"));
  await settle();
  assert.deepEqual(post.posted, ["bad", "good"]);
  assert.deepEqual(outbox.letters.map((letter) => letter.problem?.status), [422]);
});

test("what may work later waits", async () => {
  const post = new Post();
  post.answers = [problem(503, true)];
  const outbox = post.outbox();
  outbox.put("1", input("later"));
  await settle();
  assert.equal(outbox.letters[0]?.problem, undefined);
  await outbox.flush();
  assert.equal(outbox.letters.length, 0);
});

function settle(): Promise<void> {
  return new Promise((done) => setTimeout(done, 5));
}
