// A session: its conversation, what it needs, and what is said to it.

import type { VNode } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { isWriting } from "../app/keys.ts";
import { viewOf } from "../app/list.ts";
import { keepSpot, keptSpot } from "../app/places.ts";
import { prefs } from "../app/prefs.ts";
import { href } from "../app/route.ts";
import type { OpenSession } from "../app/session.ts";
import { command, mayI, openAgain, saidHere, words } from "../app/store.ts";
import { say } from "../app/toasts.ts";
import type { Item } from "../model/conversation.ts";
import type { SessionView } from "../wire.ts";
import { Composer } from "./composer.tsx";
import type { Panel } from "./header.tsx";
import { Header } from "./header.tsx";
import { Spinner } from "./icons.tsx";
import { ItemView, guessHeight } from "./item.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { Overview, PanelFrame, WorkingDiff } from "./panels.tsx";
import { Queue } from "./queue.tsx";
import { Rewind } from "./rewind.tsx";
import { Said } from "./said.tsx";
import { VirtualList } from "./virtual.tsx";

export function SessionPage({ open }: { open: OpenSession }): VNode {
  const loading = open.loading.value;
  const session = viewOf(open.name);
  if (loading === "missing") {
    return (
      <div class="empty">
        <h2>There is no such session</h2>
        <p>It was removed, or the address is of another server.</p>
        <a class="button" href={href({ view: "home" })}>
          All sessions
        </a>
      </div>
    );
  }
  if (loading === "gone") return <Gone open={open} />;
  if (loading === "failed") {
    return (
      <div class="empty">
        <h2>The session could not be opened</h2>
        <p><Said text={open.problem.value} /></p>
        <button type="button" onClick={openAgain}>
          Try again
        </button>
      </div>
    );
  }
  if (session === undefined || loading === "loading") {
    return (
      <div class="empty" role="status">
        <Spinner />
        <p>Opening the session</p>
      </div>
    );
  }
  return <Loaded open={open} session={session} />;
}

/** It was removed while it was looked at: here, or on another device. */
function Gone({ open }: { open: OpenSession }): VNode {
  const file = open.conversation.cliSessionId;
  return (
    <div class="empty" role="status">
      <h2>This session is gone</h2>
      <p>It was removed from the list. What was said in it is in its session file, if Claude Code has written one.</p>
      <div class="empty-actions">
        <a class="button main" href={href({ view: "home" })}>
          All sessions
        </a>
        {file !== undefined && (
          <a class="button" href={href({ view: "history", id: file })}>
            Session file
          </a>
        )}
      </div>
    </div>
  );
}

function Loaded({ open, session }: { open: OpenSession; session: SessionView }): VNode {
  // Reading it draws this again once per frame in which something came. The conversation is changed in place, so those
  // who draw parts of it are told which one it is: a component that reads signals is drawn only when it was handed something new.
  const drawn = open.drawn.value;
  const all = open.conversation;
  const [panel, setPanel] = useState<Panel>(() => (matchMedia("(min-width: 1280px)").matches ? "overview" : "none"));
  const [fetching, setFetching] = useState(false);
  const render = useCallback((item: Item) => <ItemView item={item} all={open.conversation} />, [open]);
  const busy = session.state === "running" || session.state === "needs_you" || session.state === "starting";
  const closePanel = () => setPanel("none");

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || !busy || !mayI("prompt")) return;
      const target = event.target as HTMLElement;
      // Escape in a card closes nothing and interrupts nothing, and in another field it is about that field.
      if (target.closest(".needs-you, .panel, .menu, dialog") !== null) return;
      if (isWriting(target) && target.closest(".composer") === null) return;
      command(session.key, "interrupt");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [busy, session.key]);

  const older = () => {
    setFetching(true);
    open
      .loadOlder()
      .catch((error: unknown) => say("error", words(error)))
      .finally(() => setFetching(false));
  };
  return (
    <div class="session" data-state={session.state}>
      <Header session={session} all={all} drawn={drawn} panel={panel} setPanel={setPanel} />
      <div class="session-middle">
        <div class="talk">
          <VirtualList
            key={open.name}
            begin={keptSpot(open.name, all.items)}
            moved={(spot) => keepSpot(open.name, open.conversation.items, spot)}
            items={all.items}
            estimate={guessHeight}
            render={render}
            label="Conversation"
            latest={saidHere.value}
            epoch={`${prefs.value.showAll}-${prefs.value.diff}`}
            before={
              open.more.value ? (
                <div class="older">
                  <button type="button" disabled={fetching} onClick={older}>
                    {fetching ? "Looking…" : "Show what was before"}
                  </button>
                </div>
              ) : undefined
            }
            after={<Tail session={session} items={all.items} />}
          />
          <div class="foot">
            <NeedsYou all={all} drawn={drawn} session={session.key} />
            <Queue key={session.key} all={all} drawn={drawn} session={session} />
            <Composer key={session.key} session={session.key} all={all} drawn={drawn} busy={busy} />
          </div>
        </div>
        {panel === "overview" && (
          <PanelFrame title="Overview" close={closePanel}>
            <Overview all={all} drawn={drawn} session={session} />
          </PanelFrame>
        )}
        {panel === "diff" && (
          <PanelFrame title="Changes" close={closePanel}>
            <WorkingDiff session={session} revision={session.totals.turns} />
          </PanelFrame>
        )}
        {panel === "rewind" && (
          <PanelFrame title="Put files back" close={closePanel}>
            <Rewind all={all} drawn={drawn} session={session} done={closePanel} />
          </PanelFrame>
        )}
      </div>
    </div>
  );
}

/** What stands after the last item: that it works, or why it does not. */
function Tail({ session, items }: { session: SessionView; items: readonly Item[] }): VNode | null {
  const last = items.at(-1);
  if (session.state === "failed") {
    const isTold = session.error === undefined || (last?.kind === "note" && last.text === session.error);
    return <p class="tail bad">This session has failed{!isTold && <>: <Said text={session.error ?? ""} /></>}. The next prompt starts it again.</p>;
  }
  if (session.stalled !== undefined) return <p class="tail bad"><Said text={session.stalled} />.</p>;
  if (session.state === "interrupted") return <p class="tail">The agent ended during a turn. The next prompt goes on from there.</p>;
  if (session.state === "starting") return <p class="tail"><Spinner /> Starting</p>;
  if (session.state === "running" && !(last?.kind === "text" && last.open) && !(last?.kind === "tool" && last.state === "running")) {
    return <p class="tail"><Spinner /> Working</p>;
  }
  if (items.length === 0) return <p class="tail muted">Nothing was said yet. Write below to begin.</p>;
  return <div class="tail" />;
}
