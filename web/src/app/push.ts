// Web Push of this browser: subscribing, and telling the server about it.

import { RemoteError } from "@tidings/client";
import { getJson, postJson, send } from "../net/api.ts";
import type { NotifyTest, PushState } from "../wire.ts";
import { setPref } from "./prefs.ts";

/** Reason why this browser cannot receive Web Push; `undefined` if it can. */
export function pushObstacle(): string | undefined {
  if (!isSecureContext) return "Browsers allow notifications only on pages with HTTPS. docs/phone-access.md describes how to get it";
  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) return undefined;
  const isApple = /iPhone|iPad/.test(navigator.userAgent);
  return isApple ? "Add this page to the Home Screen first, and open it from there" : "This browser does not support Web Push";
}

/** The server's state; the stored preference follows it. */
export async function pushState(): Promise<PushState> {
  const state = await getJson<PushState>("push");
  const local = pushObstacle() === undefined ? await localSubscription() : undefined;
  const subscribed = state.subscribed && local !== undefined;
  setPref("push", subscribed);
  return { ...state, subscribed };
}

export async function subscribePush(key: string): Promise<PushState> {
  const permission = Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission;
  if (permission !== "granted") throw new Error("The browser does not allow notifications for this page. Allow them in its settings for this address");
  const registration = await navigator.serviceWorker.ready;
  // A subscription for another key, such as that of an earlier server, is replaced.
  await (await localSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }).catch((cause: unknown) => {
    throw new Error(`The browser’s push service did not accept the subscription: ${cause instanceof Error ? cause.message : String(cause)}`);
  });
  try {
    const state = await send<PushState>("PUT", "push", subscription.toJSON());
    setPref("push", true);
    return state;
  } catch (error) {
    await subscription.unsubscribe().catch(() => undefined);
    throw error;
  }
}

export async function unsubscribePush(): Promise<PushState> {
  await send("DELETE", "push").catch((error: unknown) => {
    // The server had removed it already.
    if (!(error instanceof RemoteError) || error.status !== 404) throw error;
  });
  await (await localSubscription())?.unsubscribe();
  setPref("push", false);
  return getJson<PushState>("push");
}

export function testPush(): Promise<NotifyTest> {
  return postJson<NotifyTest>("push/test", {});
}

async function localSubscription(): Promise<PushSubscription | undefined> {
  // `ready` would wait for ever without a service worker.
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? undefined;
}
