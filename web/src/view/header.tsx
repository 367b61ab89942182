// The header of a session: title, state, settings and menu.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { DEFAULT_MODEL, learnModels, modelLabel, models } from "../app/models.ts";
import { go, href } from "../app/route.ts";
import { command, maySetMode, hasScope, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { can } from "../model/capabilities.ts";
import type { Conversation } from "../model/conversation.ts";
import { nameOf } from "../model/name.ts";
import { send } from "../net/api.ts";
import { baseName, compactTokens, dollars, modelName } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { Choice } from "./choice.tsx";
import { Icon } from "./icons.tsx";
import { MuteItem } from "./mute.tsx";
import { OriginMark } from "./origin.tsx";
import { InOrder } from "./revealed.tsx";
import { Stalled, StateChip } from "./state.tsx";

const MODES: [string, string][] = [
  ["default", "Ask first"],
  ["acceptEdits", "Accept edits"],
  ["plan", "Plan mode"],
  ["dontAsk", "Deny instead of asking"],
  ["bypassPermissions", "Bypass permissions"],
];

export type Panel = "none" | "overview" | "diff" | "rewind";

export function Header({ session, all, panel, setPanel, find }: { session: SessionView; all: Conversation; drawn: number; panel: Panel; setPanel: (panel: Panel) => void; find: () => void }): VNode {
  const model = all.model ?? session.model;
  // The agent reports its models when it starts; a known model means that it was started.
  useEffect(learnModels, [session.key, all.model]);
  const chosen = model === undefined ? undefined : models.value.find((one) => one.value === model || one.model === model)?.value;
  const mode = all.mode ?? session.permission_mode ?? "default";
  const may = hasScope("prompt");
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
          <OriginMark session={session} />
          {session.stalled !== undefined && <Stalled why={session.stalled} />}
          {session.untrusted && (
            <button type="button" class="untrusted" title="This folder configures commands that are not trusted. Press to review them." onClick={() => setPanel("overview")}>
              Without the folder’s settings
            </button>
          )}
          <span class="mono cut" title={session.cwd}>{baseName(session.cwd)}</span>
        </p>
      </div>
      <Meters session={session} all={all} />
      <div class="session-tools">
        {can(session, "set_model") ? (
          <Choice label="Model" disabled={!may} value={chosen ?? model ?? DEFAULT_MODEL} choose={(value) => command(session.key, "model", value === DEFAULT_MODEL ? {} : { model: value })}>
            {model !== undefined && model !== DEFAULT_MODEL && chosen === undefined && <option value={model}>{modelName(model)}</option>}
            <option value={DEFAULT_MODEL}>Default model</option>
            {models.value.map((one) => (
              <option value={one.value} title={one.description}>{modelLabel(one)}</option>
            ))}
          </Choice>
        ) : (
          model !== undefined && <span class="setting" title="Model"><InOrder text={modelName(model)} /></span>
        )}
        {can(session, "set_mode") && (
          <Choice label="Permission mode" disabled={!may} value={mode} choose={(value) => command(session.key, "mode", { mode: value })}>
            {!MODES.some(([name]) => name === mode) && <option value={mode}>{mode}</option>}
            {MODES.filter(([name]) => mode === name || maySetMode(name)).map(([name, label]) => (
              <option value={name}>{label}</option>
            ))}
          </Choice>
        )}
        <button type="button" class={panel === "diff" ? "ghost on" : "ghost"} aria-pressed={panel === "diff"} title="Changes in the working tree" aria-label="Changes in the working tree" onClick={() => setPanel(panel === "diff" ? "none" : "diff")}>
          <Icon name="diff" />
        </button>
        <button type="button" class={panel === "overview" ? "ghost on" : "ghost"} aria-pressed={panel === "overview"} title="Overview" aria-label="Overview" onClick={() => setPanel(panel === "overview" ? "none" : "overview")}>
          <Icon name="list" />
        </button>
        <Menu session={session} setPanel={setPanel} find={find} />
      </div>
    </header>
  );
}

function Title({ session, title }: { session: SessionView; title: string }): VNode {
  const [editing, setEditing] = useState(false);
  const save = (text: string) => {
    setEditing(false);
    if (text === title) return;
    send("PATCH", `sessions/${encodeURIComponent(session.key)}`, { title: text }).catch((error: unknown) => showToast("error", errorText(error)));
  };
  if (!editing) {
    return (
      <button type="button" class="title-button" title="Rename" onClick={() => hasScope("prompt") && setEditing(true)}>
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
      ref={(field: HTMLInputElement | null) => field?.focus()}
      onBlur={(event) => save(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key !== "Escape") return;
        // It loses the focus when it is removed, and its value would be saved then.
        event.currentTarget.value = title;
        setEditing(false);
      }}
    />
  );
}

function Meters({ session, all }: { session: SessionView; all: Conversation }): VNode {
  const tokens = all.inputTokens || session.totals.input_tokens;
  const share = all.contextWindow === undefined ? undefined : Math.min(1, tokens / all.contextWindow);
  return (
    <dl class="meters">
      {share !== undefined && (
        <div>
          <dt>Context</dt>
          <dd>
            <meter min={0} max={1} low={0.6} high={0.85} optimum={0.2} value={share} aria-label={`Context ${Math.round(share * 100)} percent full`} />
            {Math.round(share * 100)}%
          </dd>
        </div>
      )}
      <div>
        <dt>Tokens</dt>
        <dd>{compactTokens(tokens)}</dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>{dollars(session.totals.cost_usd)}</dd>
      </div>
    </dl>
  );
}

function Menu({ session, setPanel, find }: { session: SessionView; setPanel: (panel: Panel) => void; find: () => void }): VNode {
  const box = useRef<HTMLDetailsElement>(null);
  const [sure, setSure] = useState(false);
  const may = hasScope("prompt");
  const close = (run: () => void) => () => {
    if (box.current !== null) box.current.open = false;
    run();
  };
  const remove = () => {
    send("DELETE", `sessions/${encodeURIComponent(session.key)}`).then(
      () => go({ view: "home" }),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  const cli = session.cli_session_ids.at(-1);
  // A `details` element closes only by its own button; users also click beside it, press Escape, or Tab out
  // of it.
  useEffect(() => {
    const leave = (event: Event) => {
      if (box.current !== null && event.target instanceof Node && !box.current.contains(event.target)) box.current.open = false;
    };
    for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, leave);
    return () => {
      for (const kind of ["pointerdown", "focusin"]) removeEventListener(kind, leave);
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || box.current === null || !box.current.open) return;
    event.preventDefault();
    box.current.open = false;
    box.current.querySelector("summary")?.focus();
  };
  return (
    <details class="menu" ref={box} onToggle={() => setSure(false)} onKeyDown={onKeyDown}>
      <summary class="ghost" aria-label="More" title="More">
        <Icon name="more" />
      </summary>
      <div class="menu-items">
        <button type="button" onClick={close(find)}>
          <Icon name="search" /> Find in this session…
        </button>
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
            <Icon name="clock" /> Session file
          </a>
        )}
        {hasScope("admin") && <MuteItem session={session.key} close={close(() => undefined)} />}
        {hasScope("admin") && (
          <button type="button" class="no" onClick={() => (sure ? remove() : setSure(true))}>
            <Icon name="cross" /> {sure ? "Confirm: remove from the list" : "Remove"}
          </button>
        )}
      </div>
    </details>
  );
}
