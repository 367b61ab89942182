// Keeps the page itself, and nothing else: what the server says about sessions is never stored here.

interface Fetching extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface Lasting extends Event {
  waitUntil(done: Promise<unknown>): void;
}

const worker = self as unknown as {
  addEventListener(name: "fetch", run: (event: Fetching) => void): void;
  addEventListener(name: "install" | "activate", run: (event: Lasting) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  registration: { scope: string };
};

declare const SHELL: string[];
declare const VERSION: string;

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(SHELL)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== VERSION).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const path = request.url.startsWith(worker.registration.scope) ? request.url.slice(worker.registration.scope.length) : undefined;
  if (request.method !== "GET" || path === undefined || path.startsWith("v1/")) return;
  if (request.mode === "navigate") {
    // The newest page if the server answers, the kept one if it does not.
    event.respondWith(fetch(request).catch(() => kept("./")));
  } else if (SHELL.includes(path)) {
    event.respondWith(kept(path, request));
  }
});

async function kept(path: string, otherwise?: Request): Promise<Response> {
  const found = await (await caches.open(VERSION)).match(new URL(path, worker.registration.scope).href);
  return found ?? (otherwise === undefined ? Response.error() : fetch(otherwise));
}
