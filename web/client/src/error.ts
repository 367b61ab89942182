// Errors of requests to a server.

import type { AnswerResult, Problem } from "./wire.ts";

/** Kind of a {@link RemoteError}, to branch on. */
export type ErrorKind =
  /** The server refused the request; {@link RemoteError.code} is the reason. */
  | "refused"
  /** The server cannot be reached. Nothing was sent. */
  | "unreachable"
  /** The certificate of the server is not trusted. Nothing was sent. */
  | "untrusted"
  /** The connection was lost before the whole response was there: the request may have had its effect. */
  | "cut"
  /** The address of the server, or the request, cannot be sent as it is. */
  | "invalid"
  /** The response is not one of a Tidings server. */
  | "response";

/** Advice on sending a request again. */
export type Retry =
  /** The same request fails again. */
  | { advice: "never" }
  /** The same request may succeed after this time. */
  | { advice: "after"; ms: number }
  /** The request may have had its effect. Sent again with the same client id it has no second one. */
  | { advice: "with_same_id" };

/** Delay before the next attempt if the server names none. */
const RETRY_DEFAULT_MS = 1000;

/** Codes of errors without a response, as in the errors of the server. */
const CODES = { unreachable: "unavailable", untrusted: "unavailable", cut: "unavailable", invalid: "invalid", response: "internal" } as const;

/** A request that failed: a kind to branch on, a message to show, a hint to act on, and advice on a retry. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";

  private constructor(
    readonly kind: ErrorKind,
    /** The report of the server, or one in the same form. */
    readonly problem: Problem,
    readonly retry: Retry,
    options?: ErrorOptions,
  ) {
    super(problem.detail || problem.title, options);
  }

  /** The error that a server has reported. */
  static refused(problem: Problem): RemoteError {
    return new RemoteError("refused", problem, problem.retryable ? { advice: "after", ms: problem.retry_after_ms ?? RETRY_DEFAULT_MS } : { advice: "never" });
  }

  /** An error of this client. */
  static of(kind: Exclude<ErrorKind, "refused">, message: string, hint = "", options?: ErrorOptions): RemoteError {
    const retry: Retry =
      kind === "unreachable" ? { advice: "after", ms: RETRY_DEFAULT_MS } : kind === "cut" ? { advice: "with_same_id" } : { advice: "never" };
    return new RemoteError(kind, problemOf(0, CODES[kind], message, hint, retry.advice !== "never"), retry, options);
  }

  /** A response that is no report of a server. Proxies answer with 5xx while the server behind them restarts. */
  static ofStatus(status: number): RemoteError {
    const isTemporary = status >= 500;
    const problem = problemOf(status, "internal", `The server answered with status ${status}`, isTemporary ? "" : "check the address", isTemporary);
    return new RemoteError("response", problem, isTemporary ? { advice: "after", ms: RETRY_DEFAULT_MS } : { advice: "never" });
  }

  /** The same error after an earlier attempt that may have had its effect. */
  afterCut(): RemoteError {
    return this.kind === "unreachable" ? new RemoteError("cut", this.problem, { advice: "with_same_id" }, { cause: this.cause }) : this;
  }

  /** The code of the server, or the one that is nearest to an error of this client. */
  get code(): string {
    return this.problem.code;
  }

  /** The hint; may be empty. */
  get hint(): string {
    return this.problem.hint;
  }

  /** Status of the response; 0 without one. */
  get status(): number {
    return this.problem.status;
  }

  /** The answer that came first, if the request had been answered before. */
  get winner(): AnswerResult | undefined {
    return this.problem.winner;
  }

  /** The key of the session that has open what the request wanted to use. */
  get session(): string | undefined {
    return this.problem.session;
  }

  /** True if the session, request or device does not exist, or exists no more. */
  get isGone(): boolean {
    return this.kind === "refused" && (this.code === "not_found" || this.code === "gone");
  }

  /** True if there was no response: the connection was lost, or not made. */
  get isUnanswered(): boolean {
    return this.status === 0;
  }
}

function problemOf(status: number, code: string, detail: string, hint: string, retryable: boolean): Problem {
  return { type: "about:blank", title: detail, status, code, detail, hint, retryable, request_id: "" };
}
