// The list of all sessions as it is displayed: entries, groups, selection, and actions on entries.

import { computed, signal } from "@preact/signals";
import { newClientId, RemoteError } from "@tidings/client";
import type { Entry, ListScope } from "../model/groups.ts";
import { RESUME_LABEL, entriesOf, groupsOf, isCopy, recentFolders } from "../model/groups.ts";
import { postJson, send } from "../net/api.ts";
import type { CreateSession, SessionView } from "../wire.ts";
import { copies, hasCopy, refreshArchive } from "./archive.ts";
import { filesOnDisk, refreshDisk } from "./disk.ts";
import { forgetSession, hostOf, remember, sorted } from "./list.ts";
import { marks } from "./marks.ts";
import { go } from "./route.ts";
import { errorText } from "./store.ts";
import { showToast } from "./toasts.ts";

export const listFilter = signal("");
export const listScope = signal<ListScope>("all");
/** Keys of selected entries; `undefined` if none can be selected. */
export const selected = signal<ReadonlySet<string> | undefined>(undefined);
/** Keys of the entries that the user is asked about before they are deleted. */
export const deleting = signal<readonly string[]>([]);
/** Key of the entry whose title is being edited in the list. */
export const renaming = signal<string | undefined>(undefined);

export const entries = computed(() => entriesOf(sorted.value, filesOnDisk.value, copies.value));
export const groups = computed(() => groupsOf(entries.value, listScope.value, listFilter.value, marks));
/** Sessions of the server in the order of the list. */
export const listed = computed(() => groups.value.flatMap((group) => group.entries).flatMap((entry) => (entry.kind === "live" ? [entry.session] : [])));
/** Folders of the server's sessions, which exist, unlike some of those of old transcripts. */
export const liveFolders = computed(() => recentFolders(entries.value.filter(isLive)));
export const folders = computed(() => recentFolders(entries.value.filter((entry) => !isCopy(entry))));

export function toggleSelected(key: string): void {
  const now = new Set(selected.value);
  if (!now.delete(key)) now.add(key);
  selected.value = now;
}

export async function rename(entry: Entry, title: string): Promise<void> {
  const name = encodeURIComponent(entry.key);
  const renamed = entry.kind === "live" ? send<SessionView>("PATCH", `sessions/${name}`, { title }).then(remember) : send("PATCH", `transcripts/${name}`, { title }).then(refreshDisk);
  await renamed.catch(refused);
}

/** Files that are deleted together with sessions of the server. */
export interface DeleteOptions {
  transcripts: boolean;
  worktrees: boolean;
}

/** Deletes entries: those of the server as wanted, those on disk and in the archive for ever. */
export async function deleteEntries(chosen: readonly Entry[], options: DeleteOptions): Promise<void> {
  for (const entry of chosen) await deleteEntry(entry, options).catch(refused);
  await Promise.all([refreshDisk(), refreshArchive()]);
}

async function deleteEntry(entry: Entry, { transcripts, worktrees }: DeleteOptions): Promise<void> {
  const name = encodeURIComponent(entry.key);
  if (entry.kind === "live") {
    // A worktree with uncommitted changes is refused, and then its session stays.
    if (worktrees && hasWorktree(entry.session)) await postJson(`sessions/${name}/worktree/remove`, {});
    await send("DELETE", `sessions/${name}`, undefined, transcripts ? { transcript: true } : {});
    forgetSession(entry.key);
    return;
  }
  if (!isCopy(entry)) await send("DELETE", `transcripts/${name}`);
  if (hasCopy(entry.key)) await send("DELETE", `archive/${name}`);
}

export function hasWorktree({ worktree }: SessionView): boolean {
  return worktree !== undefined && !worktree.removed;
}

/** Says why something was refused. A transcript that is open in a session of the server leads there. */
function refused(error: unknown): void {
  const session = error instanceof RemoteError ? error.problem.session : undefined;
  showToast("error", errorText(error), session);
}

/** Ids of resumed files, so that a second press starts no second session. */
const resuming = new Map<string, string>();

/** Opens a session on disk: the one of this server that continues it, else a new one that resumes it. */
export async function resumeFile(id: string, cwd: string | null | undefined, more: Partial<Pick<CreateSession, "backend" | "title">> = {}): Promise<void> {
  const host = hostOf(id);
  if (host !== undefined) {
    go({ view: "session", id: host.key });
    return;
  }
  // Without its folder the user has to choose one.
  if (cwd == null || cwd === "") {
    go({ view: "new", resume: id, cwd: undefined });
    return;
  }
  const clientId = resuming.get(id) ?? newClientId();
  resuming.set(id, clientId);
  try {
    const session = await postJson<SessionView>("sessions", { cwd, resume: id, labels: { [RESUME_LABEL]: id }, demo: false, client_id: clientId, ...more });
    remember(session);
    go({ view: "session", id: session.key });
  } catch (error) {
    // Another device may have resumed it since the list was fetched, or it is older than the listed ones.
    const live = error instanceof RemoteError && error.status === 409 ? error.problem.session : undefined;
    if (live === undefined) showToast("error", errorText(error));
    else go({ view: "session", id: live });
  } finally {
    resuming.delete(id);
  }
}

export function isLive(entry: Entry): entry is Extract<Entry, { kind: "live" }> {
  return entry.kind === "live";
}
