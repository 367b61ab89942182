// The question before sessions are deleted.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { viewOf } from "../app/list.ts";
import { deleteSessions, deleting, selected } from "../app/sessions.ts";
import { nameOf } from "../model/name.ts";
import { count } from "../text/format.ts";
import { Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

const NAMED_MAX = 5;

export function DeleteDialog(): VNode | null {
  const keys = deleting.value;
  const box = useRef<HTMLDialogElement>(null);
  const [transcripts, setTranscripts] = useState(false);
  const [busy, setBusy] = useState(false);
  const shown = keys.length > 0;
  useLayoutEffect(() => {
    if (shown) box.current?.showModal();
    setTranscripts(false);
  }, [shown]);
  if (!shown) return null;
  const close = () => {
    deleting.value = [];
  };
  const names = keys.map((key) => viewOf(key)).flatMap((session) => (session === undefined ? [] : [nameOf(session)]));
  const worktrees = keys.map((key) => viewOf(key)?.worktree).filter((worktree) => worktree !== undefined && !worktree.removed).length;
  const run = () => {
    setBusy(true);
    void deleteSessions(keys, transcripts).finally(() => {
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
        <p class="muted">Running agents are stopped, and the events that this server has stored are removed.</p>
        {worktrees > 0 && (
          <p class="muted">
            {worktrees === 1 ? "Its git worktree and branch stay" : "Their git worktrees and branches stay"} on disk. To remove a worktree, open the overview of its session first.
          </p>
        )}
        <label class="check">
          <input type="checkbox" checked={transcripts} onChange={(event) => setTranscripts(event.currentTarget.checked)} />
          Delete {keys.length === 1 ? "its transcript" : "their transcripts"} from disk too; this cannot be undone
        </label>
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
