// Marks of sessions, as the server keeps them for all devices.

import { signal } from "@preact/signals";
import { getJson } from "../net/api.ts";
import type { MarkList, SessionMarks } from "../wire.ts";

interface KnownMarks {
  /** Sessions that were used before this time, and never shown, count as seen. */
  since: string;
  /** By the key of the session, or the id of one on disk. */
  sessions: ReadonlyMap<string, SessionMarks>;
}

/** The marks; `undefined` until they were fetched. */
export const knownMarks = signal<KnownMarks | undefined>(undefined);

export async function refreshMarks(): Promise<void> {
  const { items, since } = await getJson<MarkList>("marks");
  knownMarks.value = { since, sessions: new Map(items.map((marks) => [marks.session, marks])) };
}

/** Another device has changed the marks of a session, or this one. */
export function takeMarks(marks: SessionMarks): void {
  const known = knownMarks.value;
  if (known !== undefined) knownMarks.value = { ...known, sessions: new Map(known.sessions).set(marks.session, marks) };
}
