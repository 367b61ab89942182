// What the page knows: the server, its sessions, what waits for a person, and the session that is open.

import { computed, signal } from "@preact/signals";
import type {
  CommandRequest,
  Meta,
  NewCredential,
  Notice,
  PendingPermission,
  PendingQuestion,
  PermissionList,
  Problem,
  QuestionList,
  SessionList,
  SessionView,
  SocketMessage,
} from "../wire.ts";
import { ApiError, getJson, postJson } from "../net/api.ts";
import type { Link } from "../net/connection.ts";
import { Connection, Lost, Refused } from "../net/connection.ts";
import type { Command, Letter } from "../net/outbox.ts";
import { Outbox } from "../net/outbox.ts";
import { newId, surroundings } from "./browser.ts";
import { forgetDrafts } from "./drafts.ts";
import { followShelf, forgetKept, keepDevice, letterShelf } from "./kept.ts";
import { notifyAsk, notifyTurn } from "./notify.ts";
import { prefs } from "./prefs.ts";
import { route } from "./route.ts";
import { OpenSession } from "./session.ts";
import { say } from "./toasts.ts";

export type Entrance = "knocking" | "inside" | "outside";

export const entrance = signal<Entrance>("knocking");
export const meta = signal<Meta | undefined>(undefined);
export const sessions = signal<ReadonlyMap<string, SessionView>>(new Map());
export const sessionsLoaded = signal(false);
/** Where the list of sessions goes on; nothing if it is complete. */
export const olderSessions = signal<string | undefined>(undefined);
/** Everything that waits for a person, in any session, by session and call. */
export const waiting = signal<ReadonlyMap<string, PendingPermission | PendingQuestion>>(new Map());
export const link = signal<Link>("asleep");
/** How often there was a connection: what failed without one is worth another try. */
export const openings = signal(0);
export const retryAt = signal<number | undefined>(undefined);
export const letters = signal<readonly Letter[]>([]);
/** Calls that were answered here; the server may still say no. */
export const answered = signal<ReadonlySet<string>>(new Set());
export const open = signal<OpenSession | undefined>(undefined);

export const sorted = computed(() => [...sessions.value.values()].sort(byUrgency));
export const waitingCount = computed(() => waiting.value.size);
/** The sessions that wait for a person, each once. */
export const waitingSessions = computed(() => [...new Set([...waiting.value.values()].map((ask) => ask.session))]);

const HIDDEN_LIMIT_MS = 30_000;
const SESSIONS_PAGE = 200;
const DELTAS = "coalesced:40";

const connection = new Connection(surroundings, {
  link(now, retry) {
    link.value = now;
    retryAt.value = retry;
    if (now === "refused") void refusedLink();
  },
  opened: () => void opened(),
  message: heard,
});

const outbox = new Outbox(letterShelf, post, surroundings.later, {
  changed(now) {
    letters.value = now;
  },
  refused: refusedLetter,
});
letters.value = outbox.letters;
followShelf((clientId) => outbox.forget(clientId));

/** Sends a command. What may be too large for a message of the socket goes over HTTP, which is the same to the server. */
async function post(command: Command): Promise<void> {
  if (command.type !== "input" || (command.input.attachments ?? []).length === 0) {
    await connection.request(command);
    return;
  }
  try {
    await postJson(`sessions/${encodeURIComponent(command.session)}/input`, command.input);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw error.status === 0 ? new Lost(error.message) : new Refused(error.problem);
  }
}

/** Asks the server who we are, and comes in. */
export async function enter(): Promise<void> {
  try {
    meta.value = await getJson<Meta>("meta");
    entrance.value = "inside";
    connection.wake();
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      turnedAway(error.status);
      return;
    }
    entrance.value = "inside";
    connection.wake();
  }
}

/** The socket was refused; a plain request tells why. */
async function refusedLink(): Promise<void> {
  entrance.value = "outside";
  await getJson<Meta>("meta").catch((error: unknown) => error instanceof ApiError && turnedAway(error.status));
}

