// The list of all sessions in groups: pinned ones, and one group per project.

import { modelName, shortNames } from "../text/format.ts";
import type { SessionView, Transcript } from "../wire.ts";
import { nameOf } from "./name.ts";

/** A session of the server, or one that is only on disk. */
export type Entry = { kind: "live"; key: string; session: SessionView } | { kind: "disk"; key: string; file: Transcript };

export interface Group {
  key: string;
  title: string;
  /** The project's folder; `undefined` for groups of several projects. */
  folder: string | undefined;
  /** Where the project is from: its name on all servers of a fleet, or its folder. */
  about: string | undefined;
  entries: Entry[];
}

export type ListScope = "all" | "live" | "disk" | "archived";

/** Marks of the user, by the key of an entry. */
export interface Marks {
  pinned(entry: Entry): boolean;
  archived(entry: Entry): boolean;
  unread(entry: Entry): boolean;
}

/** Words of a state, as the list shows them. */
export const STATE_WORDS: Readonly<Record<string, string>> = {
  starting: "Starting",
  idle: "Idle",
  running: "Running",
  needs_you: "Needs you",
  parked: "Parked",
  stopped: "Stopped",
  interrupted: "Interrupted",
  failed: "Failed",
  unknown: "Unknown state",
};

/** Beginning of the name of a project that has no repository. */
const FOLDER_PROJECT = "folder:";

/** Label of a session that was forked, with the id of the original. */
export const FORK_LABEL = "forked_from";

/** Label of a session that resumes one on disk, with its id: the server lists the id only after the next prompt. */
export const RESUME_LABEL = "resumed_from";

/** The id by which the agent of a session knows the conversation. */
export function conversationOf({ cli_session_ids: ids, labels }: Pick<SessionView, "cli_session_ids" | "labels">): string | undefined {
  return ids.at(-1) ?? labels[RESUME_LABEL];
}

/** The id of the file of Claude Code that a session continues; other agents have none. */
export function fileOf(session: Pick<SessionView, "cli_session_ids" | "labels" | "backend">): string | undefined {
  return session.backend === undefined ? conversationOf(session) : undefined;
}

/** The sessions of the server, then those on disk and in the archive that none of them continues. */
export function entriesOf(sessions: readonly SessionView[], files: readonly Transcript[], copies: readonly Transcript[] = []): Entry[] {
  const hosted = new Set(sessions.flatMap((session) => [...session.cli_session_ids, conversationOf(session)]));
  const onDisk = new Set(files.map(({ id }) => id));
  const others = [...files, ...copies.filter(({ id }) => !onDisk.has(id))];
  return [
    ...sessions.map((session): Entry => ({ kind: "live", key: session.key, session })),
    ...others.filter(({ id }) => !hosted.has(id)).map((file): Entry => ({ kind: "disk", key: file.id, file })),
  ];
}

/** True if only a copy in the archive is left of a session. */
export function isCopy(entry: Entry): boolean {
  return entry.kind === "disk" && entry.file.archived === true;
}

/**
 * Entries of a scope that contain all words, in groups. `entries` are sorted already. A project with a session that needs
 * the user is first, and in it that session: it has no group of its own, so that few cards move when a request arrives.
 */
export function groupsOf(entries: readonly Entry[], scope: ListScope, filter: string, marks: Marks): Group[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = entries.filter((entry) => inScope(entry, scope, marks) && matches(entry, words, marks));
  const pinned: Entry[] = [];
  const projectOf = projectsOf(entries);
  const projects = new Map<string, Entry[]>();
  for (const entry of shown) {
    if (scope !== "archived" && marks.pinned(entry)) {
      pinned.push(entry);
      continue;
    }
    const inside = projects.get(projectOf(entry));
    if (inside === undefined) projects.set(projectOf(entry), [entry]);
    else inside.push(entry);
  }
  const paths = new Map([...projects].map(([project, inside]) => [project, pathOf(project, inside)]));
  const names = shortNames([...paths.values()]);
  const groups = [...projects].map(([project, inside]): Group => {
    const path = paths.get(project) ?? project;
    return { key: `project ${project}`, title: names.get(path) ?? path, folder: homeOf(inside), about: path, entries: inside };
  });
  groups.sort((one, other) => newest(other.entries).localeCompare(newest(one.entries)));
  if (pinned.length > 0) groups.unshift({ key: "pinned", title: "Pinned", folder: undefined, about: undefined, entries: pinned });
  return [...groups.filter(needsUser), ...groups.filter((group) => !needsUser(group))];
}

