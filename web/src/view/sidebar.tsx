// The sidebar: what needs the user, the list of all sessions, and the other views.

import type { VNode } from "preact";
import { canStart, hasAgent, hasDemo } from "../app/agents.ts";
import { inboxCounts } from "../app/inbox.ts";
import { isWide } from "../app/initial-view.ts";
import { cardWanted, keysShown, nextWaiting } from "../app/keys.ts";
import { sessionsLoaded, sorted, waitingCount } from "../app/list.ts";
import { paletteShown } from "../app/palette.ts";
import { href, route } from "../app/route.ts";
import { listFilter } from "../app/sessions.ts";
import { hasScope, meta } from "../app/store.ts";
import { Icon } from "./icons.tsx";
import { InstallHint } from "./install.tsx";
import { MachineCard } from "./machine.tsx";
import { ScopeTabs, SelectionBar, SessionList } from "./session-list.tsx";

const BADGE_MAX = 99;

export function Sidebar(): VNode {
  // On a phone pending requests come first, and the figures of this machine last.
  const wide = isWide();
  const hint = meta.value !== undefined && !hasAgent.value && <InstallHint />;
  const isFirst = hasDemo.value && sorted.value.length <= 3;
  return (
    <nav class="sidebar" aria-label="Sessions">
      <header class="brand">
        <a class="brand-name" href={href({ view: "home" })}>
          <Logo /> Tidings
        </a>
        <button type="button" class="ghost" aria-label="Search sessions and commands" title="Search sessions and commands (Ctrl+K)" onClick={() => (paletteShown.value = true)}>
          <Icon name="search" />
        </button>
        <button type="button" class="ghost for-keys" aria-label="Keys" title="Keys (?)" onClick={() => (keysShown.value = true)}>
          <Icon name="keys" />
        </button>
        <a class="ghost" href={href({ view: "settings" })} aria-label="Settings" title="Settings">
          <Icon name="gear" />
        </a>
      </header>
      <div class="sidebar-body">
        <div class="sidebar-tools">
          {hasScope("prompt") && canStart.value && (
            <a class={hasAgent.value ? "button main" : "button"} href={href({ view: "new", resume: undefined, cwd: undefined })}>
              <Icon name="plus" /> {hasAgent.value ? (isFirst ? "Start a real session" : "New session") : "Another demo"}
            </a>
          )}
          <label class="filter">
            <span class="sr">Filter sessions</span>
            <Icon name="search" />
            <input type="search" placeholder="Filter sessions" value={listFilter.value} onInput={(event) => (listFilter.value = event.currentTarget.value)} />
          </label>
        </div>
        <ScopeTabs />
        {wide && hint}
        <WaitingLine count={waitingCount.value} />
        <SessionList />
        {/* Only once the list has its length, which would push them down. */}
        {!wide && sessionsLoaded.value && hint}
        {!wide && sessionsLoaded.value && <MachineCard />}
      </div>
      <SelectionBar />
      {wide && <MachineCard />}
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
      <p role="status">
        <span class="waiting-line none">
          <Icon name="bell" /> No pending requests
        </span>
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

export function Logo(): VNode {
  return (
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
      <path class="logo-back" d="M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-8l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z" />
      <path class="logo-front" d="M6.5 10h2.5l1.5-3.5 2.5 7 1.5-3.5h3" />
    </svg>
  );
}