/**
 * This browser is not let in. If the server does not know it any more, what was written here is not for whoever comes in
 * next; if only the way is wrong, such as a proxy that calls the server by another name, it stays.
 */
function turnedAway(status: number): void {
  entrance.value = "outside";
  if (status !== 401) return;
  outbox.clear();
  forgetDrafts();
  forgetKept();
}

/** Exchanges a code for a cookie. */
export async function pair(code: string): Promise<void> {
  const { device } = await postJson<NewCredential>("pair", { code, name: deviceName(), credential: "cookie" });
  keepDevice(device.id);
  await enter();
}

function deviceName(): string {
  const agent = navigator.userAgent;
  const system = /iPhone|iPad|Android|Mac OS X|Windows|Linux/.exec(agent)?.[0] ?? "device";
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0] ?? "browser";
  return `${browser === "Edg" ? "Edge" : browser} on ${system === "Mac OS X" ? "macOS" : system}`;
}

async function opened(): Promise<void> {
  openings.value += 1;
  try {
    // A session that is opened from here on is watched by whoever opens it.
    const before = open.value;
    await connection.request({ type: "subscribe" });
    await refresh();
    if (before === open.value) await watch(before);
    await outbox.flush();
  } catch (error) {
    if (error instanceof Lost) return;
    say("error", words(error));
  }
}

/** Lists everything anew: after a connection, and when notices were missed. */
async function refresh(): Promise<void> {
  const [list, permissions, questions, about] = await Promise.all([
    listSessions(sessions.value.size),
    getJson<PermissionList>("permissions"),
    getJson<QuestionList>("questions"),
    // A Claude Code tells its version only after it was asked.
    meta.value?.claude?.version === undefined ? getJson<Meta>("meta") : Promise.resolve(meta.value),
  ]);
  meta.value = about;
  const found = new Map(list.items.map((session) => [session.key, session]));
  // The open one may be older than what is listed. Whether it is still there is told when it is watched again.
  const shown = open.value === undefined ? undefined : viewOf(open.value.name);
  if (shown !== undefined && !found.has(shown.key)) found.set(shown.key, shown);
  sessions.value = found;
  olderSessions.value = list.prev;
  sessionsLoaded.value = true;
  waiting.value = new Map([...permissions.items, ...questions.items].map((ask) => [askKey(ask.session, ask.tool_use_id), ask]));
  await Promise.all(waitingSessions.value.map(meet));
}

/** The newest sessions: a page of them, or as many as were on the screen. */
async function listSessions(wanted: number): Promise<SessionList> {
  let list = await getJson<SessionList>("sessions", { limit: SESSIONS_PAGE });
  while (list.prev !== undefined && list.items.length < wanted) {
    const older = await getJson<SessionList>("sessions", { limit: SESSIONS_PAGE, before: list.prev });
    list = { ...older, items: [...older.items, ...list.items] };
  }
  return list;
}

export async function showOlderSessions(): Promise<void> {
  const page = await getJson<SessionList>("sessions", { limit: SESSIONS_PAGE, before: olderSessions.value });
  olderSessions.value = page.prev;
  for (const session of page.items) remember(session);
}

/** A session that waits for somebody belongs on the screen, however old it is. */
async function meet(key: string): Promise<void> {
  if (sessions.value.has(key)) return;
  // If it is gone meanwhile, so is what it waits for.
  await getJson<SessionView>(`sessions/${encodeURIComponent(key)}`).then(remember, () => undefined);
}

/** A session by its key or its number. */
export function viewOf(name: string): SessionView | undefined {
  return sessions.value.get(name) ?? [...sessions.value.values()].find((session) => String(session.handle) === name);
}

