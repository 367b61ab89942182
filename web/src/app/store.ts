// State of the page: the server, the open session, and commands to it.

import { signal } from "@preact/signals";
import type { Command, Link, UnsentCommand } from "@tidings/client";
import { Connection, newClientId, OFFLINE_DOUBT_MS, Outbox, RemoteError, surroundingsAt } from "@tidings/client";
import type {
  CommandRequest,
  Meta,
  NewCredential,
  Notice,
  PendingPermission,
  PendingQuestion,
  Problem,
  SocketMessage,
} from "../wire.ts";
import { byWhom } from "../model/decision.ts";
import { getJson, postJson } from "../net/api.ts";
import { forgetCards } from "./card-text.ts";
import { forgetDrafts } from "./drafts.ts";
import { followCommandStore, clearLocalData, saveDevice, commandStore } from "./local-data.ts";
import { addWaiting, forgetSession, refreshList, remember, sessions, settled } from "./list.ts";
import { refreshMarks, takeMarks } from "./mark-list.ts";
import { notifyAsk, notifyTurn } from "./notify.ts";
import { prefs } from "./prefs.ts";
import { route } from "./route.ts";
import { OpenSession } from "./session.ts";
import { showToast } from "./toasts.ts";

export type AuthState = "unknown" | "paired" | "unpaired";

export const authState = signal<AuthState>("unknown");
export const meta = signal<Meta | undefined>(undefined);
export const link = signal<Link>("asleep");
/** Number of connections so far: requests that failed without one are retried when it increases. */
export const connectionCount = signal(0);
/** Number of notices that the inbox has changed. */
export const inboxNotices = signal(0);
export const unsentCommands = signal<readonly UnsentCommand[]>([]);
/** Tool calls answered here; the server may still reject the answer. */
export const answered = signal<ReadonlySet<string>>(new Set());
/** Rejected commands, by the id that they were sent with. */
export const refusedCommands = signal<ReadonlySet<string>>(new Set());
/** True if the browser reports no network. A server on the same machine needs none. */
export const offline = signal(navigator.onLine === false);
/** True if the server was upgraded while this page was open: the page is that of the earlier version. */
export const upgraded = signal(false);
export const open = signal<OpenSession | undefined>(undefined);

/** API path of the displayed session: an open one, or one from the history. */
export function shownPath(): string | undefined {
  const at = route.value;
  if (at.view === "history") return at.id === undefined ? undefined : `transcripts/${encodeURIComponent(at.id)}`;
  return open.value === undefined ? undefined : `sessions/${encodeURIComponent(open.value.name)}`;
}

/** Number of prompts sent from this page; the conversation scrolls to the end when it increases. */
export const promptsSent = signal(0);

const HIDDEN_LIMIT_MS = 30_000;
const DELTAS = "coalesced:40";

const surroundings = surroundingsAt(document.baseURI);
const connection = new Connection(surroundings, {
  link(now) {
    link.value = now;
    if (now === "refused") void refusedLink();
  },
  opened: () => void opened(),
  message: heard,
});

const outbox = new Outbox(commandStore, post, surroundings.later, {
  changed(now) {
    unsentCommands.value = now;
  },
  refused: commandRejected,
});
unsentCommands.value = outbox.unsentCommands;
followCommandStore((clientId) => outbox.forget(clientId));

/**
 * Sends a command. Large ones go over HTTP, which is equivalent, since the size of socket messages is
 * limited.
 */
async function post(command: Command): Promise<void> {
  if (command.type !== "input" || (command.input.attachments ?? []).length === 0) {
    await connection.request(command);
    return;
  }
  await postJson(`sessions/${encodeURIComponent(command.session)}/input`, command.input);
}

/** Fetches this device's name and scopes, and connects. */
export async function authenticate(): Promise<void> {
  try {
    meta.value = await getJson<Meta>("meta");
    authState.value = "paired";
    connection.wake();
  } catch (error) {
    if (error instanceof RemoteError && (error.status === 401 || error.status === 403)) {
      turnedAway(error.status);
      return;
    }
    authState.value = "paired";
    connection.wake();
  }
}

