// The list of sessions: those with pending requests first, then the others.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { hasClaude, hasDemo } from "../app/agents.ts";
import { now } from "../app/clock.ts";
import { inboxCounts } from "../app/inbox.ts";
import { isWide } from "../app/initial-view.ts";
import { cardWanted, keysShown, nextWaiting } from "../app/keys.ts";
import { olderSessions, sessionsLoaded, showOlderSessions, sorted, waiting, waitingCount } from "../app/list.ts";
import { href, route } from "../app/route.ts";
import { hasScope, meta, open, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { nameOf } from "../model/name.ts";
import { summary } from "../model/tools.ts";
import { age, baseName, dollars } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { InstallHint } from "./install.tsx";
import { MachineCard } from "./machine.tsx";
import { OriginMark } from "./origin.tsx";
import { InOrder } from "./revealed.tsx";
import { Stalled, StateChip } from "./state.tsx";

const BADGE_MAX = 99;

export function Sidebar(): VNode {
  const [filter, setFilter] = useState("");
  const all = sorted.value;
  const shown = all.filter((session) => matches(session, filter));
  // On a phone pending requests come first, and the sessions on this machine last.
  const wide = isWide();
  const filterable = all.length > 3;
  const hint = meta.value !== undefined && !hasClaude.value && <InstallHint />;
  return (
    <nav class="sidebar" aria-label="Sessions">
      <header class="brand">
        <a class="brand-name" href={href({ view: "home" })}>
          <Logo /> Tidings
        </a>
        <button type="button" class="ghost for-keys" aria-label="Keys" title="Keys (?)" onClick={() => (keysShown.value = true)}>
          <Icon name="keys" />
        </button>
        <a class="ghost" href={href({ view: "settings" })} aria-label="Settings" title="Settings">
          <Icon name="gear" />
        </a>
      </header>
      <div class="sidebar-body">
        {wide && <MachineCard />}
        <div class="sidebar-tools">
          {hasScope("prompt") && (hasClaude.value || hasDemo.value) && (
            <a class={hasClaude.value ? "button main" : "button"} href={href({ view: "new", resume: undefined, cwd: undefined })}>
              <Icon name="plus" /> {hasClaude.value ? (hasDemo.value && !filterable ? "Start a real session" : "New session") : "Another demo"}
            </a>
          )}
          {filterable && (
            <label class="filter">
              <span class="sr">Filter sessions</span>
              <input type="search" placeholder="Filter" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
            </label>
          )}
        </div>
        {wide && hint}
        {all.length > 0 && <WaitingLine count={waitingCount.value} />}
        <ul class="session-list">
          {shown.map((session) => (
            <SessionCard key={session.key} session={session} />
          ))}
        </ul>
        {sessionsLoaded.value && all.length === 0 && (
          <div class="muted pad">
            <p>No sessions run here yet. Start one, or resume one from the history.</p>
            <p class="hook-hint">Sessions that you start in terminals appear here too. <code>tidings hook install</code> makes their requests answerable here.</p>
          </div>
        )}
        {all.length > 0 && shown.length === 0 && <p class="muted pad">None of {all.length} sessions fits “{filter}”.</p>}
        {olderSessions.value !== undefined && <ShowOlder />}
        {/* Only once the list has its length, which would push them down. */}
        {!wide && sessionsLoaded.value && hint}
        {!wide && sessionsLoaded.value && <MachineCard />}
      </div>
      <footer class="sidebar-foot">
        <InboxLink />
        <a href={href({ view: "history", id: undefined })} class={route.value.view === "history" ? "on" : undefined}>
          <Icon name="clock" /> History
        </a>
        <a href={href({ view: "cost" })} class={route.value.view === "cost" ? "on" : undefined}>
          <Icon name="chart" /> Cost
        </a>
        {meta.value?.demo && <span class="demo-mark">DEMO</span>}
      </footer>
    </nav>
  );
}

/**
 * The button with the number of pending requests. It is also displayed without any: the list below must not
 * jump under a finger when one arrives. It leads from one waiting session to the next.
 */
function WaitingLine({ count }: { count: number }): VNode {
  const next = nextWaiting();
  if (count === 0 || next === undefined) {
    return (
      <p class="waiting-line none" role="status">
        <Icon name="bell" /> No pending requests
      </p>
    );
  }
  return (
    <p role="status">
      <a class="waiting-line" href={href({ view: "session", id: next })} onClick={cardWanted}>
        <Icon name="bell" /> {count === 1 ? "1 pending request" : `${count} pending requests`}
      </a>
    </p>
  );
}

function InboxLink(): VNode {
  const badge = inboxCounts.value?.badge ?? 0;
  return (
    <a href={href({ view: "inbox", state: "all", kind: undefined })} class={route.value.view === "inbox" ? "on" : undefined}>
      <Icon name="bell" /> Inbox
      {badge > 0 && <span class="badge" aria-label={`${badge} new`}>{badge > BADGE_MAX ? `${BADGE_MAX}+` : badge}</span>}
    </a>
  );
}

function ShowOlder(): VNode {
  const [busy, setBusy] = useState(false);
  const show = () => {
    setBusy(true);
    showOlderSessions()
      .catch((error: unknown) => showToast("error", errorText(error)))
      .finally(() => setBusy(false));
  };
  return (
    <p class="older">
      <button type="button" disabled={busy} onClick={show}>
        {busy ? "Loading…" : "Show older sessions"}
      </button>
    </p>
  );
}

function SessionCard({ session }: { session: SessionView }): VNode {
  const name = nameOf(session);
  const waits = session.pending_permissions + session.pending_questions;
  const current = open.value?.name === session.key || open.value?.name === String(session.handle);
  return (
    <li>
      <a class={`session-card ${session.state}`} href={href({ view: "session", id: session.key })} aria-current={current ? "page" : undefined}>
        <span class="card-top">
          <span class="card-title"><bdi><InOrder text={name} /></bdi></span>
          <span class="card-age">{age(session.active, now.value)}</span>
        </span>
        <span class="card-line">{session.stalled === undefined ? <bdi><InOrder text={line(session)} /></bdi> : <Stalled why={session.stalled} />}</span>
        <span class="card-facts">
          <StateChip session={session} />
          <OriginMark session={session} />
          {session.demo && <span class="demo-mark">DEMO</span>}
          {waits > 1 && <span class="badge" aria-label={`${waits} requests`}>{waits}</span>}
          <span class="cut">{baseName(session.cwd)}</span>
          {session.totals.cost_usd > 0 && <span class="push">{dollars(session.totals.cost_usd)}</span>}
        </span>
      </a>
    </li>
  );
}

function line(session: SessionView): string {
  return session.error ?? wants(session) ?? session.last_line ?? (session.state === "running" ? "Working" : session.cwd);
}

/** The session's pending request in one line. */
function wants(session: SessionView): string | undefined {
  if (session.state !== "needs_you") return undefined;
  const ask = [...waiting.value.values()].find((one) => one.session === session.key);
  if (ask === undefined) return undefined;
  if ("tool_name" in ask.details) {
    const { title, target } = summary(ask.details.tool_name, ask.details.input, session.cwd);
    return `${title}? ${target.split("\n")[0] ?? ""}`;
  }
  if (ask.details.kind === "Plan") return "Has a plan for you to approve";
  return "request" in ask && ask.request !== undefined && "questions" in ask.request ? ask.request.questions[0]?.text : undefined;
}

function matches(session: SessionView, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const labels = Object.entries(session.labels).flat();
  const text = [nameOf(session), session.first_prompt, session.cwd, session.last_line, session.state.replace("_", " "), session.model, session.origin === "server" ? "" : session.origin, ...labels].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

export function Logo(): VNode {
  return (
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
      <path class="logo-back" d="M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-8l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z" />
      <path class="logo-front" d="M6.5 10h2.5l1.5-3.5 2.5 7 1.5-3.5h3" />
    </svg>
  );
}
