// The question before sessions are deleted.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { hasCopy, refreshArchive } from "../app/archive.ts";
import { deleteEntries, deleting, entries, hasWorktree, isLive, selected } from "../app/sessions.ts";
import { entryName, isCopy } from "../model/groups.ts";
import { count } from "../text/format.ts";
import { Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

const NAMED_MAX = 5;

export function DeleteDialog(): VNode | null {
  const keys = deleting.value;
  const box = useRef<HTMLDialogElement>(null);
  const [transcripts, setTranscripts] = useState(false);
  const [worktrees, setWorktrees] = useState(false);
  const [busy, setBusy] = useState(false);
  const shown = keys.length > 0;
  useLayoutEffect(() => {
    if (shown) {
      box.current?.showModal();
      // A copy in the archive is deleted together with its session.
      void refreshArchive();
    }
    setTranscripts(false);
    setWorktrees(false);
  }, [shown]);
  if (!shown) return null;
  const close = () => {
    deleting.value = [];
  };
  const chosen = entries.value.filter((entry) => keys.includes(entry.key));
  const names = chosen.map(entryName);
  const live = chosen.filter(isLive);
  const onDisk = chosen.filter((entry) => entry.kind === "disk");
  const copies = onDisk.filter((entry) => isCopy(entry) || hasCopy(entry.key)).length;
  const trees = live.filter(({ session }) => hasWorktree(session)).length;
  const run = () => {
    setBusy(true);
    void deleteEntries(chosen, { transcripts, worktrees }).finally(() => {
      setBusy(false);
      selected.value = undefined;
      close();
    });
  };
  return (
    <dialog class="dialog from-below" ref={box} aria-labelledby="delete-title" onClose={close} onKeyDown={(event) => event.stopPropagation()}>
      <header>
        <h3 id="delete-title">Delete {count(keys.length, "session")}?</h3>
      </header>
      <div class="dialog-body">
        <ul class="plain-list delete-names">
          {names.slice(0, NAMED_MAX).map((name) => <li class="cut"><InOrder text={name} /></li>)}
          {names.length > NAMED_MAX && <li class="muted">and {names.length - NAMED_MAX} more</li>}
        </ul>
        {live.length > 0 && <p class="muted">Running agents are stopped, and the events that this server has stored are removed.</p>}
        {onDisk.length > 0 && (
          <p class="muted">
            {live.length > 0 ? `${count(onDisk.length, "session")} only on disk: ` : ""}{onDisk.length === 1 ? "its transcript is" : "their transcripts are"} deleted{copies > 0 ? ", the archived copies too" : ""}; this cannot be undone.
          </p>
        )}
        {trees > 0 && (
          <label class="check">
            <input type="checkbox" checked={worktrees} onChange={(event) => setWorktrees(event.currentTarget.checked)} />
            Remove {trees === 1 ? "its git worktree" : "their git worktrees"} too; the {trees === 1 ? "branch stays" : "branches stay"}, and uncommitted changes keep the session from being deleted
          </label>
        )}
        {live.length > 0 && (
          <label class="check">
            <input type="checkbox" checked={transcripts} onChange={(event) => setTranscripts(event.currentTarget.checked)} />
            Delete {live.length === 1 ? "its transcript" : "their transcripts"} from disk too; this cannot be undone
          </label>
        )}
        <div class="dialog-actions">
          <button type="button" onClick={close} disabled={busy}>Cancel</button>
          <button type="button" class="no main" disabled={busy} onClick={run}>
            {busy && <Spinner />} Delete
          </button>
        </div>
      </div>
    </dialog>
  );
}
