// A session: its conversation, pending requests and prompt field.

import type { VNode } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { useSessionActions } from "../app/session-actions.ts";
import { sendAgain } from "../app/uncertain.ts";
import { isWriting } from "../app/keys.ts";
import { rewindTo } from "../app/jumps.ts";
import { viewOf } from "../app/list.ts";
import { savePosition, savedPosition } from "../app/scroll-positions.ts";
import { isSideBySide, prefs } from "../app/prefs.ts";
import { href } from "../app/route.ts";
import type { OpenSession } from "../app/session.ts";
import { command, hasScope, retryOpen, promptsSent, sendCommand, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { wide } from "../app/wide.ts";
import { can, hasTerminal as hasTerminalOf } from "../model/capabilities.ts";
import type { Item, Queued } from "../model/conversation.ts";
import { hasFailed } from "../model/conversation.ts";
import { count } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { findIn } from "../model/find.ts";
import { Blank, Bones } from "./blank.tsx";
import type { RowItem } from "../model/runs.ts";
import { rowKeyOf, rowPosition, runFold } from "../model/runs.ts";
import { Changes } from "./changes.tsx";
import { Composer, Limited } from "./composer.tsx";
import { CommentBar } from "./comments.tsx";
import type { FilePlace } from "./files.tsx";
import { Files, TOP } from "./files.tsx";
import { FindBar } from "./find-bar.tsx";
import { openFold } from "./folds.ts";
import { useJumps, useLinkedMessage, useRows } from "./rows.ts";
import { Outline, PromptNav, promptsOf } from "./prompts.tsx";
import { markWords, unfold } from "./match.ts";
import type { Panel } from "./header.tsx";
import { Header } from "./header.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { ItemView, guessHeight } from "./item.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { Overview, PanelFrame } from "./panels.tsx";
import { Queue } from "./queue.tsx";
import { Rewind } from "./rewind.tsx";
import { ServerText } from "./server-text.tsx";
import type { SessionTab } from "./terminal.tsx";
import { SessionTabs, TerminalView } from "./terminal.tsx";
import { VirtualList } from "./virtual.tsx";

const FOUND_TOP_PX = 60;
/** Below the buttons for prompts. */
const JUMPED_TOP_PX = 48;

/** An error among this many last items is not repeated below them. */
const TOLD_ITEMS = 4;

export function SessionPage({ open }: { open: OpenSession }): VNode {
  const loading = open.loading.value;
  const session = viewOf(open.name);
  if (loading === "missing") {
    return (
      <Blank icon="search" title="Session not found" actions={<a class="button" href={href({ view: "home" })}>All sessions</a>}>
        <p>It was deleted, or the address belongs to another server.</p>
      </Blank>
    );
  }
  if (loading === "gone") return <Gone open={open} />;
  if (loading === "failed") {
    return (
      <Blank icon="alert" bad title="The session could not be opened" actions={<><button type="button" onClick={retryOpen}>Try again</button><a class="button" href={href({ view: "home" })}>All sessions</a></>}>
        <p><ServerText text={open.problem.value} /></p>
      </Blank>
    );
  }
  if (session === undefined || loading === "loading") return <Opening />;
  return <Loaded open={open} session={session} />;
}

/** The session is being loaded; on a phone the list is out of sight, and without a server this takes for ever. */
function Opening(): VNode {
  return (
    <>
      <a class="ghost only-narrow opening-back" href={href({ view: "home" })}>
        <Icon name="back" /> All sessions
      </a>
      <Bones count={4} label="Opening the session" talk />
    </>
  );
}

/** The session was deleted while it was open, here or on another device. */
function Gone({ open }: { open: OpenSession }): VNode {
  const file = open.conversation.cliSessionId;
  return (
    <Blank
      icon="trash"
      title="This session was deleted"
      role="status"
      actions={
        <>
          <a class="button main" href={href({ view: "home" })}>
            All sessions
          </a>
          {file !== undefined && (
            <a class="button" href={href({ view: "history", id: file })}>
              Transcript
            </a>
          )}
        </>
      }
    >
      <p>It was removed from the list. Its conversation is in the transcript, if Claude Code has written one.</p>
    </Blank>
  );
}

function Loaded({ open, session }: { open: OpenSession; session: SessionView }): VNode {
  // Reading this signal draws again once per frame with changes. The conversation is mutated in place, so its
  // version is passed to components: a component that reads signals is drawn only if a prop changed.
  const drawn = open.drawn.value;
  const all = open.conversation;
  const [panel, setPanel] = useState<Panel>(() => (matchMedia("(min-width: 1280px)").matches ? "overview" : "none"));
  const [fetching, setFetching] = useState(false);
  const render = useCallback((item: RowItem) => <ItemView item={item} all={open.conversation} />, [open]);
  const busy = session.state === "running" || session.state === "needs_you" || session.state === "starting";
  const mayInterrupt = busy && hasScope("prompt") && can(session, "interrupt");
  // The same array while it has the same content, so that the composer is not drawn with every update.
  const capabilities = useMemo(() => session.capabilities, [String(session.capabilities)]);
  const closePanel = () => setPanel("none");
  const [place, setPlace] = useState<FilePlace>(TOP);
  const [tab, setTab] = useState<SessionTab>("conversation");
  const find = () => {
    setTab("conversation");
    setFinding(true);
  };
  useSessionActions({ setPanel, find });
  // In a narrow window a panel would cover the conversation, and with it Interrupt.
  useEffect(() => {
    if (!wide.value) setPanel("none");
  }, [wide.value]);
  const hasTerminal = hasTerminalOf(session);
  const [finding, setFinding] = useState(false);
  const rows = useRows(all);
  const [outlined, setOutlined] = useState(false);
  const [found, setFound] = useState<{ key: string; text: string; isMarked: boolean; count: number } | undefined>(undefined);
  const showFound = (item: Item, text: string) => {
    const inside = findIn(all, { words: text, around: text });
    if (inside !== undefined && inside.item.key === item.key) unfold(inside);
    const key = rowKeyOf(rows, item.key);
    const run = rows.find((row) => row.key === key);
    if (run?.kind === "run") openFold(runFold(run));
    setFound({ key, text, isMarked: true, count: (found?.count ?? 0) + 1 });
  };
  useJumps(open, ({ key, isLinked }) => setFound((before) => ({ key: rowKeyOf(rows, key), text: "", isMarked: isLinked === true, count: (before?.count ?? 0) + 1 })));
  useLinkedMessage(open);
  useEffect(() => {
    if (rewindTo.value !== undefined) setPanel("rewind");
  }, [rewindTo.value]);
  useEffect(() => {
    if (found === undefined || found.text === "") return undefined;
    const frame = requestAnimationFrame(() => {
      const row = document.querySelector(".row.found");
      if (row !== null) markWords(row, found.text);
    });
    return () => cancelAnimationFrame(frame);
  }, [found]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || !mayInterrupt) return;
      const target = event.target as HTMLElement;
      // Escape in a card does not interrupt, and in another field it belongs to that field.
      if (target.closest(".needs-you, .panel, .menu, .terminal-view, dialog") !== null) return;
      if (isWriting(target) && target.closest(".composer") === null) return;
      command(session.key, "interrupt");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [mayInterrupt, session.key]);

  const load = (loading: () => Promise<void>) => {
    setFetching(true);
    loading()
      .catch((error: unknown) => showToast("error", errorText(error)))
      .finally(() => setFetching(false));
  };
  const toStart = async () => {
    await open.loadAll();
    // The loaded rows are drawn first, and hold the visible position.
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector(".session .scroller")?.scrollTo({ top: 0 })));
  };
  return (
    <div class="session" data-state={session.state}>
      <Header session={session} all={all} drawn={drawn} panel={panel} setPanel={setPanel} find={find} />
      <div class="session-middle">
        <div class="talk">
          {hasTerminal && <SessionTabs tab={tab} setTab={setTab} />}
          {finding && <FindBar open={open} show={showFound} close={() => { setFinding(false); setFound(undefined); }} />}
          {promptsOf(all.items).length > 1 && tab === "conversation" && <PromptNav open={open} outline={() => setOutlined(!outlined)} />}
          {hasTerminal && tab === "terminal" ? <TerminalView key={open.name} session={session} /> : <VirtualList
            key={`${open.name} ${found?.count ?? 0}`}
            begin={found === undefined ? rowPosition(rows, savedPosition(open.name, all.items)) : { key: found.key, top: found.text === "" ? JUMPED_TOP_PX : FOUND_TOP_PX }}
            marked={found?.isMarked === true ? found.key : undefined}
            moved={(spot) => savePosition(open.name, open.conversation.items, spot)}
            items={rows}
            estimate={guessHeight}
            render={render}
            label="Conversation"
            latest={promptsSent.value}
            epoch={`${prefs.value.showAll}-${isSideBySide.value}`}
            before={
              open.more.value ? (
                <div class="older">
                  <button type="button" disabled={fetching} onClick={() => load(() => open.loadOlder())}>
                    {fetching ? `Loading, ${count(open.eventsLeft, "event")} to go` : "Show earlier messages"}
                  </button>
                  <button type="button" disabled={fetching} onClick={() => load(toStart)}>
                    Go to the start
                  </button>
                </div>
              ) : undefined
            }
            after={<Tail session={session} items={all.items} queue={all.queue} />}
          />}
          <div class="foot">
            <NeedsYou all={all} drawn={drawn} session={session} />
            <CommentBar session={session.key} may={can(session, "prompt") && hasScope("prompt")} />
            <Queue key={session.key} all={all} drawn={drawn} session={session} />
            {can(session, "prompt") ? (
              <Composer key={session.key} session={session.key} capabilities={capabilities} all={all} drawn={drawn} busy={busy} />
            ) : (
              <Limited session={session} busy={busy} />
            )}
          </div>
        </div>
        {outlined && (
          <PanelFrame title="Prompts" close={() => setOutlined(false)}>
            <Outline open={open} close={() => setOutlined(false)} />
          </PanelFrame>
        )}
        {panel === "overview" && !outlined && (
          <PanelFrame title="Overview" close={closePanel}>
            <Overview all={all} drawn={drawn} session={session} />
          </PanelFrame>
        )}
        {panel === "diff" && !outlined && (
          <PanelFrame title="Changes" close={closePanel}>
            <Changes session={session} revision={session.totals.turns} openFile={(path) => { setPlace({ path, isFile: true }); setPanel("files"); }} />
          </PanelFrame>
        )}
        {panel === "files" && !outlined && (
          <PanelFrame title="Files" close={closePanel}>
            <Files session={session} at={place} show={setPlace} />
          </PanelFrame>
        )}
        {panel === "rewind" && !outlined && can(session, "rewind") && (
          <PanelFrame title="Rewind" close={closePanel}>
            <Rewind all={all} drawn={drawn} session={session} done={closePanel} />
          </PanelFrame>
        )}
      </div>
    </div>
  );
}

