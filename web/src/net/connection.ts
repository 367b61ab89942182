// One WebSocket that comes back by itself. It knows requests and their answers, and nothing of sessions.

import type { Problem, RequestId, SocketAck, SocketMessage, SocketRequest } from "../wire.ts";

export type Link =
  /** Never connected yet, or trying again. */
  | "connecting"
  /** Connected, and heard from lately. */
  | "open"
  /** Lost, until the next try. */
  | "waiting"
  /** Closed because nobody looks. */
  | "asleep"
  /** The server wants another credential. */
  | "refused";

/** What the connection is told about the world, so that a test can tell it something else. */
export interface Surroundings {
  open(): WebSocket;
  now(): number;
  random(): number;
  later(run: () => void, ms: number): () => void;
}

export interface Listener {
  link(link: Link): void;
  /** Connected: subscribe again, and send what waits. */
  opened(): void;
  message(message: SocketMessage): void;
}

/** A request was not carried out. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** The connection was lost before the answer came. */
export class Lost extends Error {}

export const HEARTBEAT_MS = 15_000;
/** Who is there answers within this, when there is a reason to ask. */
export const DOUBT_MS = 4_000;
/** The same where the browser itself says that there is no network. */
export const OFFLINE_DOUBT_MS = 1_500;
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 20_000;
const OPEN_LIMIT_MS = 10_000;

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
  /** What lets go of each timer that has not run yet. */
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

  /** Connects now, whatever was planned. */
  wake(): void {
    if (this.#link === "open" || this.#link === "connecting") {
      // After a sleep of the machine the socket may be dead without knowing it.
      if (this.#link === "open" && this.world.now() - this.#heardAt > HEARTBEAT_MS) this.#beat();
      return;
    }
    this.#tries = 0;
    this.#connect();
  }

  /**
   * Something has happened to the network. A socket often does not notice: it is asked, and taken for lost if nobody answers.
   * It is not closed at once, since a server on the same machine needs no network.
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
    if (socket === undefined || this.#link !== "open") return Promise.reject(new Lost("not connected"));
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
    this.#timer(() => socket.readyState !== WebSocket.OPEN && this.#lost(1006), OPEN_LIMIT_MS);
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
      else waiting?.failed(new Refused(message.problem));
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

  /** Takes the place of the heartbeat that was planned: who was woken beats at once, and would have two from then on. */
  #beatLater(): void {
    this.#stopBeating();
    this.#stopBeating = this.#timer(() => this.#beat(), HEARTBEAT_MS);
  }

  #lost(code: number): void {
    this.#drop();
    // 4401 and 4403 mean that the same credential will not do; everything else may pass.
    if (code === 4401 || code === 4403) {
      this.#set("refused");
      return;
    }
    this.#tries += 1;
    const longest = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** (this.#tries - 1));
    // The whole range is random, so that many pages do not come back at once.
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
    for (const one of waiting) one.failed(new Lost("the connection was lost"));
  }

  /** Runs something later, unless the connection is dropped before, or whoever planned it lets go of it. */
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
