// Pins, archive marks and unread marks. Those of the server's sessions are labels, which all devices share; those of
// sessions on disk, and what this browser has shown, are stored in this browser.

import { effect, signal } from "@preact/signals";
import type { Entry, Marks } from "../model/groups.ts";
import { send } from "../net/api.ts";
import type { SessionView } from "../wire.ts";
import { remember, viewOf } from "./list.ts";
import { loadJson, saveJson } from "./local-data.ts";
import { route } from "./route.ts";
import { errorText, open } from "./store.ts";
import { showToast } from "./toasts.ts";

export type Mark = "pinned" | "archived";

const DISK = "tidings.marks";
const SEEN = "tidings.seen";
const ON = "yes";

/** Marked sessions on disk, by mark and id. */
const diskMarks = signal<Partial<Record<Mark, string[]>>>(loadJson(DISK) ?? {});

interface Seen {
  /** Sessions that were used before this time, and never opened here, count as seen. */
  since: string;
  /** Number of turns that this browser has shown, by session. */
  turns: Record<string, number>;
}

const seen = signal<Seen>(loadJson<Seen>(SEEN) ?? { since: new Date().toISOString(), turns: {} });

export function hasMark(entry: Entry, mark: Mark): boolean {
  if (entry.kind === "live") return mark in entry.session.labels;
  return diskMarks.value[mark]?.includes(entry.key) === true;
}

export async function setMark(entry: Entry, mark: Mark, on: boolean): Promise<void> {
  if (entry.kind === "disk") {
    const others = (diskMarks.value[mark] ?? []).filter((id) => id !== entry.key);
    diskMarks.value = { ...diskMarks.value, [mark]: on ? [...others, entry.key] : others };
    saveJson(DISK, diskMarks.value);
    return;
  }
  // The newest labels: another device may have changed them since the list was drawn.
  const { [mark]: _, ...others } = viewOf(entry.key)?.labels ?? entry.session.labels;
  const labels = on ? { ...others, [mark]: ON } : others;
  await send<SessionView>("PATCH", `sessions/${encodeURIComponent(entry.key)}`, { labels }).then(
    (session) => session !== undefined && remember(session),
    (error: unknown) => showToast("error", errorText(error)),
  );
}

/** True if a turn ended that this browser has not shown. */
export function isUnread({ key, totals, active }: Pick<SessionView, "key" | "totals" | "active">): boolean {
  const shown = seen.value.turns[key];
  if (shown === undefined && active < seen.value.since) return false;
  return totals.turns > (shown ?? 0);
}

export function setUnread(session: SessionView, unread: boolean): void {
  const turns = { ...seen.value.turns, [session.key]: unread ? Math.max(0, session.totals.turns - 1) : session.totals.turns };
  seen.value = { ...seen.value, turns };
  saveJson(SEEN, seen.value);
}

export const marks: Marks = {
  pinned: (entry) => hasMark(entry, "pinned"),
  archived: (entry) => hasMark(entry, "archived"),
  unread: (entry) => entry.kind === "live" && isUnread(entry.session),
};

/** The open session is read while its page is visible. */
export function followSeen(): void {
  const visible = signal(document.visibilityState === "visible");
  document.addEventListener("visibilitychange", () => {
    visible.value = document.visibilityState === "visible";
  });
  saveJson(SEEN, seen.value);
  effect(() => {
    const { view } = route.value;
    const name = view === "session" || view === "home" ? open.value?.name : undefined;
    const session = name === undefined ? undefined : viewOf(name);
    if (session === undefined || !visible.value || open.value?.loading.value !== "ready") return;
    if (seen.peek().turns[session.key] !== session.totals.turns) setUnread(session, false);
  });
}
