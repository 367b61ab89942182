// Service worker. Caches the page's own files, and never data about sessions. Notifications on phones belong
// to it, so it also opens the page from them.

interface Fetching extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface Lasting extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface Pressed extends Lasting {
  notification: Notification;
}

interface Tab {
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}

const worker = self as unknown as {
  addEventListener(name: "notificationclick", run: (event: Pressed) => void): void;
  addEventListener(name: "fetch", run: (event: Fetching) => void): void;
  addEventListener(name: "install" | "activate", run: (event: Lasting) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void>; matchAll(options: { type: "window" }): Promise<readonly Tab[]>; openWindow(url: string): Promise<unknown> };
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
    // The newest page if the server responds, else the cached one.
    event.respondWith(fetch(request).catch(() => kept("./")));
  } else if (SHELL.includes(path)) {
    event.respondWith(kept(path, request));
  }
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { place } = (event.notification.data ?? {}) as { place?: string };
  event.waitUntil(show(new URL(place ?? "", worker.registration.scope).href));
});

/** In an open page, or in a new one. */
async function show(url: string): Promise<void> {
  const [tab] = await worker.clients.matchAll({ type: "window" });
  if (tab === undefined) {
    await worker.clients.openWindow(url);
    return;
  }
  // If the browser does not focus the page, it shows the right session when the user opens it.
  await tab.focus().catch(() => undefined);
  await tab.navigate(url);
}

async function kept(path: string, otherwise?: Request): Promise<Response> {
  const found = await (await caches.open(VERSION)).match(new URL(path, worker.registration.scope).href);
  return found ?? (otherwise === undefined ? Response.error() : fetch(otherwise));
}
