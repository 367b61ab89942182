// Browser notifications, if the user enabled them, while the page is in the background.

import { nameOf } from "../model/name.ts";
import type { PendingPermission, PendingQuestion, SessionView } from "../wire.ts";
import { prefs, setPref } from "./prefs.ts";
import { href } from "./route.ts";

const NAME_MAX = 60;

/** Requests the browser's permission; returns whether it was granted. */
export async function wantNotifications(wanted: boolean): Promise<boolean> {
  if (!wanted || !("Notification" in window)) {
    setPref("notify", false);
    return false;
  }
  const said = Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission;
  setPref("notify", said === "granted");
  return said === "granted";
}

export function notifyAsk(session: SessionView | undefined, ask: PendingPermission | PendingQuestion): void {
  // Tool inputs do not belong on a lock screen: only the tool's name is shown.
  const what = "plan" in ask || "questions" in ask.details ? "has a question" : `asks to use ${ask.details.tool_name}`;
  show(`${nameFor(session)} ${what}`, "Open Tidings to answer.", ask.session, `ask-${ask.tool_use_id}`);
}

export function notifyTurn(session: SessionView | undefined, end: "done" | "failed" | "interrupted", lastLine: string | undefined): void {
  const what = end === "failed" ? "stopped with an error" : end === "interrupted" ? "was interrupted" : "is done";
  show(`${nameFor(session)} ${what}`, lastLine ?? "", session?.key, `turn-${session?.key ?? ""}`);
}

function show(title: string, body: string, session: string | undefined, tag: string): void {
  // With Web Push the server notifies this device.
  if (!prefs.value.notify || prefs.value.push || document.visibilityState === "visible") return;
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const place = href(session === undefined ? { view: "home" } : { view: "session", id: session });
  const options: NotificationOptions = { body, tag, icon: "icon-192.png", data: { place } };
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      window.focus();
      location.hash = place;
      notification.close();
    };
  } catch {
    // Phones allow it only in the service worker.
    navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, options)).catch(() => undefined);
  }
}

function nameFor(session: SessionView | undefined): string {
  if (session === undefined) return "A session";
  const name = nameOf(session);
  // The name is shortened, so that the text after it is not cut off.
  return name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX).trimEnd()}…`;
}