/**
 * The project of an entry: copies of a repository on several servers of a fleet are one project, and so is a folder on a disk
 * that they share. Sessions on disk belong to the project that this server's sessions in their folder have.
 */
function projectsOf(entries: readonly Entry[]): (entry: Entry) => string {
  const here = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind === "live" && entry.session.node === undefined && entry.session.project !== undefined) here.set(folderOf(entry), entry.session.project);
  }
  return (entry) => (entry.kind === "live" ? entry.session.project : here.get(folderOf(entry))) ?? folderOf(entry);
}

/** The text that names a project: its repository, or its folder. */
function pathOf(project: string, entries: readonly Entry[]): string {
  const folder = homeOf(entries) ?? project;
  return project === folder || project.startsWith(FOLDER_PROJECT) ? folder : project.replace(":", "/");
}

/** The folder of a project on this server, or that of its first entry. */
function homeOf(entries: readonly Entry[]): string | undefined {
  const here = entries.find((entry) => entry.kind === "disk" || entry.session.node === undefined) ?? entries[0];
  return here === undefined ? undefined : folderOf(here);
}

export function needsUser(group: Group): boolean {
  return group.entries.some(isUrgent);
}

function isUrgent(entry: Entry): boolean {
  return entry.kind === "live" && entry.session.state === "needs_you";
}

function inScope(entry: Entry, scope: ListScope, marks: Marks): boolean {
  const archived = marks.archived(entry) || isCopy(entry);
  // A request must not wait unseen.
  const waits = isUrgent(entry);
  switch (scope) {
    case "archived":
      return archived;
    case "disk":
      return entry.kind === "disk" && !archived;
    case "live":
      return entry.kind === "live" && (!archived || waits);
    case "all":
      return !archived || waits;
  }
}

function matches(entry: Entry, words: readonly string[], marks: Marks): boolean {
  if (words.length === 0) return true;
  const flags = [marks.pinned(entry) && "pinned", marks.archived(entry) && "archived", marks.unread(entry) && "unread"].filter(Boolean);
  const text = [...textOf(entry), ...flags].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Everything about an entry that is shown. */
function textOf(entry: Entry): (string | undefined)[] {
  if (entry.kind === "disk") {
    const { file } = entry;
    return [file.title ?? "Untitled session", file.cwd ?? file.project, file.tag ?? undefined, file.model == null ? undefined : modelName(file.model), file.archived === true ? "archived copy" : "on disk", file.id];
  }
  const { session } = entry;
  const fork = FORK_LABEL in session.labels ? "fork" : undefined;
  return [
    nameOf(session), session.first_prompt ?? undefined, session.cwd, session.last_line ?? undefined, session.error ?? undefined,
    session.state, STATE_WORDS[session.state], session.model ?? undefined, session.model == null ? undefined : modelName(session.model),
    session.origin === "server" ? undefined : session.origin, session.demo ? "demo" : undefined, fork, session.worktree?.branch, `#${session.handle}`,
    session.node, session.project?.startsWith(FOLDER_PROJECT) === true ? undefined : session.project,
    ...Object.entries(session.labels).flat(),
  ];
}

export function folderOf(entry: Entry): string {
  if (entry.kind === "disk") return entry.file.cwd ?? entry.file.project;
  // A worktree belongs to its project.
  return entry.session.worktree?.project ?? entry.session.cwd;
}

export function entryName(entry: Entry): string {
  return entry.kind === "live" ? nameOf(entry.session) : (entry.file.title ?? "Untitled session");
}

export function entryTime(entry: Entry): string {
  return entry.kind === "live" ? entry.session.active : (entry.file.modified ?? entry.file.created ?? "");
}

/** Folders in the order of their last use, each once. */
export function recentFolders(entries: readonly Entry[]): string[] {
  const sorted = [...entries].sort((one, other) => entryTime(other).localeCompare(entryTime(one)));
  return [...new Set(sorted.map((entry) => (entry.kind === "live" ? folderOf(entry) : (entry.file.cwd ?? ""))))].filter((folder) => folder !== "");
}


function newest(entries: readonly Entry[]): string {
  return entries.reduce((last, entry) => (entryTime(entry) > last ? entryTime(entry) : last), "");
}
