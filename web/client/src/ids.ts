// Ids of commands, which let a command be sent again without a second effect.

import type { Http, Method } from "./http.ts";

/**
 * A new id of a command. A program that may have to send a command again, after a restart for example,
 * chooses the id itself, and stores it.
 */
export function newClientId(): string {
  // `randomUUID` is missing on pages without TLS that are not local.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Sends a command, and sends it again if the connection is lost, with the same id: it has one effect. The id
 * is the `client_id` of the body, or a new one.
 */
export function command<T>(http: Http, method: Method, path: string, body: object, query?: Record<string, string>): Promise<T> {
  const given = (body as { client_id?: unknown }).client_id;
  const id = typeof given === "string" ? given : newClientId();
  return http.jsonUntilAnswered(method, path, { body, id, query });
}
