// HTTP requests to one server, and requests that are sent again when their connection is lost.

import { RemoteError } from "./error.ts";
import type { Problem } from "./wire.ts";

/** Times of a client, and what it sends requests with. */
export interface RemoteOptions {
  /** Time for a response. */
  answerMaxMs: number;
  /** Time during which a request is sent again after its connection was lost; it is sent once with 0. */
  patienceMs: number;
  /** Pause before the second attempt to connect again; each further pause is twice as long. */
  pauseFirstMs: number;
  /** Upper bound of the pause. */
  pauseMaxMs: number;
  /** Silence after which a stream counts as lost. Servers send a heartbeat every 15 seconds. */
  silenceMaxMs: number;
  /** Sends a request; the global `fetch` by default. */
  fetch(url: URL, request: RequestInit): Promise<Response>;
}

export type Method = "DELETE" | "GET" | "PATCH" | "POST" | "PUT";

/** Parameters of a URL; absent and empty ones are left out. */
export type Query = Record<string, string | number | boolean | undefined>;

/** One request. */
export interface HttpRequest {
  query?: Query | undefined;
  body?: unknown;
  /** Id of a command. */
  id?: string;
  signal?: AbortSignal | undefined;
}

const DEFAULTS: Omit<RemoteOptions, "fetch"> = {
  answerMaxMs: 30_000,
  patienceMs: 60_000,
  pauseFirstMs: 500,
  pauseMaxMs: 10_000,
  silenceMaxMs: 45_000,
};

/** Codes of Node.js for connections that were not made, so that nothing was sent. */
const UNREACHABLE = new Set(["ECONNREFUSED", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]);
/** Codes of Node.js for certificates. */
const UNTRUSTED = /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT|SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER|VERIFY))/;

/** Requests to one server. {@link RemoteServer} has a method for each of its uses. */
export class Http {
  readonly options: RemoteOptions;
  readonly #base: string;

  /** Without a token, a browser sends its cookie. */
  constructor(
    address: string,
    private readonly token: string | undefined,
    options: Partial<RemoteOptions> = {},
  ) {
    this.#base = address.replace(/\/+$/, "");
    this.options = { ...DEFAULTS, fetch: (url, request) => fetch(url, request), ...options };
  }

  /** Sends a request once, and returns the body of the response. */
  async text(method: Method, path: string, request: HttpRequest = {}): Promise<string> {
    const attempt = new Attempt(request.signal);
    const timer = attempt.limit(this.options.answerMaxMs, "timed out");
    try {
      const response = await this.#open(method, path, request, attempt);
      return response.status === 204 ? "" : await response.text();
    } catch (error) {
      throw this.failure(error, attempt);
    } finally {
      clearTimeout(timer);
      attempt.end();
    }
  }

  /** The same for JSON. */
  async json<T>(method: Method, path: string, request?: HttpRequest): Promise<T> {
    return parsed<T>(await this.text(method, path, request));
  }

  /**
   * Sends a request again as long as its connection is lost. A response is final, whatever it is, unless the
   * server that lost the connection is only starting again.
   */
  async jsonUntilAnswered<T>(method: Method, path: string, request: HttpRequest = {}): Promise<T> {
    const deadline = Date.now() + this.options.patienceMs;
    let wasCut = false;
    for (let attempts = 0; ; attempts += 1) {
      let failure: RemoteError;
      try {
        return parsed<T>(await this.text(method, path, request));
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
        failure = error;
      }
      wasCut ||= failure.kind === "cut";
      if (!wasCut) throw failure;
      const wait = Math.max(this.pauseMs(attempts), failure.problem.retry_after_ms ?? 0);
      if (failure.retry.advice === "never" || Date.now() + wait >= deadline) throw failure.afterCut();
      await pause(wait, request.signal);
    }
  }