/** Opens the session that the address names. */
export function openSession(name: string | undefined): void {
  if (name === open.value?.name) return;
  const before = open.value;
  if (before !== undefined) {
    connection.request({ type: "unsubscribe", session: before.name }).catch(() => undefined);
  }
  if (name === undefined) {
    open.value = undefined;
    return;
  }
  const session = new OpenSession(name);
  open.value = session;
  // Without a connection it is watched as soon as there is one.
  watch(session).catch(() => undefined);
}

/** One call after the other: a picture that is loaded while events arrive would have some of them twice. */
function watch(session: OpenSession | undefined): Promise<void> {
  if (session === undefined) return Promise.resolve();
  session.watching = session.watching.then(() => watchNow(session));
  return session.watching;
}

async function watchNow(session: OpenSession): Promise<void> {
  try {
    if (session.cursor === undefined) remember(await session.load());
    await subscribe(session);
  } catch (error) {
    if (error instanceof Lost) return;
    session.resume();
    const missing = (error instanceof ApiError || error instanceof Refused) && error.problem.status === 404;
    if (missing) session.loading.value = session.cursor === undefined ? "missing" : "gone";
    else if (session.cursor === undefined) session.loading.value = "failed";
    session.problem.value = words(error);
  }
}

async function subscribe(session: OpenSession): Promise<void> {
  if (link.value !== "open" || open.value !== session) return;
  const ask = () => connection.request({ type: "subscribe", session: session.name, deltas: DELTAS, ...(session.cursor === undefined ? {} : { after: session.cursor }) });
  session.pause();
  let ack = await ask();
  if (ack.subscribed !== undefined && ack.subscribed.verdict !== "ok") {
    // What is on the screen does not lead to what comes: begin with the server's picture.
    remember(await session.load());
    ack = await ask();
  }
  if (ack.subscribed !== undefined) {
    session.subscribed(ack.subscribed);
    remember(ack.subscribed.state);
  }
}

function heard(message: SocketMessage): void {
  const session = open.value;
  switch (message.type) {
    case "event":
      if (session !== undefined && isOpen(session, message.session)) session.take(message.cursor, message.event);
      break;
    case "notice":
      noticed(message.notice);
      break;
    case "resync":
      if (session === undefined || !isOpen(session, message.session)) break;
      if (message.reason === "deleted") session.loading.value = "gone";
      else void watch(session);
      break;
    default:
      break;
  }
}

function isOpen(session: OpenSession, key: string): boolean {
  return session.name === key || String(sessions.value.get(key)?.handle) === session.name;
}

function noticed(notice: Notice): void {
  switch (notice.type) {
    case "session":
      remember(notice.session);
      break;
    case "deleted": {
      if (open.value !== undefined && isOpen(open.value, notice.key)) {
        open.value.loading.value = "gone";
        // Where the address names none, another one takes its place.
        if (route.value.view === "home") openSession(undefined);
      }
      const left = new Map(sessions.value);
      left.delete(notice.key);
      sessions.value = left;
      break;
    }
    case "permission":
      await_(notice.permission);
      break;
    case "question":
      await_(notice.question);
      break;
    case "settled": {
      const left = new Map(waiting.value);
      left.delete(askKey(notice.session, notice.tool_use_id));
      waiting.value = left;
      break;
    }
    case "turn_ended":
      notifyTurn(sessions.value.get(notice.session), notice.is_error, notice.last_line ?? undefined);
      break;
    case "resync":
      refresh().catch(() => undefined);
      break;
  }
}

function await_(ask: PendingPermission | PendingQuestion): void {
  waiting.value = new Map(waiting.value).set(askKey(ask.session, ask.tool_use_id), ask);
  void meet(ask.session);
  notifyAsk(sessions.value.get(ask.session), ask);
}

function remember(session: SessionView): void {
  const before = sessions.value.get(session.key);
  // Two ways lead here, and the older word may come last.
  if (before !== undefined && before.head > session.head) return;
  sessions.value = new Map(sessions.value).set(session.key, session);
}

