// Notices about all sessions.

import type { RemoteError } from "./error.ts";
import { revoked } from "./events.ts";
import type { Http } from "./http.ts";
import type { SseMessage } from "./sse.ts";
import { SseStream } from "./sse.ts";
import type { Notice } from "./wire.ts";

/** An update of {@link Notices}. */
export type NoticeUpdate =
  /** A connection was made, for the first time or again. Fetch lists now: notices before this may be missing. */
  | { type: "subscribed" }
  | { type: "notice"; notice: Notice }
  /** The connection was lost, or could not be made. It is made again. */
  | { type: "lost"; error: RemoteError };

/**
 * Notices about all sessions that the credential may see.
 *
 * They have no cursors: they begin when the connection is made, so lists that are fetched after `subscribed`
 * are complete together with the notices that follow.
 */
export class Notices implements AsyncIterable<NoticeUpdate> {
  readonly #stream: SseStream;

  constructor(http: Http, signal: AbortSignal | undefined) {
    this.#stream = new SseStream(http, "/v1/events", signal);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<NoticeUpdate, never> {
    // True until the first message of a connection, a comment which says that notices follow.
    let isNew = true;
    for await (const update of this.#stream.updates(() => ({}))) {
      if (update.type === "connected") isNew = true;
      else if (update.type === "lost") yield update;
      else {
        const { name } = update.message;
        if (name === "revoked") throw revoked();
        // The server has dropped notices. The connection stands, and lists are to be fetched again.
        if (isNew || name === "resync") yield { type: "subscribed" };
        isNew = false;
        const notice = noticeOf(update.message);
        if (notice === undefined) continue;
        this.#stream.succeeded();
        yield { type: "notice", notice };
      }
    }
    throw new Error("a stream of updates has no end");
  }

  /** Makes the connection again, so that `subscribed` follows. @internal */
  reconnect(): void {
    this.#stream.reconnect();
  }

  /** Notes that the connection brought something. @internal */
  succeeded(): void {
    this.#stream.succeeded();
  }
}

function noticeOf({ name, data }: SseMessage): Notice | undefined {
  return name === "" || name === "resync" ? undefined : (JSON.parse(data) as Notice);
}
