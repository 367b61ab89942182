// Notifications of the browser, for those who asked for them, while they look elsewhere.

import type { PendingPermission, PendingQuestion, SessionView } from "../wire.ts";
import { prefs, setPref } from "./prefs.ts";
import { href } from "./route.ts";

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
  show(`${nameOf(session)} ${what}`, "Open Tidings to answer.", ask.session, `ask-${ask.tool_use_id}`);
}

export function notifyTurn(session: SessionView | undefined, isError: boolean, lastLine: string | undefined): void {
  const what = isError ? "stopped with an error" : "is done";
  show(`${nameOf(session)} ${what}`, lastLine ?? "", session?.key, `turn-${session?.key ?? ""}`);
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

function nameOf(session: SessionView | undefined): string {
  return session?.title ?? "A session";
}
