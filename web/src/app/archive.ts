// Sessions in the server's archive: copies that it made before Claude Code deletes the originals.

import { computed, signal } from "@preact/signals";
import { getJson } from "../net/api.ts";
import type { ArchiveItem, ArchiveList, Transcript } from "../wire.ts";
import { errorText, meta } from "./store.ts";

/** True if the server keeps an archive. */
export const hasArchive = computed(() => meta.value?.capabilities.includes("archive") === true);
/** The archive, once it was fetched. */
export const archive = signal<ArchiveList | undefined>(undefined);
export const archiveProblem = signal("");

/** Sessions of which only a copy is left, as sessions on disk. */
export const copies = computed(() => (archive.value?.items ?? []).filter(({ on_disk }) => on_disk !== true).map(asTranscript));

/** Fetches the list. Nothing shows it until the user asks for archived sessions, so that it is not fetched before. */
export async function refreshArchive(): Promise<void> {
  if (!hasArchive.value) return;
  await getJson<ArchiveList>("archive").then(
    (list) => {
      archive.value = list;
      archiveProblem.value = "";
    },
    (error: unknown) => (archiveProblem.value = errorText(error)),
  );
}

/** True if the archive has a copy of a session, as far as this is known. */
export function hasCopy(id: string): boolean {
  return archive.value?.items.some(({ session }) => session === id) === true;
}

function asTranscript({ session, project, cwd, title, modified, bytes }: ArchiveItem): Transcript {
  return {
    id: session,
    project,
    ...(cwd === undefined ? {} : { cwd }),
    ...(title === undefined ? {} : { title }),
    ...(modified === undefined ? {} : { modified }),
    subagents: 0,
    bytes,
    archived: true,
  };
}
