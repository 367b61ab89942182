// The inbox of the server: its counts, unread news of the open session, and requests that are on this screen.

import { effect, signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { newsOf } from "../model/inbox.ts";
import { getJson, postJson } from "../net/api.ts";
import type { InboxCounts, InboxItem, InboxPage, InboxRead, InboxVisible } from "../wire.ts";
import { viewOf } from "./list.ts";
import { route } from "./route.ts";
import { authState, connectionCount, hasScope, inboxNotices, open } from "./store.ts";

/** Time in milliseconds in which changes are fetched once. */
const SETTLE_MS = 150;
/**
 * Interval in milliseconds at which a visible request is reported again; the server forgets it after 45 s.
 */
const VISIBLE_MS = 20_000;
const UNREAD_MAX = 200;

export const inboxCounts = signal<InboxCounts | undefined>(undefined);
/** Increases when the inbox has changed. */
export const inboxRevision = signal(0);
const unreadItems = signal<readonly InboxItem[]>([]);
const isVisible = signal(document.visibilityState === "visible");

let timer: ReturnType<typeof setTimeout> | undefined;

export function inboxChanged(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    inboxRevision.value += 1;
  }, SETTLE_MS);
}

export function followInbox(): void {
  document.addEventListener("visibilitychange", () => {
    isVisible.value = document.visibilityState === "visible";
  });
  effect(() => {
    if (inboxNotices.value > 0) inboxChanged();
  });
  effect(() => {
    // After a lost connection it may have changed without a notice.
    const wanted = connectionCount.value + inboxRevision.value;
    if (wanted > 0 && authState.value === "paired") void fetchCounts();
  });
  effect(markShownNews);
}

async function fetchCounts(): Promise<void> {
  // The next notice or connection tries again.
  const page = await getJson<InboxPage>("inbox", { state: "unread", limit: UNREAD_MAX }).catch(() => undefined);
  if (page === undefined) return;
  setCounts(page);
  unreadItems.value = page.items;
}

function setCounts({ waiting, unread, badge, position }: InboxCounts): void {
  inboxCounts.value = { waiting, unread, badge, position };
}

/** The user sees what happens in the open session, so it is not news. */
function markShownNews(): void {
  const { view } = route.value;
  const name = view === "session" || view === "home" ? open.value?.name : undefined;
  const session = name === undefined ? undefined : viewOf(name);
  if (session === undefined || !isVisible.value || open.value?.loading.value !== "ready") return;
  const ids = newsOf(unreadItems.value, session.key);
  if (ids.length > 0) markRead({ ids }).catch(() => undefined);
}

export async function markRead(what: InboxRead): Promise<void> {
  if (what.ids !== undefined) unreadItems.value = unreadItems.value.filter(({ id }) => what.ids?.includes(id) !== true);
  else unreadItems.value = [];
  setCounts(await postJson<InboxCounts>("inbox/read", what));
  inboxChanged();
}

/**
 * Reports a pending request while it is really on the screen: rendered, in view, in a visible tab. The server
 * sends no notification about it meanwhile.
 */
export function useVisibleRequest(box: RefObject<HTMLElement | null>, shown: InboxVisible | undefined): void {
  const key = JSON.stringify(shown);
  useEffect(() => {
    const element = box.current;
    if (shown === undefined || element === null || !hasScope("decide")) return undefined;
    let inView = false;
    const report = () => {
      if (inView && document.visibilityState === "visible") postJson("inbox/visible", shown).catch(() => undefined);
    };
    const observer = new IntersectionObserver((entries) => {
      inView = entries.at(-1)?.isIntersecting ?? false;
      report();
    });
    observer.observe(element);
    const again = setInterval(report, VISIBLE_MS);
    document.addEventListener("visibilitychange", report);
    return () => {
      observer.disconnect();
      clearInterval(again);
      document.removeEventListener("visibilitychange", report);
    };
  }, [key]);
}
