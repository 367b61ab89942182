// Cards of the list: a session of the server, and one that is only on disk.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../app/clock.ts";
import { useDismiss, useEscape } from "../app/dismiss.ts";
import { waiting } from "../app/list.ts";
import { hasMark, isUnread, setMark, setUnread } from "../app/marks.ts";
import { href } from "../app/route.ts";
import { deleting, rename, renaming, resumeFile, selected, toggleSelected } from "../app/sessions.ts";
import { hasScope, open } from "../app/store.ts";
import { placeOf } from "../model/capabilities.ts";
import type { Entry } from "../model/groups.ts";
import { FORK_LABEL, entryName, fileOf, isCopy } from "../model/groups.ts";
import { nameOf } from "../model/name.ts";
import { summary } from "../model/tools.ts";
import { age, baseName, count, dollars, plainLine } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { NodeMark } from "./node.tsx";
import { BackendMark, OriginMark } from "./origin.tsx";
import { InOrder } from "./revealed.tsx";
import { Stalled, StateChip } from "./state.tsx";
import { WorktreeMark } from "./worktree.tsx";

/** Height of the menu, for the choice of its direction. */
const MENU_PX = 330;

type Live = Extract<Entry, { kind: "live" }>;
type OnDisk = Extract<Entry, { kind: "disk" }>;

export function SessionCard({ entry, mixed }: { entry: Live; mixed: boolean }): VNode {
  const { session } = entry;
  const waits = session.pending_permissions + session.pending_questions;
  const current = open.value?.name === session.key || open.value?.name === String(session.handle);
  const unread = !current && isUnread(entry);
  if (renaming.value === session.key) return <li><RenameField entry={entry} /></li>;
  return (
    <li class={unread ? "card unread" : "card"}>
      <Selector entry={entry} />
      <a class={`session-card ${session.state}`} href={href({ view: "session", id: session.key })} aria-current={current ? "page" : undefined}>
        <span class="card-top">
          {unread && <span class="unread-dot" role="img" aria-label="Unread" />}
          {hasMark(entry, "pinned") && <Icon name="pin" />}
          <span class="card-title" id={`card-${entry.key}`}><bdi><InOrder text={nameOf(session)} /></bdi></span>
          <span class="card-age">{age(session.active, now.value)}</span>
        </span>
        <span class="card-line">{session.stalled === undefined ? <bdi><InOrder text={line(session)} /></bdi> : <Stalled why={session.stalled} />}</span>
        <span class="card-facts">
          <StateChip session={session} />
          <BackendMark session={session} />
          <OriginMark session={session} />
          <NodeMark session={session} />
          <ForkMark session={session} />
          <WorktreeMark session={session} />
          {session.demo && <span class="demo-mark">DEMO</span>}
          {waits > 1 && <span class="badge" aria-label={`${waits} requests`}>{waits}</span>}
          {(mixed || session.origin !== "server") && <span class="cut">{baseName(session.cwd)}</span>}
          {session.totals.cost_usd > 0 && <span class="push">{dollars(session.totals.cost_usd)}</span>}
        </span>
      </a>
      <CardMenu entry={entry} />
    </li>
  );
}

export function DiskCard({ entry, mixed }: { entry: OnDisk; mixed: boolean }): VNode {
  const { file } = entry;
  if (renaming.value === entry.key) return <li><RenameField entry={entry} /></li>;
  return (
    <li class={isUnread(entry) ? "card unread" : "card"}>
      <Selector entry={entry} />
      <a class="disk-card" href={href({ view: "history", id: file.id })}>
        <span class="card-top">
          {isUnread(entry) && <span class="unread-dot" role="img" aria-label="Unread" />}
          {hasMark(entry, "pinned") && <Icon name="pin" />}
          <span class="card-title" id={`card-${entry.key}`}><bdi><InOrder text={entryName(entry)} /></bdi></span>
          {file.modified != null && <time class="card-age" dateTime={file.modified} title={new Date(file.modified).toLocaleString()}>{age(file.modified, now.value)}</time>}
        </span>
        <span class="card-facts">
          {isCopy(entry) ? (
            <span class="origin" title="Claude Code has deleted this session; the server has a copy, and Resume restores it"><Icon name="archive" />Archived copy</span>
          ) : (
            <span class="origin" title="On disk, not open on this server"><Icon name="disk" />On disk</span>
          )}
          {file.turns != null && <span>{count(file.turns, "turn")}</span>}
          {mixed && <span class="cut">{baseName(file.cwd ?? file.project)}</span>}
          {file.cost_usd != null && file.cost_usd > 0 && <span class="push">{dollars(file.cost_usd)}</span>}
        </span>
      </a>
      <CardMenu entry={entry} />
    </li>
  );
}

/** Mark of a session that was forked from another. */
export function ForkMark({ session }: { session: SessionView }): VNode | null {
  const from = session.labels[FORK_LABEL];
  if (from === undefined) return null;
  return (
    <span class="origin" title={`Forked from ${from}`}>
      <Icon name="branch" />
      Fork
    </span>
  );
}

function Selector({ entry }: { entry: Entry }): VNode | null {
  const keys = selected.value;
  if (keys === undefined) return null;
  return <input type="checkbox" class="card-check" aria-label={`Select ${entryName(entry)}`} checked={keys.has(entry.key)} onChange={() => toggleSelected(entry.key)} />;
}

