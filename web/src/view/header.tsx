// The header of a session: title, state, settings and menu.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useDismiss, useEscape } from "../app/dismiss.ts";
import { hasMark, setMark } from "../app/marks.ts";
import { learnOfferIn } from "../app/models.ts";
import { href } from "../app/route.ts";
import { deleting } from "../app/sessions.ts";
import { command, hasScope, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { wide } from "../app/wide.ts";
import { can } from "../model/capabilities.ts";
import type { Conversation } from "../model/conversation.ts";
import { fileOf } from "../model/groups.ts";
import { nameOf } from "../model/name.ts";
import { send } from "../net/api.ts";
import { baseName } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { AfterLimitItem, mayContinueAfterLimit } from "./after-limit.tsx";
import { Icon } from "./icons.tsx";
import { MuteItem } from "./mute.tsx";
import { BackendMark, OriginMark } from "./origin.tsx";
import { InOrder } from "./revealed.tsx";
import { ForkMark } from "./session-card.tsx";
import { Meters, ModeChoice, ModelChoice, OptionChoices, SettingsSheet } from "./session-settings.tsx";
import { Stalled, StateChip } from "./state.tsx";
import { WorktreeMark } from "./worktree.tsx";

export type Panel = "none" | "overview" | "diff" | "files" | "rewind";

export function Header({ session, all, panel, setPanel, find }: { session: SessionView; all: Conversation; drawn: number; panel: Panel; setPanel: (panel: Panel) => void; find: () => void }): VNode {
  // The agent reports its models when it starts; a known model, or the right to set one, means that it was started.
  useEffect(() => learnOfferIn(session), [session.key, all.model, all.options, can(session, "set_model"), can(session, "set_option")]);
  const title = nameOf(session);
  return (
    <header class="session-head">
      <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
        <Icon name="back" />
      </a>
      <div class="session-name">
        <h2>
          {session.demo && <span class="demo-mark">DEMO</span>}
          <Title session={session} title={title} />
        </h2>
        <p class="session-facts">
          <StateChip session={session} />
          <BackendMark session={session} />
          <OriginMark session={session} />
          <ForkMark session={session} />
          <WorktreeMark session={session} />
          {session.stalled !== undefined && <Stalled why={session.stalled} />}
          {session.untrusted && (
            <button type="button" class="untrusted" title="This folder configures commands that are not trusted. Press to review them." onClick={() => setPanel("overview")}>
              Without the folder’s settings
            </button>
          )}
          <span class="mono cut" title={session.cwd}>{baseName(session.cwd)}</span>
        </p>
      </div>
      {wide.value && <Meters session={session} all={all} />}
      <div class="session-tools">
        {wide.value ? (
          <>
            <ModelChoice session={session} all={all} />
            <ModeChoice session={session} all={all} />
            <OptionChoices session={session} class="option-setting" />
          </>
        ) : (
          <SettingsSheet session={session} all={all} />
        )}
        <button type="button" class={panel === "diff" ? "ghost on only-wide" : "ghost only-wide"} aria-pressed={panel === "diff"} title="Changes in the working tree" aria-label="Changes in the working tree" onClick={() => setPanel(panel === "diff" ? "none" : "diff")}>
          <Icon name="diff" />
        </button>
        <button type="button" class={panel === "files" ? "ghost on only-wide" : "ghost only-wide"} aria-pressed={panel === "files"} title="Files" aria-label="Files" onClick={() => setPanel(panel === "files" ? "none" : "files")}>
          <Icon name="folder" />
        </button>
        <button type="button" class={panel === "overview" ? "ghost on only-wide" : "ghost only-wide"} aria-pressed={panel === "overview"} title="Overview" aria-label="Overview" onClick={() => setPanel(panel === "overview" ? "none" : "overview")}>
          <Icon name="list" />
        </button>
        <Menu session={session} setPanel={setPanel} find={find} />
      </div>
    </header>
  );
}

function Title({ session, title }: { session: SessionView; title: string }): VNode {
  const [editing, setEditing] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEscape(field, editing, () => {
    // It loses the focus when it is removed, and its value would be saved then.
    if (field.current !== null) field.current.value = title;
    setEditing(false);
  });
  useEffect(() => {
    if (editing) field.current?.focus();
  }, [editing]);
  const save = (text: string) => {
    setEditing(false);
    if (text === title) return;
    send("PATCH", `sessions/${encodeURIComponent(session.key)}`, { title: text }).catch((error: unknown) => showToast("error", errorText(error)));
  };
  if (!editing) {
    return (
      <button type="button" class="title-button" data-opens="title" title="Rename" onClick={() => hasScope("prompt") && setEditing(true)}>
        <bdi><InOrder text={title} /></bdi>
      </button>
    );
  }
  return (
    <input
      type="text"
      class="title-field"
      aria-label="Title of the session"
      defaultValue={title}
      ref={field}
      onBlur={(event) => save(event.currentTarget.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}

function Menu({ session, setPanel, find }: { session: SessionView; setPanel: (panel: Panel) => void; find: () => void }): VNode {
  const box = useRef<HTMLDetailsElement>(null);
  const may = hasScope("prompt");
  const [isOpen, setOpen] = useState(false);
  useDismiss(box, isOpen, () => setOpen(false));
  const close = (run: () => void) => () => {
    setOpen(false);
    box.current?.querySelector("summary")?.focus();
    run();
  };
  const entry = { kind: "live" as const, key: session.key, session };
  const archived = hasMark(entry, "archived");
  const cli = fileOf(session);
  return (
    <details class="menu" ref={box} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="ghost" aria-label="More" title="More">
        <Icon name="more" />
      </summary>
      <div class="menu-items">
        <button type="button" onClick={close(find)}>
          <Icon name="search" /> Find in this session…
        </button>
        {!wide.value && (
          <>
            <button type="button" onClick={close(() => setPanel("diff"))}>
              <Icon name="diff" /> Changed files
            </button>
            <button type="button" onClick={close(() => setPanel("files"))}>
              <Icon name="folder" /> Files
            </button>
            <button type="button" onClick={close(() => setPanel("overview"))}>
              <Icon name="list" /> Overview
            </button>
          </>
        )}
        {can(session, "compact") && (
          <button type="button" disabled={!may} onClick={close(() => command(session.key, "compact"))}>
            <Icon name="compress" /> Compact
          </button>
        )}
        {can(session, "rewind") && (
          <button type="button" disabled={!may} onClick={close(() => setPanel("rewind"))}>
            <Icon name="undo" /> Rewind…
          </button>
        )}
        {can(session, "stop") && (
          <button type="button" disabled={!may} onClick={close(() => command(session.key, "stop"))}>
            <Icon name="stop" /> Stop the agent
          </button>
        )}
        {cli !== undefined && (
          <a href={href({ view: "history", id: cli })} onClick={close(() => undefined)}>
            <Icon name="clock" /> Transcript
          </a>
        )}
        {cli !== undefined && may && (
          <a href={href({ view: "new", resume: cli, cwd: session.cwd, fork: true })} onClick={close(() => undefined)}>
            <Icon name="branch" /> Fork…
          </a>
        )}
        {may && (
          <button type="button" onClick={close(() => void setMark(entry, "archived", !archived))}>
            <Icon name="archive" /> {archived ? "Unarchive" : "Archive"}
          </button>
        )}
        {mayContinueAfterLimit(session) && <AfterLimitItem session={session} close={close(() => undefined)} />}
        {hasScope("admin") && <MuteItem session={session.key} close={close(() => undefined)} />}
        {hasScope("admin") && (
          <button type="button" class="no" onClick={close(() => (deleting.value = [session.key]))}>
            <Icon name="trash" /> Delete…
          </button>
        )}
      </div>
    </details>
  );
}
