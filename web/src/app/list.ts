// Sessions and pending requests of the server, as far as they are displayed.

import { batch, computed, signal } from "@preact/signals";
import { conversationOf } from "../model/groups.ts";
import { nameOf } from "../model/name.ts";
import { getJson } from "../net/api.ts";
import type { PendingPermission, PendingQuestion, PermissionList, QuestionList, SessionList, SessionView } from "../wire.ts";

type Ask = PendingPermission | PendingQuestion;

const SESSIONS_PAGE = 200;
let pagesWanted = 1;
/** Updates that arrive while a list is being fetched, since the list may be older; one array per fetch. */
const missed = new Set<(() => void)[]>();

export const sessions = signal<ReadonlyMap<string, SessionView>>(new Map());
export const sessionsLoaded = signal(false);
/** Cursor of the next page of sessions; `undefined` if the list is complete. */
export const olderSessions = signal<string | undefined>(undefined);
/** All pending requests, by session and tool call. */
export const waiting = signal<ReadonlyMap<string, Ask>>(new Map());

export const sorted = computed(() => [...sessions.value.values()].sort(byUrgency));
export const waitingCount = computed(() => waiting.value.size);
/** Sessions with pending requests, each once. */
export const waitingSessions = computed(() => [...new Set([...waiting.value.values()].map((ask) => ask.session))]);

/**
 * Fetches the list from the server; the open session stays in it, since it may be older than the listed ones.
 * Returns the pending requests that no notice had reported.
 */
export async function refreshList(shownName: string | undefined): Promise<Ask[]> {
  const updates: (() => void)[] = [];
  missed.add(updates);
  const [list, permissions, questions] = await Promise.all([
    listSessions(),
    getJson<PermissionList>("permissions"),
    getJson<QuestionList>("questions"),
  ]).finally(() => missed.delete(updates));
  const found = new Map(list.items.map((session) => [session.key, session]));
  // The next subscription shows if it still exists.
  const shown = shownName === undefined ? undefined : viewOf(shownName);
  if (shown !== undefined && !found.has(shown.key)) found.set(shown.key, shown);
  const pending = [...permissions.items, ...questions.items];
  const unknown = pending.filter((ask) => !waiting.value.has(askKey(ask.session, ask.tool_use_id)));
  batch(() => {
    sessions.value = found;
    olderSessions.value = list.prev;
    sessionsLoaded.value = true;
    waiting.value = new Map(pending.map((ask) => [askKey(ask.session, ask.tool_use_id), ask]));
    for (const update of updates) update();
  });
  await Promise.all(waitingSessions.value.map(fetchSession));
  return unknown;
}

/** The newest sessions, as many pages as the user has opened. */
async function listSessions(): Promise<SessionList> {
  let list = await getJson<SessionList>("sessions", { limit: SESSIONS_PAGE });
  for (let page = 1; page < pagesWanted && list.prev !== undefined; page += 1) {
    const older = await getJson<SessionList>("sessions", { limit: SESSIONS_PAGE, before: list.prev });
    list = { ...older, items: [...older.items, ...list.items] };
  }
  return list;
}

export async function showOlderSessions(): Promise<void> {
  const page = await getJson<SessionList>("sessions", { limit: SESSIONS_PAGE, before: olderSessions.value });
  pagesWanted += 1;
  batch(() => {
    olderSessions.value = page.prev;
    for (const session of page.items) remember(session);
  });
}

/** Adds a session with a pending request to the list, even if it is older than the listed ones. */
async function fetchSession(key: string): Promise<void> {
  if (sessions.value.has(key)) return;
  // If the session was deleted, so were its requests.
  await getJson<SessionView>(`sessions/${encodeURIComponent(key)}`).then(remember, () => undefined);
}

/** Finds a session by its key or its number. */
export function viewOf(name: string): SessionView | undefined {
  return sessions.value.get(name) ?? [...sessions.value.values()].find((session) => String(session.handle) === name);
}

/** The session of this server that continues a conversation. */
export function hostOf(cliSessionId: string): SessionView | undefined {
  return [...sessions.value.values()].find((session) => conversationOf(session) === cliSessionId);
}

/** Name of a session file: that of the session that continues it here, else its own. */
export function fileName(id: string, title: string | undefined): string {
  const host = hostOf(id);
  return (host === undefined ? title : nameOf(host)) ?? "Untitled session";
}

/** Applies an update now, and again after each list that is being fetched. */
function applyUpdate(update: () => void): void {
  for (const updates of missed) updates.push(update);
  update();
}

export function addWaiting(ask: Ask): void {
  applyUpdate(() => {
    waiting.value = new Map(waiting.value).set(askKey(ask.session, ask.tool_use_id), ask);
  });
  void fetchSession(ask.session);
}

export function settled(session: string, toolUseId: string): void {
  applyUpdate(() => {
    const left = new Map(waiting.value);
    left.delete(askKey(session, toolUseId));
    waiting.value = left;
  });
}

export function remember(session: SessionView): void {
  applyUpdate(() => {
    const before = sessions.value.get(session.key);
    // Updates come over two connections, and the older one may arrive last.
    if (before !== undefined && before.head > session.head) return;
    sessions.value = new Map(sessions.value).set(session.key, session);
  });
}

export function forgetSession(key: string): void {
  applyUpdate(() => {
    const left = new Map(sessions.value);
    left.delete(key);
    sessions.value = left;
  });
}

function askKey(session: string, id: string): string {
  return `${session}/${id}`;
}

/**
 * Sessions with pending requests first; the others by last use, so that they do not move with each state
 * change.
 */
function byUrgency(one: SessionView, other: SessionView): number {
  const urgent = Number(other.state === "needs_you") - Number(one.state === "needs_you");
  return urgent !== 0 ? urgent : other.active.localeCompare(one.active) || other.handle - one.handle;
}