/** The menu of a card. Its buttons exist only while it is open, since a list may have hundreds of cards. */
function CardMenu({ entry }: { entry: Entry }): VNode | null {
  const [shown, setShown] = useState<"up" | "down" | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const close = () => setShown(undefined);
  const toggle = () => {
    if (shown !== undefined) {
      close();
      return;
    }
    // Upwards if there is no room below.
    const [list, button] = [box.current?.closest(".sidebar-body")?.getBoundingClientRect(), box.current?.getBoundingClientRect()];
    setShown(list !== undefined && button !== undefined && button.bottom + MENU_PX > list.bottom && button.top - MENU_PX > list.top ? "up" : "down");
  };
  useDismiss(box, shown !== undefined, close);
  const run = (action: () => void) => () => {
    box.current?.querySelector<HTMLElement>("[aria-expanded]")?.focus();
    close();
    action();
  };
  const may = hasScope("prompt");
  if (entry.kind === "live" && !may) return null;
  const pinned = hasMark(entry, "pinned");
  const archived = hasMark(entry, "archived");
  const copy = isCopy(entry);
  const file = entry.kind === "live" ? fileOf(entry.session) : entry.key;
  return (
    <div class="card-menu" ref={box}>
      <button type="button" class="ghost small" aria-expanded={shown !== undefined} aria-label="Actions" aria-describedby={`card-${entry.key}`} title="Actions" onClick={toggle}>
        <Icon name="more" />
      </button>
      {shown !== undefined && (
        <div class={`pop ${shown}`} role="group" aria-label="Actions">
          {entry.kind === "disk" && may && (
            <button type="button" onClick={run(() => void resumeFile(entry.key, entry.file.cwd))}><Icon name="play" /> Resume</button>
          )}
          {may && !copy && <button type="button" onClick={run(() => void setMark(entry, "pinned", !pinned))}><Icon name="pin" /> {pinned ? "Unpin" : "Pin"}</button>}
          {may && !copy && <button type="button" onClick={run(() => (renaming.value = entry.key))}><Icon name="pencil" /> Rename</button>}
          {may && !copy && (entry.kind === "disk" || entry.session.totals.turns > 0) && (
            <button type="button" onClick={run(() => setUnread(entry, !isUnread(entry)))}><Icon name="bell" /> {isUnread(entry) ? "Mark as read" : "Mark as unread"}</button>
          )}
          {file !== undefined && entry.kind === "live" && <a href={href({ view: "history", id: file })} onClick={close}><Icon name="clock" /> Transcript</a>}
          {file !== undefined && may && <a href={href({ view: "new", resume: file, cwd: entry.kind === "live" ? entry.session.cwd : (entry.file.cwd ?? undefined), fork: true })} onClick={close}><Icon name="branch" /> Fork…</a>}
          {may && !copy && <button type="button" onClick={run(() => void setMark(entry, "archived", !archived))}><Icon name="archive" /> {archived ? "Unarchive" : "Archive"}</button>}
          <button type="button" onClick={run(() => (selected.value = new Set([entry.key])))}><Icon name="check" /> Select</button>
          {hasScope("admin") && (
            <button type="button" class="no" onClick={run(() => (deleting.value = [entry.key]))}><Icon name="trash" /> Delete…</button>
          )}
        </div>
      )}
    </div>
  );
}

function RenameField({ entry }: { entry: Entry }): VNode {
  const name = entryName(entry);
  const field = useRef<HTMLInputElement>(null);
  useEscape(field, true, () => (renaming.value = undefined));
  useEffect(() => field.current?.select(), []);
  const save = (text: string) => {
    renaming.value = undefined;
    // A session on disk cannot be without a title.
    if (text !== name && (text !== "" || entry.kind === "live")) void rename(entry, text);
  };
  return (
    <input
      type="text"
      class="card-rename"
      aria-label="New title"
      defaultValue={name}
      ref={field}
      onBlur={(event) => renaming.value === entry.key && save(event.currentTarget.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && save(event.currentTarget.value.trim())}
    />
  );
}

function line(session: SessionView): string {
  return session.error ?? wants(session) ?? lastWords(session) ?? (session.state === "running" ? "Working" : session.cwd);
}

/** The last line of the answer; one without words, such as the end of a formula, tells nothing. */
function lastWords({ last_line: text, first_prompt: prompt }: SessionView): string | undefined {
  return text === undefined || /[\p{L}\p{N}]/u.test(text) ? text && plainLine(text) : prompt;
}

/** The session's pending request in one line. */
function wants(session: SessionView): string | undefined {
  if (session.state !== "needs_you") return undefined;
  if (session.waits_for !== undefined) return `Waits ${placeOf(session.origin)}: ${session.waits_for}`;
  const ask = [...waiting.value.values()].find((one) => one.session === session.key);
  if (ask === undefined) return undefined;
  if ("tool_name" in ask.details) {
    const { title, target } = summary(ask.details.tool_name, ask.details.input, session.cwd);
    return `${title}? ${target.split("\n")[0] ?? ""}`;
  }
  if (ask.details.kind === "Plan") return "Has a plan for you to approve";
  return "request" in ask && ask.request !== undefined && "questions" in ask.request ? ask.request.questions[0]?.text : undefined;
}
