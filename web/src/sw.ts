// Service worker. Caches the page's own files, and never data about sessions. It shows notifications, also
// while no page is open, opens the page from them, and sends the decision of a button on one.

import type { NoticeData } from "./model/push.ts";
import { notificationOf } from "./model/push.ts";
import { SHARE_CACHE, SHARE_FILE, SHARE_PATH, SHARE_TEXT, sharedPrompt } from "./model/share.ts";
import type { PushMessage } from "./wire.ts";

interface Fetching extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface Lasting extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface Pressed extends Lasting {
  notification: Notification;
  /** Name of the pressed button; empty for the notification itself. */
  action: string;
}

interface Pushed extends Lasting {
  data: { json(): unknown } | null;
}

interface Resubscribed extends Lasting {
  oldSubscription: PushSubscription | null;
  newSubscription?: PushSubscription | null;
}

interface Tab {
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}

const worker = self as unknown as {
  addEventListener(name: "notificationclick", run: (event: Pressed) => void): void;
  addEventListener(name: "push", run: (event: Pushed) => void): void;
  addEventListener(name: "pushsubscriptionchange", run: (event: Resubscribed) => void): void;
  addEventListener(name: "fetch", run: (event: Fetching) => void): void;
  addEventListener(name: "install" | "activate", run: (event: Lasting) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void>; matchAll(options: { type: "window" }): Promise<readonly Tab[]>; openWindow(url: string): Promise<unknown> };
  registration: ServiceWorkerRegistration;
};

declare const SHELL: string[];
declare const VERSION: string;

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(SHELL)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== VERSION && name !== SHARE_CACHE).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const path = request.url.startsWith(worker.registration.scope) ? request.url.slice(worker.registration.scope.length) : undefined;
  if (request.method === "POST" && path === SHARE_PATH) {
    event.respondWith(shared(request));
    return;
  }
  if (request.method !== "GET" || path === undefined || path.startsWith("v1/")) return;
  if (request.mode === "navigate") {
    // The server refuses frames.
    if (request.destination !== "document") return;
    // The newest page if the server responds, else the cached one. The worker asks for it itself: the request of a
    // link on another site would be one of that site.
    event.respondWith(fetch(request.url, { redirect: "manual" }).catch(() => kept("./")));
  } else if (SHELL.includes(path)) {
    event.respondWith(kept(path, request));
  }
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { place, token } = (event.notification.data ?? {}) as Partial<NoticeData>;
  event.waitUntil(pressed(event.action, new URL(place ?? "", worker.registration.scope).href, token));
});

worker.addEventListener("push", (event) => {
  event.waitUntil(pushed(event.data?.json() as PushMessage));
});

worker.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(subscribeAgain(event));
});

/** Keeps what another app shares until the page reads it, and opens the form for a new session. */
async function shared(request: Request): Promise<Response> {
  const form = await request.formData();
  await caches.delete(SHARE_CACHE);
  const cache = await caches.open(SHARE_CACHE);
  const given = (name: string) => form.getAll(name).find((value) => typeof value === "string") ?? null;
  await cache.put(SHARE_TEXT, new Response(sharedPrompt([given("title"), given("text"), given("url")])));
  for (const file of form.getAll("files")) {
    if (typeof file === "string") continue;
    const name = encodeURIComponent(file.name || "picture");
    await cache.put(`${SHARE_TEXT}?${SHARE_FILE}=${name}`, new Response(file, { headers: { "content-type": file.type } }));
  }
  return Response.redirect(new URL("#/new?shared=1", worker.registration.scope).href, 303);
}

async function pushed(message: PushMessage): Promise<void> {
  if (message.type === "withdraw") {
    await Promise.all(message.tags.map(withdraw));
  } else {
    const { title, options } = notificationOf(message);
    await worker.registration.showNotification(title, options);
  }
  if ("badge" in message) await setBadge(message.badge);
}

/**
 * Closes the notifications with a tag. Browsers demand that every message shows one, so one that replaces them is
 * shown first, without a sound.
 */
async function withdraw(tag: string): Promise<void> {
  await worker.registration.showNotification("Tidings", { tag, silent: true, body: "Answered", data: { place: "#/inbox" } });
  for (const notification of await worker.registration.getNotifications({ tag })) notification.close();
}

async function setBadge(count: number): Promise<void> {
  if (!("setAppBadge" in navigator)) return;
  await (count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => undefined);
}

/** Sends the decision of a button. If it is not accepted, or without one, the request is shown. */
async function pressed(action: string, url: string, token: string | undefined): Promise<void> {
  if ((action === "allow" || action === "deny") && token !== undefined && (await decide(token, action))) return;
  await show(url);
}

async function decide(token: string, decision: string): Promise<boolean> {
  return call("POST", "v1/inbox/act", { token, decision });
}

async function call(method: string, path: string, body: unknown): Promise<boolean> {
  const request: RequestInit = { method, credentials: "same-origin", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return fetch(new URL(path, worker.registration.scope), request).then(({ ok }) => ok, () => false);
}

/** The browser replaced the subscription; the server gets the new one. */
async function subscribeAgain({ oldSubscription, newSubscription }: Resubscribed): Promise<void> {
  const options = oldSubscription?.options;
  const subscription = newSubscription ?? (options === undefined ? undefined : await worker.registration.pushManager.subscribe(options as PushSubscriptionOptionsInit));
  if (subscription !== undefined) await call("PUT", "v1/push", subscription.toJSON());
}

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
