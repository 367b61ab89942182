// Settings and targets of notifications, as the page shows and reads them.

import type { NotifyKind } from "../wire.ts";
import { URL_KINDS } from "./notify-kinds.ts";

/** The name of a kind of target; its word in the API if this page is older than the server. */
export function targetKindName(kind: NotifyKind): string {
  return kind === "web_push" ? "Web Push" : (URL_KINDS[kind]?.title ?? kind);
}

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

/** The list without an entry that it has, or with one that it lacks. */
export function toggled(list: readonly string[], entry: string): string[] {
  return list.includes(entry) ? list.filter((one) => one !== entry) : [...list, entry];
}
