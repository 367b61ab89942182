// Pending requests of all sessions.

import { RemoteError } from "./error.ts";
import type { Http } from "./http.ts";
import { Notices } from "./notices.ts";
import type { Notice, PendingPermission, PendingQuestion, PermissionList, QuestionList } from "./wire.ts";

/** A pending request. */
export type SessionRequest =
  /** A tool call that waits for permission. */
  | { kind: "permission"; request: PendingPermission }
  /** Questions, a plan, or a form. */
  | { kind: "question"; request: PendingQuestion };

/** An update of a {@link RequestStream}. */
export type RequestUpdate =
  /** A request waits. Each is reported once. */
  | ({ type: "opened" } & SessionRequest)
  /**
   * A request that was reported does not wait any more. The outcome is as in the event of the request, and
   * absent if it was settled while the connection was lost.
   */
  | { type: "settled"; session: string; toolUseId: string; outcome: string | undefined }
  /** All requests that wait were reported. */
  | { type: "up_to_date" }
  /** The connection was lost, or could not be made. It is made again. */
  | { type: "lost"; error: RemoteError };

/**
 * Permission requests and questions of all sessions: those that wait now, those that are added, and those
 * that are settled, by the first client that answers. Another iteration continues with what has changed.
 *
 * Only what no later attempt changes is an error, such as a credential that was revoked.
 */
export class RequestStream implements AsyncIterable<RequestUpdate> {
  readonly #open = new OpenRequests();
  /** Updates that were not returned yet. */
  readonly #updates: RequestUpdate[] = [];
  readonly #notices: Notices;

  constructor(
    private readonly http: Http,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#notices = new Notices(http, signal);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RequestUpdate, never> {
    yield* this.#taken();
    for await (const update of this.#notices) {
      if (update.type === "lost") this.#updates.push(update);
      else if (update.type === "notice") this.#updates.push(...this.#open.notice(update.notice));
      // Notices wait meanwhile: they are newer than the list, or repeat it.
      else this.#updates.push(...(await this.#listed()));
      yield* this.#taken();
    }
    throw new Error("notices have no end");
  }

  *#taken(): Generator<RequestUpdate, void> {
    for (let update = this.#updates.shift(); update !== undefined; update = this.#updates.shift()) yield update;
  }

  async #listed(): Promise<RequestUpdate[]> {
    try {
      const requests = await list(this.http, this.signal);
      this.#notices.succeeded();
      return this.#open.list(requests);
    } catch (error) {
      if (!(error instanceof RemoteError) || error.retry.advice === "never") throw error;
      this.#notices.reconnect();
      return [{ type: "lost", error }];
    }
  }
}

/** Fetches all requests that wait. */
async function list(http: Http, signal: AbortSignal | undefined): Promise<SessionRequest[]> {
  const permissions = await http.jsonUntilAnswered<PermissionList>("GET", "/v1/permissions", { signal });
  const questions = await http.jsonUntilAnswered<QuestionList>("GET", "/v1/questions", { signal });
  return [
    ...permissions.items.map((request) => ({ kind: "permission" as const, request })),
    ...questions.items.map((request) => ({ kind: "question" as const, request })),
  ];
}

/** The requests that were reported and are not settled. */
export class OpenRequests {
  /** Sessions and ids, by both. */
  readonly #open = new Map<string, { session: string; toolUseId: string }>();

  /** Takes the list of all requests that wait. */
  list(requests: SessionRequest[]): RequestUpdate[] {
    const listed = new Set(requests.map(({ request }) => nameOf(request.session, request.tool_use_id)));
    return [...this.#settle((name) => !listed.has(name)), ...requests.flatMap((request) => this.#add(request)), { type: "up_to_date" }];
  }

  notice(notice: Notice): RequestUpdate[] {
    switch (notice.type) {
      case "permission":
        return this.#add({ kind: "permission", request: notice.permission });
      case "question":
        return this.#add({ kind: "question", request: notice.question });
      case "settled": {
        const { session, tool_use_id: toolUseId, outcome } = notice;
        return this.#open.delete(nameOf(session, toolUseId)) ? [{ type: "settled", session, toolUseId, outcome }] : [];
      }
      case "deleted":
        return this.#settle((_, session) => session === notice.key);
      default:
        return [];
    }
  }

  #add(added: SessionRequest): RequestUpdate[] {
    const { session, tool_use_id: toolUseId } = added.request;
    const name = nameOf(session, toolUseId);
    if (this.#open.has(name)) return [];
    this.#open.set(name, { session, toolUseId });
    return [{ type: "opened", ...added }];
  }

  /** Settles requests whose outcome is not known. */
  #settle(isSettled: (name: string, session: string) => boolean): RequestUpdate[] {
    const settled = [...this.#open].filter(([name, { session }]) => isSettled(name, session));
    return settled.map(([name, request]) => {
      this.#open.delete(name);
      return { type: "settled", ...request, outcome: undefined };
    });
  }
}

function nameOf(session: string, toolUseId: string): string {
  return `${session} ${toolUseId}`;
}
