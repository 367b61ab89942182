// Server-sent events: messages of a stream, and the stream that connects again.

import { RemoteError } from "./error.ts";
import { Attempt, pause } from "./http.ts";
import type { Http, Query } from "./http.ts";

/** Upper bound of a message's length: an event wraps a line of the CLI, which may have 64 MiB. */
const MESSAGE_CHARS_MAX = 66 * 2 ** 20;

/** End of a message. */
const END = "\n\n";

/** One message of a stream. A heartbeat has no name and no data. */
export interface SseMessage {
  name: string;
  id: string | undefined;
  data: string;
}

/** An update of a stream. */
export type SseUpdate =
  /** A connection was made. */
  | { type: "connected" }
  | { type: "message"; message: SseMessage }
  /** The connection was lost, or could not be made. It is made again. Reported once. */
  | { type: "lost"; error: RemoteError };

/** Splits the text of a stream into messages. */
export class SseDecoder {
  #read = "";
  /** Number of characters without the end of a message. */
  #searched = 0;

  /** Adds text; false if the message is too long. */
  add(text: string): boolean {
    this.#read += text;
    return this.#read.length <= MESSAGE_CHARS_MAX;
  }

  /** Takes the first complete message. */
  take(): SseMessage | undefined {
    const end = this.#read.indexOf(END, this.#searched);
    if (end < 0) {
      // The first character of the end may be there.
      this.#searched = Math.max(0, this.#read.length - 1);
      return undefined;
    }
    const whole = this.#read.slice(0, end);
    this.#read = this.#read.slice(end + END.length);
    this.#searched = 0;
    return parse(whole);
  }
}

/** A stream of messages that connects again when its connection is lost. */
export class SseStream {
  /** Number of connections in a row, and of attempts, that brought nothing. */
  #attempts = 0;
  #isStale = false;

  constructor(
    private readonly http: Http,
    private readonly path: string,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /**
   * The updates. `query` is asked for each connection. Only what no later attempt changes is an error, such
   * as a credential that was revoked.
   */
  async *updates(query: () => Query): AsyncGenerator<SseUpdate, never> {
    let isLost = false;
    let wait = 0;
    for (;;) {
      await pause(Math.max(wait, this.http.pauseMs(this.#attempts)), this.signal);
      this.#attempts += 1;
      this.#isStale = false;
      wait = 0;
      const attempt = new Attempt(this.signal);
      try {
        const body = await this.http.stream(this.path, query(), attempt);
        isLost = false;
        yield { type: "connected" };
        for await (const message of this.#messages(body, attempt)) {
          yield { type: "message", message };
          if (this.#isStale) break;
        }
      } catch (error) {
        if (!(error instanceof RemoteError) || error.retry.advice === "never") throw error;
        wait = error.problem.retry_after_ms ?? 0;
        if (!isLost) {
          isLost = true;
          yield { type: "lost", error };
        }
      } finally {
        attempt.end();
      }
    }
  }

  /**
   * Makes the connection again after the current message: at once after one that brought something, else
   * after a pause that is twice as long each time.
   */
  reconnect(): void {
    this.#isStale = true;
  }

  /** Notes that the connection brought something. */
  succeeded(): void {
    this.#attempts = 0;
  }

  async *#messages(body: ReadableStream<Uint8Array>, attempt: Attempt): AsyncGenerator<SseMessage, void> {
    const reader = body.getReader();
    const decoder = new SseDecoder();
    const text = new TextDecoder();
    for (;;) {
      for (let message = decoder.take(); message !== undefined; message = decoder.take()) yield message;
      const bytes = await this.#read(reader, attempt);
      if (bytes === undefined) throw RemoteError.of("cut", "The server closed the connection");
      if (!decoder.add(text.decode(bytes, { stream: true }))) throw RemoteError.of("cut", "An event is too long");
    }
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, attempt: Attempt): Promise<Uint8Array | undefined> {
    const timer = attempt.limit(this.http.options.silenceMaxMs, "the server sends nothing");
    try {
      return (await reader.read()).value;
    } catch (error) {
      throw this.http.failure(error, attempt);
    } finally {
      clearTimeout(timer);
    }
  }
}

function parse(text: string): SseMessage {
  const message: SseMessage = { name: "", id: undefined, data: "" };
  const data: string[] = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") message.name = value;
    else if (field === "id") message.id = value;
    else if (field === "data") data.push(value);
    // Others are comments and `retry`.
  }
  message.data = data.join("\n");
  return message;
}