  /** Opens a stream, which is closed with `attempt`. @internal */
  async stream(path: string, query: Query, attempt: Attempt): Promise<ReadableStream<Uint8Array>> {
    const timer = attempt.limit(this.options.answerMaxMs, "timed out");
    try {
      const response = await this.#open("GET", path, { query }, attempt);
      if (response.body === null) throw RemoteError.of("response", "The response of the server is empty", "check the address");
      return response.body;
    } catch (error) {
      throw this.failure(error, attempt);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Pause before an attempt, by the number of those before it that brought nothing. @internal */
  pauseMs(attempts: number): number {
    const { pauseFirstMs, pauseMaxMs } = this.options;
    return attempts === 0 ? 0 : Math.min(pauseMaxMs, pauseFirstMs * 2 ** (attempts - 1));
  }

  async #open(method: Method, path: string, { query, body, id }: HttpRequest, attempt: Attempt): Promise<Response> {
    const headers: Record<string, string> = {};
    if (this.token !== undefined) headers.authorization = `Bearer ${this.token}`;
    if (id !== undefined) headers["idempotency-key"] = id;
    const credentials = this.token === undefined ? "same-origin" : "omit";
    const init: RequestInit = { method, headers, credentials, cache: "no-store", signal: attempt.signal };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    const response = await this.options.fetch(this.#address(path, query), init);
    if (!response.ok) throw await refusal(response);
    return response;
  }

  #address(path: string, query: Query = {}): URL {
    let url: URL;
    try {
      url = new URL(this.#base + path);
    } catch (cause) {
      throw RemoteError.of("invalid", "Not the address of a server", "an address looks like `https://box.example` or `http://127.0.0.1:7717`", { cause });
    }
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** The error of a request without a whole response. @internal */
  failure(error: unknown, attempt: Attempt): unknown {
    if (attempt.isCancelled || error instanceof RemoteError) return error;
    if (attempt.timedOut !== undefined) return RemoteError.of("cut", `The connection to the server was lost: ${attempt.timedOut}`, "check that it runs");
    const codes = codesOf(error);
    const options = { cause: error };
    if (codes.some((code) => UNTRUSTED.test(code))) {
      const hint = "set NODE_EXTRA_CA_CERTS to a PEM file with the certificates to trust, and use a host name that the certificate covers";
      return RemoteError.of("untrusted", `The certificate of the server is not trusted: ${codes[0]}`, hint, options);
    }
    if (codes.some((code) => UNREACHABLE.has(code))) {
      const hint = "check that it runs, and that its address begins with the right scheme, http:// or https://";
      return RemoteError.of("unreachable", "The server cannot be reached", hint, options);
    }
    // Browsers do not say whether the request was sent.
    const message = codes.length > 0 ? "The connection to the server was lost" : "The server cannot be reached";
    return RemoteError.of("cut", message, codes.length > 0 ? "check that it runs" : "", options);
  }
}

/** One attempt, which ends with its caller's signal or at a limit. */
export class Attempt {
  /** The limit that has ended it. */
  timedOut: string | undefined;
  readonly #controller = new AbortController();
  readonly #cancel = () => this.#controller.abort(this.caller?.reason);

  constructor(private readonly caller: AbortSignal | undefined) {
    if (caller?.aborted) this.#cancel();
    caller?.addEventListener("abort", this.#cancel);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.caller?.aborted ?? false;
  }

  /** Ends the attempt after a time, unless the returned timer is cleared before. */
  limit(ms: number, name: string): ReturnType<typeof setTimeout> | undefined {
    if (ms === Infinity) return undefined;
    return setTimeout(() => {
      this.timedOut = name;
      this.#controller.abort();
    }, ms);
  }

  /** Closes the connection, if it is still open. */
  end(): void {
    this.caller?.removeEventListener("abort", this.#cancel);
    this.#controller.abort();
  }
}

/** Waits, and ends early with an error when the caller cancels. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (ms === 0) return;
  await new Promise<void>((done, failed) => {
    const cancel = () => {
      clearTimeout(timer);
      failed(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancel);
      done();
    }, ms);
    signal?.addEventListener("abort", cancel, { once: true });
  });
}

/** A segment of a path. */
export function segment(text: string | number): string {
  return encodeURIComponent(String(text));
}

/** Codes of an error and of its causes. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code, errors } = each as { code?: unknown; errors?: unknown };
    if (typeof code === "string") codes.push(code);
    // One per address of a host.
    if (Array.isArray(errors)) codes.push(...errors.flatMap(codesOf));
  }
  return codes;
}

async function refusal(response: Response): Promise<RemoteError> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    if (body !== null && typeof body === "object" && "code" in body) return RemoteError.refused(body as Problem);
  } catch {
    // A response without JSON came from a proxy.
  }
  return RemoteError.ofStatus(response.status);
}

function parsed<T>(text: string): T {
  if (text === "") return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw RemoteError.of("response", "The response of the server is not understood", "check the address, and update this program or the server", { cause });
  }
}
