// Changes in the working tree: against the last commit or since the session began, and commits.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { errorText, hasScope } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { getJson, postJson } from "../net/api.ts";
import { parseUnified } from "../text/diff.ts";
import { count } from "../text/format.ts";
import type { CommitMade, SessionView, WorkingTree } from "../wire.ts";
import { commentsHere } from "./comments.tsx";
import { Diff, DiffCount, DiffSwitch } from "./diff.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { ServerText } from "./server-text.tsx";

type Since = "head" | "start";

const BASES: readonly { value: Since; label: string }[] = [
  { value: "head", label: "Since the last commit" },
  { value: "start", label: "Since the session began" },
];

export function Changes({ session, revision, openFile }: { session: SessionView; revision: number; openFile: (path: string) => void }): VNode {
  const [since, setSince] = useState<Since>("head");
  return (
    <>
      <div class="segments" role="group" aria-label="Compare with">
        {BASES.map(({ value, label }) => (
          <button type="button" aria-pressed={since === value} onClick={() => setSince(value)}>{label}</button>
        ))}
      </div>
      <Tree key={`${session.key} ${since}`} session={session} since={since} revision={revision} openFile={openFile} />
    </>
  );
}

function Tree({ session, since, revision, openFile }: { session: SessionView; since: Since; revision: number; openFile: (path: string) => void }): VNode {
  const [tree, setTree] = useState<WorkingTree | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [asking, setAsking] = useState(false);
  const [again, setAgain] = useState(0);
  const requests = useRef<Promise<unknown>>(Promise.resolve());
  const asked = useRef(0);
  const path = `sessions/${encodeURIComponent(session.key)}`;
  useEffect(() => {
    const abort = new AbortController();
    getJson<WorkingTree>(`${path}/diff`, { since }, abort.signal).then(
      (found) => {
        setTree(found);
        setProblem("");
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(errorText(error));
      },
    );
    return () => abort.abort();
  }, [session.key, since, revision, again]);
  if (problem !== "") return <p class="warn-line"><ServerText text={problem} /></p>;
  if (tree === undefined) return <p class="muted"><Spinner /> Loading changes</p>;
  if (!tree.repository) return <p class="muted">This folder is not under version control.</p>;
  const files = parseUnified(tree.diff);
  const hidden = tree.hidden ?? [];
  const staged = new Set(tree.staged ?? []);
  // With the session's start as the base, the diff has untracked files too.
  const shown = new Set(files.map((file) => file.path));
  const untracked = tree.untracked.filter((name) => !shown.has(name));
  const mayCommit = since === "head" && hasScope("always");
  const stage = (paths: string[], on: boolean) => {
    // The box changes at once. Requests run one after the other, and the last response counts.
    setTree({ ...tree, staged: on ? [...staged, ...paths] : [...staged].filter((name) => !paths.includes(name)) });
    const mine = (asked.current += 1);
    const done = () => mine === asked.current && setAsking(false);
    setAsking(true);
    requests.current = requests.current
      .then(() => postJson<WorkingTree>(`${path}/stage`, { paths, staged: on }))
      .then(
        (now) => mine === asked.current && setTree(now),
        (error: unknown) => {
          setAgain((before) => before + 1);
          showToast("error", errorText(error));
        },
      )
      .then(done);
  };
  const box = (name: string) =>
    mayCommit && <input type="checkbox" aria-label={`Stage ${name}`} title="Stage for the next commit" checked={staged.has(name)} onChange={(event) => stage([name], event.currentTarget.checked)} />;
  if (files.length === 0 && untracked.length === 0 && hidden.length === 0) {
    return <p class="muted">{since === "head" ? "No changes since the last commit." : "No changes since the session began."}</p>;
  }
  return (
    <>
      <div class="changes-tools">
        {tree.branch !== undefined && <span class="mono cut" title="Branch"><Icon name="branch" /> {tree.branch}</span>}
        {files.length > 0 && <DiffSwitch />}
      </div>
      {files.map((file) => (
        <div class="changed-row">
          {box(file.path)}
          <details class="changed-file" open={files.length <= 6}>
            <summary>
              <span class="mono">{file.path}</span> <DiffCount hunks={file.hunks} />
            </summary>
            {file.note !== undefined && <p class="muted">{file.note}</p>}
            <Diff hunks={file.hunks} path={file.path} name={`tree-${since}-${file.path}`} comments={commentsHere()} />
          </details>
        </div>
      ))}
      {tree.diff_cut && <p class="muted">The diff is truncated.</p>}
      {hidden.length > 0 && (
        <section>
          <h4>Not shown</h4>
          <p class="muted">These files have the names of credentials, and this device does not have the scope “admin”.</p>
          <ul class="plain-list mono">{hidden.map((name) => <li>{name}</li>)}</ul>
        </section>
      )}
      {untracked.length > 0 && (
        <section>
          <h4>Untracked files</h4>
          <ul class="plain-list untracked">
            {untracked.map((name) => (
              <li>
                {box(name)}
                <button type="button" class="link mono" onClick={() => openFile(name)}>{name}</button>
              </li>
            ))}
          </ul>
          {tree.untracked_cut && <p class="muted">There are more.</p>}
        </section>
      )}
      {mayCommit && <CommitForm path={path} staged={staged.size} stageAll={() => stage(["."], true)} busy={asking} done={() => setAgain((before) => before + 1)} />}
    </>
  );
}

function CommitForm({ path, staged, stageAll, busy, done }: { path: string; staged: number; stageAll: () => void; busy: boolean; done: () => void }): VNode {
  const [message, setMessage] = useState("");
  const [sending, setSending] = useState(false);
  const commit = async () => {
    setSending(true);
    try {
      const made = await postJson<CommitMade>(`${path}/commit`, { message });
      setMessage("");
      showToast("plain", `Committed ${count(made.files, "file")} as ${made.commit.slice(0, 8)}.`);
      done();
    } catch (error) {
      showToast("error", errorText(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      class="commit-form"
      onSubmit={(event) => {
        event.preventDefault();
        void commit();
      }}
    >
      <label>
        <span>Commit message</span>
        <textarea rows={3} dir="auto" value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
      </label>
      <div class="commit-actions">
        <button type="button" disabled={busy} onClick={stageAll}>Stage all</button>
        <button type="submit" class="main" disabled={sending || busy || staged === 0 || message.trim() === ""}>
          {sending && <Spinner />} Commit {count(staged, "file")}
        </button>
      </div>
      <p class="muted">Hooks and filters of the repository do not run.</p>
    </form>
  );
}
