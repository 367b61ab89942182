// One server: how it is reached, its sessions, and their pending requests.

import type { Answered } from "./answers.ts";
import type { RemoteOptions, Query } from "./http.ts";
import { Http } from "./http.ts";
import { command } from "./ids.ts";
import { Notices } from "./notices.ts";
import { RequestStream } from "./requests.ts";
import { RemoteSession } from "./session.ts";
import type { CreateSession, Meta, NewCredential, PairRequest, PendingPermission, PermissionAnswer, SessionList, SessionView } from "./wire.ts";

/** Sessions on one page of the server. */
const PAGE_SESSIONS = 1000;

/**
 * A client of one server.
 *
 * A command that was cancelled may have had its effect: sent again with the same client id it has no second
 * one.
 */
export class RemoteServer {
  private constructor(private readonly http: Http) {}

  /**
   * The server at an address, such as `https://box.example` or `http://127.0.0.1:7717`. Sends nothing yet.
   *
   * `tidings token create` on the server's machine creates a token, and {@link RemoteServer.pair} exchanges a
   * code for one.
   */
  static at(address: string, token: string, options?: Partial<RemoteOptions>): RemoteServer {
    return new RemoteServer(new Http(address, token, options));
  }

  /**
   * Exchanges a one-time code for a credential of this program, and proposes its name. Sent once: after an
   * error of the kind `cut` the code may be used up.
   */
  static pair(address: string, code: string, name: string): Promise<NewCredential> {
    const body: PairRequest = { code, name, credential: "token" };
    return new Http(address, undefined).json("POST", "/v1/pair", { body });
  }

  /** The server, its limits, and the rights of this client. */
  meta(): Promise<Meta> {
    return this.get("/v1/meta");
  }

  /** Lists all sessions, by number. */
  async sessions(): Promise<SessionView[]> {
    const all: SessionView[] = [];
    for (;;) {
      const page = await this.get<SessionList>("/v1/sessions", { limit: PAGE_SESSIONS, after: all.at(-1)?.handle ?? 0 });
      if (page.items.length === 0) return all;
      all.push(...page.items);
    }
  }

  /** A session by its number or its key. */
  session(id: number | string): RemoteSession {
    return new RemoteSession(this.http, String(id));
  }

  /**
   * Starts a session. With `resume` it continues one on disk, with `fork` too it continues a copy of that one,
   * and with `fork_at` a copy of its beginning.
   */
  start(session: CreateSession): Promise<SessionView> {
    return this.command("/v1/sessions", session);
  }

  /** Starts a session on another server of the fleet: a name, labels such as `gpu=yes`, or `*`. */
  startOn(node: string, session: CreateSession): Promise<SessionView> {
    return command(this.http, "POST", "/v1/sessions", session, { node });
  }

  /** Notices about all sessions. */
  notices(signal?: AbortSignal): Notices {
    return new Notices(this.http, signal);
  }

  /** Pending requests of all sessions. */
  requests(signal?: AbortSignal): RequestStream {
    return new RequestStream(this.http, signal);
  }

  /**
   * Allows a tool call, this one only, as it was shown: if it has changed since, the error has the code
   * `digest_mismatch`.
   */
  approve(request: PendingPermission): Promise<Answered> {
    return this.answer(request, { decision: "allow" });
  }

  /** Denies a tool call, with a reason for the agent. */
  deny(request: PendingPermission, reason?: string): Promise<Answered> {
    return this.answer(request, reason === undefined ? { decision: "deny" } : { decision: "deny", message: reason });
  }

  /** Answers a permission request as it was shown. */
  answer(request: PendingPermission, answer: PermissionAnswer): Promise<Answered> {
    const digest = answer.digest ?? request.details.digest;
    const shown = digest === undefined ? answer : { ...answer, digest };
    return this.session(request.session).answerPermission(request.tool_use_id, shown);
  }

  /** Gets the JSON of a route, such as `/v1/meta`. */
  get<T>(path: string, query?: Query): Promise<T> {
    return this.http.jsonUntilAnswered("GET", path, { query });
  }

  /** Sends a command, and sends it again if the connection is lost, with the same id: it has one effect. */
  command<T>(path: string, body: object): Promise<T> {
    return command(this.http, "POST", path, body);
  }

  /** Sends a request that is not a command, once: after an error of the kind `cut` it may have had its effect. */
  post<T>(path: string, body: object): Promise<T> {
    return this.http.json("POST", path, { body });
  }

  /** Replaces what a route returns. */
  put<T>(path: string, body: object): Promise<T> {
    return this.http.jsonUntilAnswered("PUT", path, { body });
  }

  /** Changes parts of what a route returns, once. */
  patch<T>(path: string, body: object): Promise<T> {
    return this.http.json("PATCH", path, { body });
  }

  /** Deletes, once. */
  async delete(path: string): Promise<void> {
    await this.http.text("DELETE", path);
  }
}
