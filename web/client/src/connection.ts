// A WebSocket that reconnects automatically. It handles requests and responses, independent of sessions.

import { RemoteError } from "./error.ts";
import type { RequestId, SocketAck, SocketMessage, SocketRequest } from "./wire.ts";

export type Link =
  /** Not connected yet, or reconnecting. */
  | "connecting"
  /** Connected, with recent messages. */
  | "open"
  /** Lost, until the next attempt. */
  | "waiting"
  /** Closed because the page is hidden. */
  | "asleep"
  /** The server rejected the credential. */
  | "refused";

/** Environment of the connection, which tests replace. */
export interface Surroundings {
  open(): WebSocket;
  now(): number;
  random(): number;
  later(run: () => void, ms: number): () => void;
}

export interface Listener {
  link(link: Link): void;
  /** Connected: subscribe again, and send queued commands. */
  opened(): void;
  message(message: SocketMessage): void;
}

export const HEARTBEAT_MS = 15_000;
/** Timeout in milliseconds of a heartbeat when the connection is in doubt. */
export const DOUBT_MS = 4_000;
/** The same if the browser itself reports no network. */
export const OFFLINE_DOUBT_MS = 1_500;
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 20_000;
const OPEN_LIMIT_MS = 10_000;
/** `WebSocket.OPEN`, which Node.js 20 does not have. */
const OPEN = 1;

/** The environment of a browser, with the server at an address. */
export function surroundingsAt(address: string | URL): Surroundings {
  const url = new URL("v1/ws", address);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return {
    open: () => new WebSocket(url, "tidings.v1"),
    now: () => Date.now(),
    random: () => Math.random(),
    later(run, ms) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
}

type Unsent<T> = T extends { id?: RequestId } ? Omit<T, "id"> : never;
export type Request = Unsent<SocketRequest>;

interface Waiting {
  done(ack: SocketAck): void;
  failed(error: Error): void;
}

export class Connection {
  #socket: WebSocket | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #tries = 0;
  #heardAt = 0;
  /** Cancel functions of timers that have not run yet. */
  #timers = new Set<() => void>();
  #stopBeating = (): void => undefined;
  #link: Link = "asleep";

  constructor(
    private readonly world: Surroundings,
    private readonly listener: Listener,
  ) {}

  get link(): Link {
    return this.#link;
  }

  /** Connects now, without waiting for the planned attempt. */
  wake(): void {
    if (this.#link === "open" || this.#link === "connecting") {
      // After the machine slept, the socket may be dead without an event.
      if (this.#link === "open" && this.world.now() - this.#heardAt > HEARTBEAT_MS) this.#beat();
      return;
    }
    this.#tries = 0;
    this.#connect();
  }

  /**
   * Checks the connection after a change of the network, which sockets often do not notice: sends a
   * heartbeat, and reconnects without a response. It is not closed at once, since a server on the same
   * machine needs no network.
   */
  doubt(ms = DOUBT_MS): void {
    if (this.#link !== "open") return;
    let answered = false;
    this.request({ type: "ping" }).then(
      () => (answered = true),
      () => undefined,
    );
    this.#timer(() => !answered && this.#lost(1006), ms);
  }

  sleep(): void {
    this.#drop();
    this.#set("asleep");
  }

  request(request: Request): Promise<SocketAck> {
    const socket = this.#socket;
    if (socket === undefined || this.#link !== "open") return Promise.reject(RemoteError.of("unreachable", "Not connected to the server"));
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      socket.send(JSON.stringify({ ...request, id }));
    });
  }

  #connect(): void {
    this.#drop();
    this.#set("connecting");
    const socket = this.world.open();
    this.#socket = socket;
    this.#timer(() => socket.readyState !== OPEN && this.#lost(1006), OPEN_LIMIT_MS);
    socket.onopen = () => {
      if (this.#socket !== socket) return;
      this.#tries = 0;
      this.#heardAt = this.world.now();
      this.#set("open");
      this.#beatLater();
      this.listener.opened();
    };
    socket.onmessage = (event) => {
      if (this.#socket !== socket) return;
      this.#heardAt = this.world.now();
      if (typeof event.data === "string") this.#heard(event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket === socket) this.#lost(event.code);
    };
  }

  #heard(text: string): void {
    let message: SocketMessage;
    try {
      message = JSON.parse(text) as SocketMessage;
    } catch {
      return;
    }
    if ((message.type === "ack" || message.type === "error") && typeof message.id === "number") {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.type === "ack") waiting?.done(message);
      else waiting?.failed(RemoteError.refused(message.problem));
      return;
    }
    this.listener.message(message);
  }

  #beat(): void {
    if (this.world.now() - this.#heardAt > 2 * HEARTBEAT_MS) {
      this.#lost(1006);
      return;
    }
    this.request({ type: "ping" }).catch(() => undefined);
    this.#beatLater();
  }

  /** Replaces the planned heartbeat: otherwise a connection that was woken would have two of them. */
  #beatLater(): void {
    this.#stopBeating();
    this.#stopBeating = this.#timer(() => this.#beat(), HEARTBEAT_MS);
  }

  #lost(code: number): void {
    this.#drop();
    // 4401 and 4403 mean that the same credential will be rejected again; other errors may be temporary.
    if (code === 4401 || code === 4403) {
      this.#set("refused");
      return;
    }
    this.#tries += 1;
    const longest = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** (this.#tries - 1));
    // The whole delay is random, so that many pages do not reconnect at once.
    const wait = longest * (0.3 + 0.7 * this.world.random());
    this.#set("waiting");
    this.#timer(() => this.#connect(), wait);
  }

  #drop(): void {
    for (const cancel of this.#timers) cancel();
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.failed(RemoteError.of("cut", "The connection to the server was lost"));
  }

  /** Runs a function later, unless the connection is closed or the timer cancelled before. */
  #timer(run: () => void, ms: number): () => void {
    const stop = this.world.later(() => {
      this.#timers.delete(cancel);
      run();
    }, ms);
    const cancel = () => {
      if (this.#timers.delete(cancel)) stop();
    };
    this.#timers.add(cancel);
    return cancel;
  }

  #set(link: Link): void {
    this.#link = link;
    this.listener.link(link);
  }
}
