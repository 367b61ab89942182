// Notifications of the browser, for those who asked for them, while they look elsewhere.

import { nameOf } from "../model/name.ts";
import type { PendingPermission, PendingQuestion, SessionView } from "../wire.ts";
import { prefs, setPref } from "./prefs.ts";
import { href } from "./route.ts";

const NAME_MAX = 60;

/** Asks the browser; whether it agreed. */
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
  // The words of a tool do not belong on a locked screen: only its name is shown.
  const what = "plan" in ask || "questions" in ask.details ? "has a question" : `asks to use ${ask.details.tool_name}`;
  show(`${nameFor(session)} ${what}`, "Open Tidings to answer.", ask.session, `ask-${ask.tool_use_id}`);
}

export function notifyTurn(session: SessionView | undefined, end: "done" | "failed" | "interrupted", lastLine: string | undefined): void {
  const what = end === "failed" ? "stopped with an error" : end === "interrupted" ? "was interrupted" : "is done";
  show(`${nameFor(session)} ${what}`, lastLine ?? "", session?.key, `turn-${session?.key ?? ""}`);
}

function show(title: string, body: string, session: string | undefined, tag: string): void {
  if (!prefs.value.notify || document.visibilityState === "visible") return;
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
    // Phones only allow it to the service worker.
    navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, options)).catch(() => undefined);
  }
}

function nameFor(session: SessionView | undefined): string {
  if (session === undefined) return "A session";
  const name = nameOf(session);
  // What happened comes after it, and must not be cut off by whoever shows it.
  return name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX).trimEnd()}…`;
}
