// Web Push: the notification that a message becomes, and the result of a test in words.

import type { Choice, NotifyTest, PushMessage } from "../wire.ts";

/** Data of a notification, for the click on it. */
export interface NoticeData {
  /** The view that it opens, such as `#/s/KEY`. */
  place: string;
  /** Single-use right to decide the request. */
  token?: string;
}

export interface Shown {
  title: string;
  options: NotificationOptions & { renotify?: boolean; requireInteraction?: boolean; actions?: { action: Choice; title: string }[]; timestamp?: number; data: NoticeData };
}

const ACTION_TITLES: Record<Choice, string> = { allow: "Allow once", deny: "Deny" };

/** The notification of a message. A request of high risk has no buttons: it is decided on its card. */
export function notificationOf(message: Extract<PushMessage, { type: "notify" | "test" }>): Shown {
  const options: Shown["options"] = { body: message.body, tag: message.tag, icon: "icon-192.png", badge: "icon-192.png", data: { place: message.url } };
  if (message.type === "test") return { title: message.title, options };
  if (message.detail !== undefined) options.body = `${message.body}\n${message.detail}`;
  options.timestamp = Date.parse(message.at);
  options.renotify = message.reminder > 0;
  options.requireInteraction = message.waiting;
  if (message.actions !== undefined && message.risk !== "HIGH") {
    options.data.token = message.actions.token;
    options.actions = message.actions.decisions.filter((one) => one in ACTION_TITLES).map((action) => ({ action, title: ACTION_TITLES[action] }));
  }
  return { title: message.title, options };
}

/** Sentence about a test notification. */
export function testText({ sent, kind, message, hint }: NotifyTest): string {
  if (sent) return "The test was sent. It should appear within a few seconds.";
  return `${message ?? kind ?? "The test failed"}${hint === undefined || hint === "" ? "" : ` (${hint})`}.`;
}