/** Sends the waiting prompt again, which restarts the agent. */
function TryAgain({ session, prompt }: { session: string; prompt: Queued }): VNode {
  const [busy, setBusy] = useState(false);
  const again = () => {
    setBusy(true);
    sendAgain(session, { id: prompt.uuid, content: prompt.text, attachments: prompt.attachments.length })
      .catch((error: unknown) => showToast("error", errorText(error)))
      .finally(() => setBusy(false));
  };
  return (
    <button type="button" disabled={busy} onClick={again}>
      Try again
    </button>
  );
}

/** Sends the prompt of a failed turn once more. */
function Retry({ session, text }: { session: string; text: string }): VNode {
  const again = () => {
    sendCommand((clientId) => ({ type: "input", session, input: { content: text, client_id: clientId } }));
    promptsSent.value += 1;
  };
  return (
    <div class="tail">
      <button type="button" onClick={again}>
        Send the prompt again
      </button>
    </div>
  );
}

/** Status after the last item: working, or the reason why not. */
function Tail({ session, items, queue }: { session: SessionView; items: readonly Item[]; queue: readonly Queued[] }): VNode | null {
  const last = items.at(-1);
  const takesPrompts = can(session, "prompt");
  if (session.state === "failed") {
    const isTold = session.error === undefined || items.slice(-TOLD_ITEMS).some((item) => item.kind === "note" && item.text === session.error);
    return (
      <div class="tail bad">
        <p>This session has failed{!isTold && <>: <ServerText text={session.error ?? ""} /></>}. {queue.length > 0 ? "A prompt is still queued." : takesPrompts && "The next prompt starts it again."}</p>
        {queue[0] !== undefined && takesPrompts && hasScope("prompt") && <TryAgain key={queue[0].uuid} session={session.key} prompt={queue[0]} />}
      </div>
    );
  }
  if (session.stalled !== undefined) return <p class="tail bad"><ServerText text={session.stalled} />.</p>;
  if (session.state === "interrupted") return <p class="tail">The agent ended during a turn. {takesPrompts && "The next prompt resumes it."}</p>;
  if (session.state === "starting") return <p class="tail"><Spinner /> Starting</p>;
  if (session.state === "running" && !(last?.kind === "text" && last.open) && !(last?.kind === "tool" && last.state === "running")) {
    return <p class="tail"><Spinner /> Working</p>;
  }
  const failed = session.state === "idle" && last?.kind === "result" && hasFailed(last.result) ? promptsOf(items).at(-1) : undefined;
  if (failed !== undefined && failed.text !== "" && failed.attachments.length === 0 && takesPrompts && hasScope("prompt")) return <Retry key={failed.key} session={session.key} text={failed.text} />;
  if (items.length === 0) return <p class="tail muted">No messages yet. {takesPrompts && "Write a prompt below."}</p>;
  return <div class="tail" />;
}
