// Marks of the user on sessions: pinned, archived, unread. Pins and archive marks of the server's sessions are
// labels; the server keeps all others beside them, so that every device shows the same.

import { effect, signal } from "@preact/signals";
import type { Entry, Marks } from "../model/groups.ts";
import { send } from "../net/api.ts";
import type { PatchMarks, SessionMarks, SessionView } from "../wire.ts";
import { filesOnDisk } from "./disk.ts";
import { remember, viewOf } from "./list.ts";
import { knownMarks, takeMarks } from "./mark-list.ts";
import { route } from "./route.ts";
import { errorText, hasScope, open } from "./store.ts";
import { showToast } from "./toasts.ts";

export type Mark = "pinned" | "archived";

const ON = "yes";

export function hasMark(entry: Entry, mark: Mark): boolean {
  if (entry.kind === "live") return mark in entry.session.labels;
  return knownMarks.value?.sessions.get(entry.key)?.[mark] === true;
}

export async function setMark(entry: Entry, mark: Mark, on: boolean): Promise<void> {
  if (entry.kind === "disk") return change(entry.key, { [mark]: on }).catch((error: unknown) => showToast("error", errorText(error)));
  // The newest labels: another device may have changed them since the list was drawn.
  const { [mark]: _, ...others } = viewOf(entry.key)?.labels ?? entry.session.labels;
  const labels = on ? { ...others, [mark]: ON } : others;
  await send<SessionView>("PATCH", `sessions/${encodeURIComponent(entry.key)}`, { labels }).then(
    (session) => session !== undefined && remember(session),
    (error: unknown) => showToast("error", errorText(error)),
  );
}

async function change(session: string, patch: PatchMarks): Promise<void> {
  const marks = await send<SessionMarks>("PATCH", `marks/${encodeURIComponent(session)}`, patch);
  if (marks !== undefined) takeMarks(marks);
}

/** True if a turn ended that no device has shown, or if a session on disk has changed since it was shown. */
export function isUnread(entry: Entry): boolean {
  const known = knownMarks.value;
  if (known === undefined) return false;
  const seen = known.sessions.get(entry.key)?.seen;
  const used = entry.kind === "live" ? entry.session.active : (entry.file.modified ?? "");
  return seen === undefined ? used >= known.since && reached(entry) > 0 : reached(entry) > seen;
}

export function setUnread(entry: Entry, unread: boolean): void {
  // Without a connection it is set by the next device that shows the session.
  change(entry.key, { seen: Math.max(0, reached(entry) - (unread ? 1 : 0)) }).catch(() => undefined);
}

/** How far a session has come: its turns, or the time of its last change on disk in milliseconds. */
function reached(entry: Entry): number {
  if (entry.kind === "live") return entry.session.totals.turns;
  return entry.file.modified == null ? 0 : Date.parse(entry.file.modified);
}

export const marks: Marks = {
  pinned: (entry) => hasMark(entry, "pinned"),
  archived: (entry) => hasMark(entry, "archived"),
  unread: isUnread,
};

/** The open session is read while its page is visible. */
export function followSeen(): void {
  const visible = signal(document.visibilityState === "visible");
  document.addEventListener("visibilitychange", () => {
    visible.value = document.visibilityState === "visible";
  });
  effect(() => {
    const entry = shownEntry();
    const known = knownMarks.value;
    if (entry === undefined || known === undefined || !visible.value) return;
    const seen = known.sessions.get(entry.key)?.seen ?? 0;
    if (seen >= reached(entry)) return;
    if (hasScope("prompt")) setUnread(entry, false);
    // A device that may only read does not mark for others.
    else takeMarks({ ...known.sessions.get(entry.key), session: entry.key, seen: reached(entry) });
  });
}

function shownEntry(): Entry | undefined {
  const shown = route.value;
  if (shown.view === "history") {
    const file = filesOnDisk.value.find(({ id }) => id === shown.id);
    return file === undefined ? undefined : { kind: "disk", key: file.id, file };
  }
  const name = shown.view === "session" || shown.view === "home" ? open.value?.name : undefined;
  const session = name === undefined ? undefined : viewOf(name);
  return session === undefined || open.value?.loading.value !== "ready" ? undefined : { kind: "live", key: session.key, session };
}