function askKey(session: string, id: string): string {
  return `${session}/${id}`;
}

/** Says something to a session; it is sent as soon as it can be. */
export function tell(build: (clientId: string) => Command): string {
  const clientId = newId();
  outbox.put(clientId, build(clientId));
  return clientId;
}

/** Answers what waits. The card says that it is on its way until the server tells what became of it. */
export function answer(session: string, to: string, body: Pick<Extract<Command, { type: "answer" }>, "permission" | "question">): void {
  answered.value = new Set(answered.value).add(to);
  tell((clientId) => ({
    type: "answer",
    session,
    to,
    ...(body.permission === undefined ? {} : { permission: { ...body.permission, client_id: clientId } }),
    ...(body.question === undefined ? {} : { question: { ...body.question, client_id: clientId } }),
  }));
}

export function command(session: string, name: Extract<Command, { type: "command" }>["command"], given: Partial<CommandRequest> = {}): void {
  tell((clientId) => ({ type: "command", session, command: name, with: { dry_run: false, ...given, client_id: clientId } }));
}

export function mayI(scope: string): boolean {
  const scopes = meta.value?.you.scopes;
  return scopes === undefined || scopes.includes(scope) || scopes.includes("admin");
}

export function dropLetter(clientId: string): void {
  outbox.drop(clientId);
}

function refusedLetter(letter: Letter, problem: Problem): "keep" | "drop" {
  if (letter.command.type === "answer") {
    const left = new Set(answered.value);
    left.delete(letter.command.to);
    answered.value = left;
  }
  if (letter.command.type === "answer" && problem.status === 409) {
    const by = problem.winner?.by;
    say("plain", by === undefined ? "This was answered already." : `This was answered already, by ${by}.`);
    return "drop";
  }
  if (letter.command.type === "input") return "keep";
  say("error", problem.hint ? `${problem.detail}: ${problem.hint}` : problem.detail);
  return "drop";
}

export function words(error: unknown): string {
  if (error instanceof ApiError || error instanceof Refused) return problemWords(error.problem);
  return error instanceof Error ? error.message : String(error);
}

export function problemWords({ detail, hint, title }: Problem): string {
  return hint ? `${detail || title} (${hint})` : detail || title;
}

/** Closes the connection when nobody looks, and opens it again when somebody does. */
export function followAttention(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") {
      if (entrance.value === "inside") {
        if (connection.link === "open" && open.value !== undefined) subscribe(open.value).catch(() => undefined);
        connection.wake();
      }
      return;
    }
    timer = setTimeout(() => {
      // Whoever asked for notifications still hears what waits, and nothing else.
      if (!prefs.value.notify) connection.sleep();
      else if (open.value !== undefined) connection.request({ type: "unsubscribe", session: open.value.name }).catch(() => undefined);
    }, HIDDEN_LIMIT_MS);
  });
  addEventListener("online", () => entrance.value === "inside" && connection.wake());
}

export function retryNow(): void {
  connection.wake();
}

/** Another try to open what could not be opened. */
export function openAgain(): void {
  const session = open.value;
  if (session === undefined) return;
  session.loading.value = "loading";
  void watch(session);
}

export function followRoute(): void {
  route.subscribe((now) => {
    const isOver = open.value?.loading.value === "gone" || open.value?.loading.value === "missing";
    if (now.view === "session") openSession(now.id);
    else if (now.view !== "home" || isOver) openSession(undefined);
  });
}

const URGENCY: Record<SessionView["state"], number> = {
  needs_you: 0,
  failed: 2,
  running: 1,
  starting: 1,
  interrupted: 2,
  idle: 3,
  parked: 3,
  stopped: 3,
};

function byUrgency(one: SessionView, other: SessionView): number {
  const urgent = Number(URGENCY[one.state] !== 0) - Number(URGENCY[other.state] !== 0);
  return urgent !== 0 ? urgent : other.active.localeCompare(one.active) || other.handle - one.handle;
}
