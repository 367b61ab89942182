// HTTP requests to the server of the page. Addresses are relative to it, so that a base path needs no setting.

import type { Query } from "@tidings/client";
import { Http } from "@tidings/client";

let http: Http | undefined;

/** The page sends a request once, however long it takes: the user sees the error, and can try again. */
function server(): Http {
  return (http ??= new Http(new URL("./", document.baseURI).href, undefined, { answerMaxMs: Infinity }));
}

export function getJson<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return server().json("GET", `/v1/${path}`, { query, signal });
}

/** A response that is not JSON as a whole. */
export function getText(path: string, query?: Query): Promise<string> {
  return server().text("GET", `/v1/${path}`, { query });
}

export function postJson<T>(path: string, body: unknown): Promise<T> {
  return server().json("POST", `/v1/${path}`, { body });
}

export function send<T>(method: "DELETE" | "PATCH" | "PUT", path: string, body?: unknown, query?: Query): Promise<T> {
  return server().json(method, `/v1/${path}`, { body, query });
}
