// The inbox: pending requests of all sessions, then what happened since the user last looked.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../app/clock.ts";
import { useFetched } from "../app/fetched.ts";
import { inboxCounts, inboxRevision, markRead, useVisibleRequest } from "../app/inbox.ts";
import { viewOf } from "../app/list.ts";
import { amend, href } from "../app/route.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { KINDS, deliveryLine, joined, kindName, outcomeName } from "../model/inbox.ts";
import { nameOf } from "../model/name.ts";
import { getJson } from "../net/api.ts";
import { age, moment } from "../text/format.ts";
import type { InboxItem, InboxKind, InboxPage } from "../wire.ts";
import { Failed } from "./failed.tsx";
import type { IconName } from "./icons.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

const STATES: [string, string][] = [
  ["all", "All"],
  ["waiting", "Waiting"],
  ["unread", "Unread"],
];

const ICONS: Record<InboxKind, IconName> = {
  permission: "bell",
  question: "question",
  plan: "plan",
  dialog: "bell",
  finished: "check",
  failed: "alert",
  denied: "cross",
  limit: "clock",
  agent_gone: "agent",
  disk_full: "layers",
};

const WAITING_MAX = 200;

export function Inbox({ state, kind }: { state: string; kind: string | undefined }): VNode {
  const revision = String(inboxRevision.value);
  const waiting = useFetched<InboxPage>("inbox", { state: "waiting", kind, limit: WAITING_MAX }, revision);
  const news = useFetched<InboxPage>(state === "waiting" ? undefined : "inbox", { state, kind }, revision);
  const older = useOlder({ state, kind }, news.value?.next);
  const pending = waiting.value?.items ?? [];
  const happened = joined(news.value?.items ?? [], older.items).filter((item) => item.waiting !== true);
  const counts = inboxCounts.value;
  const markAll = () => {
    if (counts !== undefined) markRead({ up_to: counts.position }).catch((error: unknown) => showToast("error", errorText(error)));
  };
  const loaded = waiting.value !== undefined && (state === "waiting" || news.value !== undefined);
  const problem = waiting.problem || news.problem;
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>Inbox</h2>
        <button type="button" class="push" disabled={counts === undefined || counts.unread === 0} onClick={markAll}>
          Mark all read
        </button>
      </header>
      <div class="inbox">
        <div class="inbox-filters">
          <fieldset class="segments">
            <legend class="sr">Show</legend>
            {STATES.map(([name, label]) => (
              <label class={state === name ? "on" : undefined}>
                <input type="radio" name="inbox-state" checked={state === name} onChange={() => amend({ view: "inbox", state: name, kind })} />
                {label}
              </label>
            ))}
          </fieldset>
          <label class="pick">
            <span class="sr">Kind</span>
            <select value={kind ?? ""} onChange={(event) => amend({ view: "inbox", state, kind: event.currentTarget.value || undefined })}>
              <option value="">All kinds</option>
              {Object.entries(KINDS).map(([name, label]) => (
                <option value={name}>{label}</option>
              ))}
            </select>
          </label>
        </div>
        {problem !== "" && <Failed problem={problem} again={() => { waiting.again(); news.again(); }} />}
        {!loaded && problem === "" && <p role="status"><Spinner /> Loading</p>}
        {loaded && (
          <>
            {pending.length > 0 && <Items title="Waiting for you" items={pending} />}
            {happened.length > 0 && <Items title="What happened" items={happened} />}
            {pending.length + happened.length === 0 && <p class="muted inbox-empty">{state === "unread" ? "Everything is read." : "Nothing waits for you, and nothing has happened yet."}</p>}
            {older.next !== undefined && (
              <p class="older">
                <button type="button" disabled={older.busy} onClick={older.load}>
                  {older.busy ? "Loading…" : "Show older"}
                </button>
              </p>
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** Pages before the first one, fetched on request. */
function useOlder(query: { state: string; kind: string | undefined }, first: number | undefined) {
  const [pages, setPages] = useState<readonly InboxPage[]>([]);
  const [busy, setBusy] = useState(false);
  useEffect(() => setPages([]), [query.state, query.kind]);
  const next = pages.length === 0 ? first : pages.at(-1)?.next;
  const load = () => {
    setBusy(true);
    getJson<InboxPage>("inbox", { ...query, before: next })
      .then((page) => setPages([...pages, page]), (error: unknown) => showToast("error", errorText(error)))
      .finally(() => setBusy(false));
  };
  return { items: pages.flatMap(({ items }) => items), next, busy, load };
}

function Items({ title, items }: { title: string; items: readonly InboxItem[] }): VNode {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul class="inbox-list">
        {items.map((item) => (
          <Item key={item.id} item={item} />
        ))}
      </ul>
    </section>
  );
}

function Item({ item }: { item: InboxItem }): VNode {
  const box = useRef<HTMLLIElement>(null);
  useVisibleRequest(box, item.waiting === true ? { ids: [item.id] } : undefined);
  const read = () => {
    if (item.unread === true) markRead({ ids: [item.id] }).catch(() => undefined);
  };
  const line = lineOf(item);
  const troubled = (item.deliveries ?? []).some(({ state }) => state === "failed" || state === "gone");
  return (
    <li ref={box} class={`inbox-item ${item.kind}${item.waiting === true ? " waiting" : ""}${item.unread === true ? " unread" : ""}`}>
      <a href={item.link} onClick={read}>
        <Icon name={ICONS[item.kind] ?? "bell"} />
        <span class="inbox-main">
          <span class="inbox-title">
            {item.unread === true && <span class="unread-dot" role="img" aria-label="Unread" />}
            <bdi><InOrder text={titleOf(item)} /></bdi>
          </span>
          {line !== "" && <span class="inbox-line"><bdi><InOrder text={line} /></bdi></span>}
          <span class="inbox-facts">
            <span>{kindName(item.kind)}</span>
            {item.waiting === true && item.risk !== undefined && <span class={`risk ${item.risk}`}>{item.risk.toLowerCase()} risk</span>}
            {item.outcome !== undefined && <span>{outcomeName(item.outcome)}</span>}
            {item.project !== undefined && <span class="cut">{item.project}</span>}
            {item.waiting === true && item.next_reminder !== undefined && <span>reminder {when(item.next_reminder)}</span>}
          </span>
        </span>
        <span class="card-age">{age(item.at, now.value)}</span>
      </a>
      {(item.deliveries ?? []).length > 0 && (
        <details class="deliveries" open={troubled && item.waiting === true}>
          <summary>{troubled ? "A notification failed" : "Notifications"}</summary>
          <ul>
            {item.deliveries?.map((one) => (
              <li key={one.target} class={one.state === "failed" || one.state === "gone" ? "bad" : undefined}>
                <InOrder text={deliveryLine(one)} />
                {one.retry_at !== undefined && `, again ${when(one.retry_at)}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function when(at: string): string {
  return `at ${moment(new Date(at), new Date(now.value))}`;
}

function titleOf(item: InboxItem): string {
  const session = item.session === undefined ? undefined : viewOf(item.session);
  return (session === undefined ? item.title : nameOf(session)) ?? (item.kind === "disk_full" ? "The server" : "A session");
}

function lineOf(item: InboxItem): string {
  if (item.kind === "limit" && item.resets_at !== undefined) return `${item.line ?? "The plan’s limit is used up"}; it resets ${when(item.resets_at)}`;
  return [item.tool, item.line].filter((part) => part !== undefined && part !== "").join(": ");
}
