// The git worktree of a session: its branch, and the question before it is removed.

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { remember } from "../app/list.ts";
import { errorText, hasScope } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { getJson, postJson } from "../net/api.ts";
import { count } from "../text/format.ts";
import type { SessionView, SessionWorktreeState } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { ServerText } from "./server-text.tsx";

export function WorktreeMark({ session }: { session: SessionView }): VNode | null {
  const { worktree } = session;
  if (worktree === undefined) return null;
  return (
    <span class="origin" title={worktree.removed ? "Its git worktree was removed; the branch still exists" : `Git worktree in ${worktree.folder}`}>
      <Icon name="branch" />
      <span class="cut">{worktree.branch}</span>
    </span>
  );
}

/** The part of the overview about the worktree. */
export function WorktreeSection({ session }: { session: SessionView }): VNode | null {
  const { worktree } = session;
  const [asking, setAsking] = useState(false);
  if (worktree === undefined) return null;
  return (
    <section>
      <h4>Git worktree</h4>
      <dl class="facts">
        <dt>Branch</dt>
        <dd class="mono">{worktree.branch}</dd>
        <dt>Folder</dt>
        <dd class="mono">{worktree.folder}</dd>
        <dt>Project</dt>
        <dd class="mono">{worktree.project}</dd>
      </dl>
      {worktree.removed ? (
        <p class="muted">The worktree was removed. Its branch still exists.</p>
      ) : (
        hasScope("always") && <button type="button" onClick={() => setAsking(true)}><Icon name="trash" /> Remove the worktree…</button>
      )}
      {asking && <RemoveDialog session={session} close={() => setAsking(false)} />}
    </section>
  );
}

function RemoveDialog({ session, close }: { session: SessionView; close: () => void }): VNode {
  const box = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<SessionWorktreeState | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [discard, setDiscard] = useState(false);
  const [busy, setBusy] = useState(false);
  const path = `sessions/${encodeURIComponent(session.key)}/worktree`;
  useLayoutEffect(() => box.current?.showModal(), []);
  useEffect(() => {
    getJson<SessionWorktreeState>(path).then(setState, (error: unknown) => setProblem(errorText(error)));
  }, []);
  const remove = () => {
    setBusy(true);
    postJson<SessionView>(`${path}/remove`, { discard })
      .then(
        (now) => {
          remember(now);
          showToast("plain", `The worktree was removed. The branch ${now.worktree?.branch ?? ""} still exists.`);
          close();
        },
        (error: unknown) => setProblem(errorText(error)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <dialog class="dialog from-below" ref={box} aria-labelledby="worktree-title" onClose={close} onKeyDown={(event) => event.stopPropagation()}>
      <header>
        <h3 id="worktree-title">Remove the worktree?</h3>
      </header>
      <div class="dialog-body">
        {state === undefined && problem === "" && <p class="muted"><Spinner /> Looking for changes</p>}
        {state !== undefined && (
          <>
            <p>
              The agent is stopped, and the folder <code>{state.worktree.folder}</code> is deleted. The branch <code>{state.worktree.branch}</code> stays
              {state.commits > 0 && <>, with {count(state.commits, "commit")} that no other branch has</>}.
            </p>
            {state.changes > 0 && (
              <>
                <p class="warn-line">{count(state.changes, "file")} with changes that are not committed would be lost.</p>
                <label class="check">
                  <input type="checkbox" checked={discard} onChange={(event) => setDiscard(event.currentTarget.checked)} />
                  Discard these changes; this cannot be undone
                </label>
              </>
            )}
          </>
        )}
        {problem !== "" && <p class="warn-line" role="alert"><ServerText text={problem} /></p>}
        <div class="dialog-actions">
          <button type="button" onClick={close} disabled={busy}>Keep it</button>
          <button type="button" class="no main" disabled={busy || state === undefined || (state.changes > 0 && !discard)} onClick={remove}>
            {busy && <Spinner />} Remove
          </button>
        </div>
      </div>
    </dialog>
  );
}

/** The choice of a worktree for a new session. */
export function WorktreeField({ value, change }: { value: string | undefined; change: (now: string | undefined) => void }): VNode {
  return (
    <div class="worktree-field">
      <label class="check">
        <input type="checkbox" checked={value !== undefined} onChange={(event) => change(event.currentTarget.checked ? "" : undefined)} />
        Work in a git worktree: a copy of the project with a branch of its own
      </label>
      {value !== undefined && (
        <label class="worktree-branch">
          Branch
          <input type="text" class="mono" value={value} placeholder="chosen by the server" spellcheck={false} autocapitalize="off" onInput={(event) => change(event.currentTarget.value)} />
        </label>
      )}
    </div>
  );
}
