// Browser APIs behind the interface of the connection.

import type { Surroundings } from "../net/connection.ts";

export const surroundings: Surroundings = {
  open() {
    const url = new URL("v1/ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return new WebSocket(url, "tidings.v1");
  },
  now: () => Date.now(),
  random: () => Math.random(),
  later(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** A unique id. `randomUUID` is missing on pages without TLS that are not local. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
