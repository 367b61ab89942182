// Registers the service worker, which caches the page's files, so that it opens without the server and can be
// installed.

import { workerUrl } from "./trusted.ts";

export function keepShell(): void {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  navigator.serviceWorker.register(workerUrl("sw.js")).catch(() => undefined);
}
