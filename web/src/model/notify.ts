// Settings and targets of notifications: shapes of the server's routes, and how the page shows and reads them.

export interface NotifySettings {
  first_after_s: number;
  reminders_s: number[];
  quiet?: { from: string; to: string; zone: string };
  off_kinds: string[];
  off_sessions: string[];
  details: boolean;
  coalesce_from: number;
}

export type TargetKind = "webhook" | "slack" | "discord" | "ntfy" | "web_push";

export interface NotifyTarget {
  id: string;
  kind: TargetKind;
  name: string;
  source: "file" | "page" | "device";
  events: string[];
  include_details: boolean;
  allow_button: boolean;
  has_secret: boolean;
  has_token: boolean;
  state: "new" | "ok" | "failing";
  last_sent?: string;
  error?: string;
  retry_at?: string;
  failures?: number;
}

export const TARGET_KINDS: Record<TargetKind, string> = { ntfy: "ntfy", webhook: "Webhook", slack: "Slack", discord: "Discord", web_push: "Web Push" };

/** Reminders as minutes, such as `1, 5, 30`. */
export function remindersText(seconds: readonly number[]): string {
  return seconds.map((one) => String(Math.round((one / 60) * 100) / 100)).join(", ");
}

/** Reminders in seconds; `undefined` if the text is not a list of minutes. */
export function parseReminders(text: string): number[] | undefined {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== "");
  const seconds = parts.map((part) => Math.round(Number(part) * 60));
  return seconds.every((one) => Number.isFinite(one) && one > 0) ? seconds : undefined;
}