/** The socket was rejected; a plain request returns the reason. */
async function refusedLink(): Promise<void> {
  authState.value = "unpaired";
  await getJson<Meta>("meta").catch((error: unknown) => error instanceof RemoteError && turnedAway(error.status));
}

/**
 * Called when this browser is not authenticated. If the server no longer knows the device, drafts are
 * removed, since the next user may be another person; if only the address is wrong, such as a proxy with
 * another host name, they stay.
 */
function turnedAway(status: number): void {
  authState.value = "unpaired";
  if (status !== 401) return;
  outbox.clear();
  forgetCards();
  forgetDrafts();
  clearLocalData();
}

/** Exchanges a code for a cookie. */
export async function pair(code: string): Promise<void> {
  const { device } = await postJson<NewCredential>("pair", { code, name: deviceName(), credential: "cookie" });
  saveDevice(device.id);
  await authenticate();
}

function deviceName(): string {
  const agent = navigator.userAgent;
  const system = /iPhone|iPad|Android|Mac OS X|Windows|Linux/.exec(agent)?.[0] ?? "device";
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0] ?? "browser";
  return `${browser === "Edg" ? "Edge" : browser} on ${system === "Mac OS X" ? "macOS" : system}`;
}

async function opened(): Promise<void> {
  connectionCount.value += 1;
  try {
    // Sessions that are opened from here on subscribe by themselves.
    const before = open.value;
    await connection.request({ type: "subscribe" });
    await refresh();
    if (before === open.value) await watch(before);
    await outbox.flush();
  } catch (error) {
    if (error instanceof RemoteError && error.isUnanswered) return;
    showToast("error", errorText(error));
  }
}

/** Fetches all lists again: after connecting, and after missed notices. */
async function refresh(): Promise<void> {
  const [about, unknown] = await Promise.all([
    // The server may be another one than before, and the version of Claude Code is known only some time after its start.
    getJson<Meta>("meta"),
    refreshList(open.value?.name),
    refreshMarks(),
  ]);
  if (meta.value !== undefined && meta.value.version !== about.version) upgraded.value = true;
  meta.value = about;
  // A request that arrived while disconnected needs a notification as well.
  for (const ask of unknown) notifyAsk(sessions.value.get(ask.session), ask);
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
  // Without a connection it is subscribed after connecting.
  watch(session).catch(() => undefined);
}

/**
 * Runs one call after the other: a snapshot that is loaded while events arrive would contain some of them
 * twice.
 */
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
    if (error instanceof RemoteError && error.isUnanswered) return;
    session.resume();
    const missing = error instanceof RemoteError && error.status === 404;
    if (missing) session.loading.value = session.cursor === undefined ? "missing" : "gone";
    else if (session.cursor === undefined) session.loading.value = "failed";
    session.problem.value = errorText(error);
  }
}

