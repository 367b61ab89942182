// One open session: its conversation, and its cursor.

import { signal } from "@preact/signals";
import type { HistoryPage, PendingPermission, PendingQuestion, SessionView, Snapshot, Subscribed, UiMessage } from "../wire.ts";
import type { Ask, Conversation } from "../model/conversation.ts";
import { emptyConversation } from "../model/conversation.ts";
import { fold } from "../model/fold.ts";
import { prepend } from "../model/prepend.ts";
import { getJson } from "../net/api.ts";
import { isPositionMissing } from "./scroll-positions.ts";

/** `gone`: the session existed and was deleted. */
export type Loading = "loading" | "ready" | "missing" | "failed" | "gone";

const HISTORY_PAGE = 500;

/** Number of history pages that are searched for the stored scroll position. */
const PLACE_PAGES_MAX = 4;

/**
 * Enough to fill the screen many times, and little enough for a mobile connection; older events are loaded on
 * demand.
 */
const SNAPSHOT_EVENTS = 500;
const SNAPSHOT_BYTES = 120_000;

export class OpenSession {
  conversation: Conversation = emptyConversation();
  /** Increases when there are changes to draw; several events are one change. */
  readonly drawn = signal(0);
  readonly loading = signal<Loading>("loading");
  readonly problem = signal("");
  readonly more = signal(false);
  /** Cursor of the last folded event. */
  cursor: string | undefined;
  /** Settles when all pending subscribe calls are done. */
  watching: Promise<void> = Promise.resolve();
  #before: string | undefined;
  #planned = false;
  /** True if the events that arrive continue the conversation. */
  #live = false;

  constructor(readonly name: string) {}

  /** Path of the session in the API. */
  get path(): string {
    return `sessions/${encodeURIComponent(this.name)}`;
  }

  /** Number of events that are not loaded yet. */
  get eventsLeft(): number {
    return this.more.value && this.#before !== undefined ? seqOf(this.#before) : 0;
  }

  /** Loads the conversation from the server, replacing the current one. */
  async load(): Promise<SessionView> {
    const snapshot = await getJson<Snapshot>(`sessions/${encodeURIComponent(this.name)}/snapshot`, { limit: SNAPSHOT_EVENTS, bytes: SNAPSHOT_BYTES });
    const conversation = emptyConversation();
    snapshot.events.forEach((event, index) => fold(conversation, event, snapshot.times[index]));
    this.conversation = conversation;
    this.cursor = snapshot.cursor;
    this.more.value = snapshot.more;
    this.#before = cursorOf(snapshot.cursor, snapshot.from);
    this.#waiting(snapshot.pending_permissions, snapshot.pending_questions);
    if (this.loading.value !== "ready") await this.#reachPlace();
    this.loading.value = "ready";
    this.#plan();
    return snapshot.session;
  }

  /** Called before subscribing: events of an earlier subscription will be sent again. */
  pause(): void {
    this.#live = false;
  }

  /** Called if subscribing failed: the earlier subscription continues. */
  resume(): void {
    this.#live = true;
  }

  /** The server's list of pending requests replaces the one from the events. */
  subscribed(told: Subscribed): void {
    this.#live = true;
    this.#waiting(told.pending_permissions, told.pending_questions);
    this.#plan();
  }

  take(cursor: string, event: UiMessage): void {
    if (!this.#live) return;
    this.cursor = cursor;
    fold(this.conversation, event, new Date().toISOString());
    this.#plan();
  }

  async loadOlder(): Promise<void> {
    const page = await getJson<HistoryPage>(`sessions/${encodeURIComponent(this.name)}/history`, {
      before: this.#before,
      limit: HISTORY_PAGE,
    });
    const older = emptyConversation();
    for (const { event, at } of page.items) fold(older, event, at);
    prepend(this.conversation, older);
    this.#before = page.prev;
    this.more.value = page.prev !== undefined && page.items.length > 0;
    this.#plan();
  }

  /** Loads everything up to the first event. */
  async loadAll(): Promise<void> {
    while (this.more.value) await this.loadOlder();
  }

  async #reachPlace(): Promise<void> {
    for (let page = 0; page < PLACE_PAGES_MAX && this.more.value && isPositionMissing(this.name, this.conversation.items); page += 1) await this.loadOlder();
  }

  #waiting(permissions: PendingPermission[], questions: PendingQuestion[]): void {
    const asks = new Map<string, Ask>();
    for (const one of permissions) {
      asks.set(one.tool_use_id, permissionAsk(one));
    }
    for (const one of questions) {
      asks.set(one.tool_use_id, questionAsk(one));
    }
    this.conversation.asks = asks;
  }

  /** Draws at the next animation frame, or soon if the page is hidden and has no frames. */
  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    const draw = () => {
      this.#planned = false;
      this.drawn.value += 1;
    };
    if (document.visibilityState === "visible") requestAnimationFrame(draw);
    else setTimeout(draw, 250);
  }
}

function permissionAsk(one: PendingPermission): Ask {
  return { kind: "permission", id: one.tool_use_id, details: one.details, request: one.request, openedAt: one.opened_at };
}

function questionAsk(one: PendingQuestion): Ask {
  return { kind: "question", id: one.tool_use_id, details: one.details, request: one.request, plan: one.plan, openedAt: one.opened_at };
}

/** Number of an event in its epoch. */
function seqOf(cursor: string): number {
  return Number(cursor.slice(cursor.lastIndexOf(":") + 1));
}

/** Cursor of another event of the same epoch. */
function cursorOf(cursor: string, seq: number): string {
  const colon = cursor.lastIndexOf(":");
  return `${cursor.slice(0, colon + 1)}${seq}`;
}
