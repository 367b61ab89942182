// The list of all sessions: tabs, groups by project, and actions on selected sessions.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { archive, archiveProblem, hasArchive, refreshArchive } from "../app/archive.ts";
import { diskLoaded, moreOnDisk, showMoreOnDisk } from "../app/disk.ts";
import { olderSessions, sessionsLoaded, showOlderSessions } from "../app/list.ts";
import { setMark } from "../app/marks.ts";
import { href } from "../app/route.ts";
import { deleting, entries, groups, isLive, listFilter, listScope, selected } from "../app/sessions.ts";
import { errorText, hasScope } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Group, ListScope } from "../model/groups.ts";
import { isCopy, needsUser } from "../model/groups.ts";
import { baseName, bytes, count } from "../text/format.ts";
import { Bones } from "./blank.tsx";
import { Icon } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { DiskCard, SessionCard } from "./session-card.tsx";

const SCOPES: [ListScope, string][] = [
  ["all", "All"],
  ["live", "Live"],
  ["disk", "On disk"],
  ["archived", "Archived"],
];
/** Number of sessions on disk that a project shows before the user asks for more. */
const DISK_SHOWN = 3;

export function SessionList(): VNode {
  const shown = groups.value;
  const filter = listFilter.value;
  const total = entries.value.length;
  const isArchive = listScope.value === "archived";
  useEffect(() => {
    if (isArchive) void refreshArchive();
  }, [isArchive]);
  if (!sessionsLoaded.value || !diskLoaded.value) return <Bones count={4} label="Loading sessions" />;
  return (
    <>
      {shown.map((group) => (
        <GroupView key={group.key} group={group} whole={filter !== "" || isArchive || listScope.value === "disk"} />
      ))}
      {total === 0 && (
        <div class="list-blank">
          <p><strong>No sessions yet</strong></p>
          <p>Start one here. Sessions that you start in terminals appear too, and <code>tidings hook install</code> makes their requests answerable here.</p>
        </div>
      )}
      {total > 0 && shown.length === 0 && (
        <div class="list-blank">
          <p>{filter === "" ? empty(listScope.value) : `None of ${count(total, "session")} fits “${filter}”.`}</p>
          {filter !== "" && <p><a href={href({ view: "history", id: undefined, wanted: { words: filter } })}>Search the text of all transcripts</a></p>}
        </div>
      )}
      {isArchive && <ArchiveNote />}
      {olderSessions.value !== undefined && listScope.value !== "disk" && <More label="Show older sessions" load={showOlderSessions} />}
      {moreOnDisk.value !== undefined && listScope.value === "disk" && <More label="Show more on disk" load={showMoreOnDisk} />}
    </>
  );
}

/** The server's archive in two sentences, below the archived sessions. */
function ArchiveNote(): VNode | null {
  if (!hasArchive.value) return null;
  const known = archive.value;
  if (archiveProblem.value !== "") return <p class="list-note" role="alert">The archive cannot be read. {archiveProblem.value}</p>;
  if (known === undefined) return null;
  return (
    <p class="list-note">
      The server copies sessions before Claude Code deletes them{known.cleanup_days > 0 && ` after ${count(known.cleanup_days, "day")} without a change`}: {count(known.items.length, "copy", "copies")}, {bytes(known.stored_bytes)} of {bytes(known.bytes_max)}.{" "}
      <a href={href({ view: "settings", section: "archive" })}>Archive settings</a>
    </p>
  );
}

/** Tabs over the list. They are there from the start, so that the list does not jump. */
export function ScopeTabs(): VNode {
  return (
    <div class="tabs list-tabs" role="group" aria-label="Sessions to list">
      {SCOPES.map(([scope, label]) => (
        <button type="button" aria-pressed={listScope.value === scope} onClick={() => (listScope.value = scope)}>
          {label}
        </button>
      ))}
    </div>
  );
}

