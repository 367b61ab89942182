// Web Push: shapes of the server's routes and messages, and the notification that a message becomes.

export interface PushState {
  /** The server's public key, as `applicationServerKey` takes it. */
  key: string;
  subscribed: boolean;
  subscription?: { device: string; host: string; created: string; state: "ok" | "failing" | "new"; last_sent?: string; error?: string; retry_at?: string };
  available: boolean;
  reason?: string;
}

/** Result of a test notification. */
export interface TestResult {
  sent: boolean;
  kind?: string;
  message?: string;
  hint?: string;
}

export type DecisionName = "allow" | "deny";

export type PushMessage =
  | {
      type: "notify";
      id: string;
      tag: string;
      title: string;
      body: string;
      url: string;
      at?: string;
      /** 0 for the first notification, then the number of the reminder. */
      reminder?: number;
      waiting?: boolean;
      badge?: number;
      risk?: "low" | "medium" | "high";
      actions?: { token: string; decisions: DecisionName[] };
      detail?: string;
    }
  | { type: "withdraw"; tags: string[]; badge?: number }
  | { type: "test"; tag: string; title: string; body: string; url: string };

/** Data of a notification, for the click on it. */
export interface NoticeData {
  /** The view that it opens, such as `#/s/KEY`. */
  place: string;
  /** Single-use right to decide the request. */
  token?: string;
}

export interface Shown {
  title: string;
  options: NotificationOptions & { renotify?: boolean; requireInteraction?: boolean; actions?: { action: DecisionName; title: string }[]; timestamp?: number; data: NoticeData };
}

const ACTION_TITLES: Record<DecisionName, string> = { allow: "Allow once", deny: "Deny" };

/** The notification of a message. A request of high risk has no buttons: it is decided on its card. */
export function notificationOf(message: Extract<PushMessage, { type: "notify" | "test" }>): Shown {
  const options: Shown["options"] = { body: message.body, tag: message.tag, icon: "icon-192.png", badge: "icon-192.png", data: { place: message.url } };
  if (message.type === "test") return { title: message.title, options };
  if (message.detail !== undefined) options.body = `${message.body}\n${message.detail}`;
  if (message.at !== undefined) options.timestamp = Date.parse(message.at);
  options.renotify = (message.reminder ?? 0) > 0;
  options.requireInteraction = message.waiting === true;
  if (message.actions !== undefined && message.risk !== "high") {
    options.data.token = message.actions.token;
    options.actions = message.actions.decisions.filter((one) => one in ACTION_TITLES).map((action) => ({ action, title: ACTION_TITLES[action] }));
  }
  return { title: message.title, options };
}

/** Sentence about a test notification. */
export function testText({ sent, kind, message, hint }: TestResult): string {
  if (sent) return "The test was sent. It should appear within a few seconds.";
  return `${message ?? kind ?? "The test failed"}${hint === undefined || hint === "" ? "" : ` (${hint})`}.`;
}
