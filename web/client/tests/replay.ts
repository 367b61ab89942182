// A server that replays recorded exchanges, and cuts connections.

import { RemoteServer } from "@tidings/client";
import type { RemoteOptions } from "@tidings/client";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";

interface Exchange {
  method: string;
  path: string;
  status: number;
  body: string;
}

/** A recording of `record.mjs`; tests run in `web/`. */
const EXCHANGES = readFileSync(join(process.cwd(), "client/tests/exchanges/one-turn.ndjson"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Exchange);

/** The session of the recording. */
export const SESSION = "a-session";
const EVENTS = `/v1/sessions/${SESSION}/events`;

/** Cursors of the recorded events, in order. */
export const CURSORS = blocksOf(recorded("GET", EVENTS)[0])
  .filter((block) => !block.includes("\nevent: subscribed"))
  .map(cursorOf);

export class Replay {
  /** Number of bytes that the server still sends before it cuts a connection, once. */
  bytesLeft = Infinity;
  /** Requests, as method, path and id. */
  readonly requests: string[] = [];
  /** Commands that had an effect, by path, with the response to each id. */
  readonly #effects = new Map<string, Map<string, Exchange>>();
  readonly #server: Server;
  #port = 0;

  constructor(answer?: (request: IncomingMessage, response: ServerResponse) => boolean) {
    this.#server = createServer((request, response) => answer?.(request, response) || this.#answer(request, response));
    this.#server.on("connection", (socket: Socket) => this.#limit(socket));
  }

  /** A replay that listens, and ends with the test. */
  static async start(test: { after(run: () => Promise<void>): void }, answer?: (request: IncomingMessage, response: ServerResponse) => boolean): Promise<Replay> {
    const replay = new Replay(answer);
    await replay.listen();
    test.after(() => replay.close());
    return replay;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Closes all connections, and listens no more. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** A client that does not wait long between its attempts. */
  client(options: Partial<RemoteOptions> = {}): RemoteServer {
    return RemoteServer.at(`http://127.0.0.1:${this.#port}`, "token", { pauseFirstMs: 1, pauseMaxMs: 20, ...options });
  }

  /** Number of commands to a path that had an effect. */
  effects(path: string): number {
    return this.#effects.get(path)?.size ?? 0;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", "http://localhost");
    const id = String(request.headers["idempotency-key"] ?? "");
    this.requests.push(`${request.method} ${url.pathname} ${id}`);
    if (url.pathname.endsWith("/events")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamAfter(url.searchParams.get("after"), recorded("GET", url.pathname)[0]));
      return;
    }
    const { status, body } = this.#exchange(request.method ?? "", url.pathname, id);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body);
  }

  /** The same id gets the same response, and another one has its own effect. */
  #exchange(method: string, path: string, id: string): Exchange {
    const exchanges = recorded(method, path);
    const effects = this.#effects.get(path) ?? new Map<string, Exchange>();
    this.#effects.set(path, effects);
    const known = effects.get(id) ?? exchanges[Math.min(effects.size, exchanges.length - 1)] ?? recorded("GET", "/v1/sessions/none")[0];
    if (known === undefined) throw new Error("the recording has no refusal");
    if (id !== "") effects.set(id, known);
    return known;
  }

  /** Cuts the connection of a socket once it has sent what is left. */
  #limit(socket: Socket): void {
    const write = socket.write.bind(socket) as (bytes: Buffer, ...more: unknown[]) => boolean;
    socket.write = ((data: string | Uint8Array, encoding?: BufferEncoding, ...more: unknown[]) => {
      const bytes = typeof data === "string" ? Buffer.from(data, encoding ?? "utf8") : Buffer.from(data);
      if (this.bytesLeft >= bytes.length) {
        this.bytesLeft -= bytes.length;
        return write(bytes, ...more);
      }
      const part = bytes.subarray(0, this.bytesLeft);
      this.bytesLeft = Infinity;
      write(part);
      socket.destroySoon();
      return false;
    }) as typeof socket.write;
  }
}

/** Runs a check for each number below a count, several at once. */
export async function forEach(count: number, lanes: number, run: (number: number, lane: number) => Promise<void>): Promise<void> {
  const work = async (lane: number) => {
    for (let number = lane; number < count; number += lanes) await run(number, lane);
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
}

function recorded(method: string, path: string): Exchange[] {
  return EXCHANGES.filter((exchange) => exchange.method === method && exchange.path.split("?")[0] === path);
}

/** The recorded stream, as a server sends it to a client that has the events up to a cursor. */
function streamAfter(after: string | null, exchange: Exchange | undefined): string {
  const blocks = blocksOf(exchange);
  const from = after === null ? -1 : CURSORS.indexOf(after);
  const [first = "", ...rest] = blocks;
  const has = first.includes("event: subscribed") ? rest.filter((block) => CURSORS.indexOf(cursorOf(block)) > from) : rest;
  const begin = after === null ? first : first.replaceAll(cursorOf(first), after);
  return `${[begin, ...has].join("\n\n")}\n\n`;
}

function blocksOf(exchange: Exchange | undefined): string[] {
  return exchange?.body.split("\n\n").filter((block) => block !== "") ?? [];
}

function cursorOf(block: string): string {
  return /^id: (.*)$/m.exec(block)?.[1] ?? "";
}