function empty(scope: ListScope): string {
  switch (scope) {
    case "archived":
      return "No session is archived. Archive one with the menu of its card; those that Claude Code deletes appear here by themselves.";
    case "disk":
      return "Every session on disk is open on this server.";
    default:
      return "No session runs on this server. Those on disk are under “On disk”.";
  }
}

function GroupView({ group, whole }: { group: Group; whole: boolean }): VNode {
  const [open, setOpen] = useState(true);
  const [all, setAll] = useState(false);
  const live = group.entries.filter(isLive);
  const onDisk = group.entries.filter((entry) => entry.kind === "disk");
  const limit = whole || all ? onDisk.length : DISK_SHOWN;
  const hidden = onDisk.length - Math.min(limit, onDisk.length);
  const mixed = group.folder === undefined;
  return (
    <div class="group">
      <div class={needsUser(group) ? "group-head needs" : "group-head"}>
        <h2>
          <button type="button" class="group-name" aria-expanded={open} title={group.about} onClick={() => setOpen(!open)}>
            <Icon name="chevron" />
            <bdi><InOrder text={baseName(group.title)} /></bdi>
            {group.title !== baseName(group.title) && <span class="group-parent"><InOrder text={group.title.slice(0, -baseName(group.title).length - 1)} /></span>}
            <span class="group-count">{group.entries.length}</span>
          </button>
        </h2>
        {group.folder !== undefined && group.folder.startsWith("/") && hasScope("prompt") && (
          <a class="ghost small group-new" href={href({ view: "new", resume: undefined, cwd: group.folder })} aria-label={`New session in ${group.title}`} title="New session in this project">
            <Icon name="plus" />
          </a>
        )}
      </div>
      {open && (
        <ul class="session-list">
          {live.map((entry) => (
            <SessionCard key={entry.key} entry={entry} mixed={mixed} />
          ))}
          {onDisk.slice(0, limit).map((entry) => entry.kind === "disk" && <DiskCard key={entry.key} entry={entry} mixed={mixed} />)}
          {hidden > 0 && (
            <li>
              <button type="button" class="link more-disk" onClick={() => setAll(true)}>
                {count(hidden, "more on disk", "more on disk")}
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

function More({ label, load }: { label: string; load: () => Promise<void> }): VNode {
  const [busy, setBusy] = useState(false);
  const show = () => {
    setBusy(true);
    load()
      .catch((error: unknown) => showToast("error", errorText(error)))
      .finally(() => setBusy(false));
  };
  return (
    <p class="older">
      <button type="button" disabled={busy} onClick={show}>
        {busy ? "Loading…" : label}
      </button>
    </p>
  );
}

/** Actions on the selected sessions, below the list. */
export function SelectionBar(): VNode | null {
  const keys = selected.value;
  if (keys === undefined) return null;
  const chosen = entries.value.filter((entry) => keys.has(entry.key));
  const onDisk = chosen.filter((entry) => entry.kind === "disk").length;
  const done = () => (selected.value = undefined);
  const mark = async () => {
    const on = listScope.value !== "archived";
    for (const entry of chosen) if (!isCopy(entry)) await setMark(entry, "archived", on);
    done();
  };
  const all = () => {
    selected.value = new Set(groups.value.flatMap((group) => group.entries).map((entry) => entry.key));
  };
  return (
    <div class="selection" role="group" aria-label="Selected sessions">
      <p role="status">
        {count(chosen.length, "session")} selected{onDisk > 0 && `, ${onDisk} only on disk`}
      </p>
      <div class="selection-actions">
        <button type="button" class="small" onClick={all}>All</button>
        <button type="button" class="small" disabled={chosen.every(isCopy)} onClick={() => void mark()}>
          {listScope.value === "archived" ? "Unarchive" : "Archive"}
        </button>
        {hasScope("admin") && (
          <button type="button" class="small no" disabled={chosen.length === 0} onClick={() => (deleting.value = chosen.map(({ key }) => key))}>
            Delete…
          </button>
        )}
        <button type="button" class="small" onClick={done}>Done</button>
      </div>
    </div>
  );
}
