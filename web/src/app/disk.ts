// Sessions on disk, as far as they are listed beside those of the server.

import { effect, signal } from "@preact/signals";
import { getJson } from "../net/api.ts";
import type { Transcript, TranscriptList } from "../wire.ts";
import { authState, connectionCount } from "./store.ts";

const PAGE = 50;

export const filesOnDisk = signal<readonly Transcript[]>([]);
/** Cursor of the next page; `undefined` if all are listed. */
export const moreOnDisk = signal<string | undefined>(undefined);
/** True once the first page has arrived or has failed, or takes too long. */
export const diskLoaded = signal(false);

/** Time in milliseconds that the list waits for them, so that they do not push other cards down when they arrive. */
const WAIT_MS = 300;

let pages = 1;
let hasFailed = false;

/** Fetches them at the start, and after each further connection, since they may have changed without one. */
export function followDisk(): void {
  setTimeout(() => (diskLoaded.value = true), WAIT_MS);
  effect(() => {
    const isFirst = connectionCount.value === 1 && !hasFailed;
    if (!isFirst && authState.value === "paired") void refreshDisk();
  });
}

/** Fetches as many pages as the user has opened. */
export async function refreshDisk(): Promise<void> {
  try {
    let list = await getJson<TranscriptList>("transcripts", { limit: PAGE });
    const items = [...list.items];
    for (let page = 1; page < pages && list.next !== undefined; page += 1) {
      list = await getJson<TranscriptList>("transcripts", { limit: PAGE, after: list.next });
      items.push(...list.items);
    }
    filesOnDisk.value = items;
    moreOnDisk.value = list.next;
    hasFailed = false;
  } catch {
    hasFailed = true;
    // The next connection tries again; the sessions of the server are listed anyway.
  } finally {
    diskLoaded.value = true;
  }
}

export async function showMoreOnDisk(): Promise<void> {
  const list = await getJson<TranscriptList>("transcripts", { limit: PAGE, after: moreOnDisk.value });
  pages += 1;
  const known = new Set(filesOnDisk.value.map(({ id }) => id));
  filesOnDisk.value = [...filesOnDisk.value, ...list.items.filter(({ id }) => !known.has(id))];
  moreOnDisk.value = list.next;
}
