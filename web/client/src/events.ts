// Events of a session, from a cursor.

import { RemoteError } from "./error.ts";
import type { Http } from "./http.ts";
import { segment } from "./http.ts";
import type { SseMessage } from "./sse.ts";
import { SseStream } from "./sse.ts";
import type { ResyncReason, Subscribed, UiMessage } from "./wire.ts";

/** An update of {@link SessionEvents}. */
export type SessionUpdate =
  /**
   * A connection was made, for the first time or again. The verdict says how the events that follow continue
   * those before: `ok` with the next one, `gap` with a later one, because those between were removed, and
   * `reset` with the oldest stored one, because the cursor was of another epoch or absent.
   */
  | { type: "subscribed"; subscribed: Subscribed }
  | SessionEvent
  /** The connection was lost, or could not be made. It is made again. */
  | { type: "lost"; error: RemoteError };

/** An event of a session. */
export interface SessionEvent {
  type: "event";
  /** Cursor of the event: a program that stores it can continue after it. */
  cursor: string;
  /** Name of the event: the only key of `event`. */
  name: string;
  /** The event. Later versions of the server may send others than these. */
  event: UiMessage;
}

export interface EventOptions {
  /** False for a client that only reads, which the policy `unattended` takes into account. */
  answers?: boolean;
  /** Ends the iteration with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The events of a session after a cursor, each once and in order, whatever happens to the connection and to
 * the server. The iteration ends when the session is deleted; another one continues after the last event.
 *
 * Only what no later attempt changes is an error, such as a credential that was revoked.
 */
export class SessionEvents implements AsyncIterable<SessionUpdate> {
  #cursor: string | undefined;
  #isOver = false;
  readonly #stream: SseStream;
  readonly #answers: false | undefined;

  constructor(http: Http, session: string, after: string | undefined, { answers, signal }: EventOptions) {
    this.#cursor = after;
    this.#answers = answers === false ? false : undefined;
    this.#stream = new SseStream(http, `/v1/sessions/${segment(session)}/events`, signal);
  }

  /** Cursor of the last event. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void> {
    if (this.#isOver) return;
    try {
      for await (const update of this.#stream.updates(() => ({ after: this.#cursor, answers: this.#answers }))) {
        if (update.type === "lost") yield update;
        const known = update.type === "message" ? this.#received(update.message) : undefined;
        if (known !== undefined) yield known;
        if (this.#isOver) return;
      }
    } catch (error) {
      if (!(error instanceof RemoteError) || !error.isGone) throw error;
      this.#isOver = true;
    }
  }

  #received({ name, id, data }: SseMessage): SessionUpdate | undefined {
    switch (name) {
      case "":
        // A heartbeat has the cursor after the events that were sent.
        this.#cursor = id ?? this.#cursor;
        return undefined;
      case "subscribed": {
        const subscribed = JSON.parse(data) as Subscribed;
        // From here on the verdict is known: the same cursor would bring the same verdict again.
        this.#cursor = subscribed.from;
        return { type: "subscribed", subscribed };
      }
      case "resync":
        this.#isOver = (JSON.parse(data) as { reason: ResyncReason }).reason === "deleted";
        this.#stream.reconnect();
        return undefined;
      case "problem":
        this.#stream.reconnect();
        return undefined;
      case "revoked":
        throw revoked();
      default:
        // Later versions may send other messages. Events have a cursor.
        if (id === undefined) return undefined;
        this.#cursor = id;
        this.#stream.succeeded();
        return { type: "event", cursor: id, name, event: JSON.parse(data) as UiMessage };
    }
  }
}

/** The error of a stream whose credential was revoked. */
export function revoked(): RemoteError {
  const detail = "The credential was revoked";
  const hint = "create a new one with `tidings token create`";
  return RemoteError.refused({ type: "about:blank", title: detail, status: 401, code: "unauthorized", detail, hint, retryable: false, request_id: "" });
}
