// The page: the list of sessions, and the selected view.

import type { VNode } from "preact";
import { canStart } from "../app/agents.ts";
import { sessionsLoaded, sorted } from "../app/list.ts";
import { href, route } from "../app/route.ts";
import { isStorageFull, journalDamage } from "../app/storage.ts";
import { authState, link, hasScope, offline, open, retryNow, upgraded } from "../app/store.ts";
import { dismiss, toasts } from "../app/toasts.ts";
import { Blank, Bones } from "./blank.tsx";
import { Cost } from "./cost.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { PairingPage } from "./pairing-page.tsx";
import { History } from "./history.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { Inbox } from "./inbox.tsx";
import { KeysDialog } from "./keys.tsx";
import { NewSession } from "./new-session.tsx";
import { ServerText } from "./server-text.tsx";
import { SessionPage } from "./session.tsx";
import { Settings } from "./settings.tsx";
import { Palette } from "./palette.tsx";
import { Sidebar } from "./sidebar.tsx";

export function App(): VNode {
  if (authState.value === "unpaired") return <PairingPage />;
  if (authState.value === "unknown") return <div class="empty" role="status"><Spinner /></div>;
  return (
    <main class="page" data-view={route.value.view}>
      <h1 class="sr">Tidings</h1>
      <a class="skip" href="#view" onClick={skip}>
        Skip to the conversation
      </a>
      <Sidebar />
      <div class="view" id="view" tabIndex={-1}>
        <LinkBar />
        <View />
      </div>
      <Toasts />
      <KeysDialog />
      <Palette />
      <DeleteDialog />
    </main>
  );
}

// The part after the `#` is the view, so the jump is made here.
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
}

function View(): VNode {
  const where = route.value;
  switch (where.view) {
    case "session":
      return open.value === undefined ? <Nothing /> : <SessionPage key={open.value.name} open={open.value} />;
    case "home":
      return open.value === undefined ? <Nothing /> : <SessionPage key={open.value.name} open={open.value} />;
    case "new":
      return <NewSession key={`${where.resume ?? ""} ${where.cwd ?? ""}`} resume={where.resume} cwd={where.cwd} forks={where.fork === true} shared={where.shared === true} />;
    case "history":
      return <History id={where.id} wanted={where.wanted ?? {}} />;
    case "inbox":
      return <Inbox state={where.state} kind={where.kind} />;
    case "cost":
      return <Cost />;
    case "settings":
      return <Settings section={where.section} />;
  }
}

function Nothing(): VNode {
  if (!sessionsLoaded.value) return <Bones count={4} label="Loading sessions" talk />;
  const isFirst = sorted.value.length === 0;
  return (
    <Blank
      icon={isFirst ? "spark" : "chat"}
      title={isFirst ? "No sessions yet" : "Choose a session"}
      actions={
        <>
          {hasScope("prompt") && canStart.value && (
            <a class="button main" href={href({ view: "new", resume: undefined, cwd: undefined })}>
              <Icon name="plus" /> New session
            </a>
          )}
          <a class="button" href={href({ view: "history", id: undefined })}>
            <Icon name="clock" /> History
          </a>
        </>
      }
    >
      <p>{isFirst ? "Start one here, or resume one that is on this machine." : "Sessions that need you are first."}</p>
    </Blank>
  );
}

/** Warns when the displayed data may be outdated. */
function LinkBar(): VNode | null {
  const state = link.value;
  const isLoopback = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  if (state === "open" && offline.value && !isLoopback) return <p class="link-bar" role="status">Your device reports no network. The page may be outdated.</p>;
  if (state === "open" && isStorageFull.value) return <p class="link-bar" role="status">The server's disk is full. Sessions can be read, denied, interrupted and stopped; prompts and approvals wait until there is space.</p>;
  if (state === "open" && journalDamage.value.length > 0) return <p class="link-bar" role="status">The server's journal was damaged: {journalDamage.value[0]}{journalDamage.value.length > 1 && `, and ${journalDamage.value.length - 1} more`}. <a href={href({ view: "settings", section: "about" })}>What is missing</a></p>;
  if (state === "open" && upgraded.value) {
    return (
      <p class="link-bar" role="status">
        The server was upgraded; this page is that of the version before.{" "}
        <button type="button" class="link" onClick={() => location.reload()}>
          Load the new page
        </button>
      </p>
    );
  }
  if (state === "open" || state === "asleep" || (state === "connecting" && !sessionsLoaded.value)) return null;
  return (
    <div class="link-bar" role="status">
      <Spinner />
      <span>Not connected. The page may be outdated; your prompts are stored, and sent when the server is back.</span>
      <button type="button" class="link" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}

function Toasts(): VNode {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.tone}`}>
          <p>
            <ServerText text={toast.text} /> {toast.session !== undefined && <a href={href({ view: "session", id: toast.session })} onClick={() => dismiss(toast.id)}>Open it</a>}
          </p>
          <button type="button" class="ghost small" aria-label="Dismiss" onClick={() => dismiss(toast.id)}>
            <Icon name="cross" />
          </button>
        </div>
      ))}
    </div>
  );
}
