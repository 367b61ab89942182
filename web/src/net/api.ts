// HTTP requests. Addresses are relative to the page, so that a base path needs no setting.

import type { Problem } from "../wire.ts";

/** A request was rejected or failed. */
export class ApiError extends Error {
  constructor(
    readonly problem: Problem,
    options?: ErrorOptions,
  ) {
    super(problem.detail || problem.title, options);
  }

  get status(): number {
    return this.problem.status;
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

export function address(path: string, query: Query = {}): URL {
  const url = new URL(`v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

export async function getJson<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await call("GET", path, query, undefined, signal)) as T;
}

/** A response that is not JSON as a whole. */
export async function getText(path: string, query?: Query): Promise<string> {
  return request("GET", path, query);
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  return (await call("POST", path, {}, body)) as T;
}

export async function send<T>(method: "DELETE" | "PATCH" | "PUT", path: string, body?: unknown, query?: Query): Promise<T> {
  return (await call(method, path, query, body)) as T;
}

async function call(method: string, path: string, query?: Query, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const text = await request(method, path, query, body, signal);
  return text === "" ? undefined : JSON.parse(text);
}

async function request(method: string, path: string, query?: Query, body?: unknown, signal?: AbortSignal): Promise<string> {
  const options: RequestInit = { method, credentials: "same-origin", cache: "no-store" };
  if (signal !== undefined) options.signal = signal;
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { "content-type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(address(path, query), options);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(problem(0, "unreachable", "The server cannot be reached", true), { cause });
  }
  if (!answer.ok) throw new ApiError(await problemOf(answer));
  return answer.status === 204 ? "" : answer.text();
}

async function problemOf(answer: Response): Promise<Problem> {
  try {
    const body: unknown = await answer.json();
    if (body !== null && typeof body === "object" && "code" in body) return body as Problem;
  } catch {
    // A response without JSON came from a proxy.
  }
  return problem(answer.status, "http", `The server answered with status ${answer.status}`, answer.status >= 500);
}

function problem(status: number, code: string, detail: string, retryable: boolean): Problem {
  return { type: "about:blank", title: detail, status, code, detail, hint: "", retryable, request_id: "" };
}