async function subscribe(session: OpenSession): Promise<void> {
  if (link.value !== "open" || open.value !== session) return;
  const ask = () => connection.request({ type: "subscribe", session: session.name, deltas: DELTAS, ...(session.cursor === undefined ? {} : { after: session.cursor }) });
  session.pause();
  let ack = await ask();
  if (ack.subscribed !== undefined && ack.subscribed.verdict !== "ok") {
    // The new events do not continue the displayed ones: load a snapshot.
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
  if ((notice.type as string) === "inbox") {
    inboxNotices.value += 1;
    return;
  }
  switch (notice.type) {
    case "session":
      remember(notice.session);
      break;
    case "deleted": {
      if (open.value !== undefined && isOpen(open.value, notice.key)) {
        open.value.loading.value = "gone";
        // If the address names no session, another one is selected.
        if (route.value.view === "home") openSession(undefined);
      }
      forgetSession(notice.key);
      break;
    }
    case "permission":
      await_(notice.permission);
      break;
    case "question":
      await_(notice.question);
      break;
    case "settled":
      settled(notice.session, notice.tool_use_id);
      break;
    case "turn_ended":
      notifyTurn(sessions.value.get(notice.session), notice.interrupted === true ? "interrupted" : notice.is_error ? "failed" : "done", notice.last_line ?? undefined);
      break;
    case "marks":
      takeMarks(notice.marks);
      break;
    case "resync":
      refresh().catch(() => undefined);
      break;
  }
}

function await_(ask: PendingPermission | PendingQuestion): void {
  addWaiting(ask);
  notifyAsk(sessions.value.get(ask.session), ask);
}

/** Sends a prompt to a session as soon as possible. */
export function sendCommand(build: (clientId: string) => Command): string {
  const clientId = newClientId();
  outbox.put(clientId, build(clientId));
  return clientId;
}

/** Answers a pending request. The card shows that it is being sent until the server reports the outcome. */
export function answer(session: string, to: string, body: Pick<Extract<Command, { type: "answer" }>, "permission" | "question">): void {
  answered.value = new Set(answered.value).add(to);
  sendCommand((clientId) => ({
    type: "answer",
    session,
    to,
    ...(body.permission === undefined ? {} : { permission: { ...body.permission, client_id: clientId } }),
    ...(body.question === undefined ? {} : { question: { ...body.question, client_id: clientId } }),
  }));
}

export function command(session: string, name: Extract<Command, { type: "command" }>["command"], given: Partial<CommandRequest> = {}): string {
  return sendCommand((clientId) => ({ type: "command", session, command: name, with: { dry_run: false, ...given, client_id: clientId } }));
}

export function hasScope(scope: string): boolean {
  const scopes = meta.value?.you.scopes;
  return scopes === undefined || scopes.includes(scope) || scopes.includes("admin");
}

/**
 * True if this device may set a mode: modes that bypass permission requests need more scopes, and one needs
 * `--allow-bypass`.
 */
export function maySetMode(mode: string): boolean {
  if (mode === "bypassPermissions" && meta.value?.capabilities.includes("bypass") !== true) return false;
  const needed: Record<string, string> = { acceptEdits: "always", auto: "always", bypassPermissions: "admin" };
  const scope = needed[mode];
  return scope === undefined || hasScope(scope);
}

export function withdrawCommand(clientId: string): void {
  outbox.drop(clientId);
}

function commandRejected(unsent: UnsentCommand, problem: Problem): "keep" | "drop" {
  if (unsent.command.type === "answer") {
    const left = new Set(answered.value);
    left.delete(unsent.command.to);
    answered.value = left;
  }
  if (unsent.command.type === "answer" && problem.status === 409) {
    const by = problem.winner?.by;
    showToast("plain", `This was answered already${by === undefined ? "" : `,${byWhom(by)}`}.`);
    return "drop";
  }
  if (unsent.command.type === "input") return "keep";
  if (unsent.command.type === "command") refusedCommands.value = new Set(refusedCommands.value).add(unsent.clientId);
  showToast("error", problem.hint ? `${problem.detail}: ${problem.hint}` : problem.detail);
  return "drop";
}

export function errorText(error: unknown): string {
  if (error instanceof RemoteError) return problemText(error.problem);
  return error instanceof Error ? error.message : String(error);
}

export function problemText({ detail, hint, title }: Problem): string {
  return hint ? `${detail || title} (${hint})` : detail || title;
}

/** Closes the connection while the page is hidden, and opens it again when it is visible. */
export function followAttention(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") {
      if (authState.value === "paired") {
        if (connection.link === "open" && open.value !== undefined) subscribe(open.value).catch(() => undefined);
        connection.wake();
      }
      return;
    }
    timer = setTimeout(() => {
      // With notifications enabled only the session's subscription ends, and notices still arrive.
      if (!prefs.value.notify) connection.sleep();
      else if (open.value !== undefined) connection.request({ type: "unsubscribe", session: open.value.name }).catch(() => undefined);
    }, HIDDEN_LIMIT_MS);
  });
  addEventListener("offline", () => {
    offline.value = true;
    connection.doubt(OFFLINE_DOUBT_MS);
  });
  addEventListener("online", () => {
    offline.value = false;
    if (authState.value !== "paired") return;
    connection.doubt();
    connection.wake();
  });
}

export function retryNow(): void {
  connection.wake();
}

/** Retries to open a session that could not be opened. */
export function retryOpen(): void {
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
