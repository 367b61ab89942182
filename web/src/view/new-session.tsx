// Form for a new session, or for resuming or forking a session on disk.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { claudeName, hasClaude, hasDemo } from "../app/agents.ts";
import { newId } from "../app/browser.ts";
import { useFetched } from "../app/fetched.ts";
import { fileName, hostOf, sorted } from "../app/list.ts";
import { learnModels, modelLabel, models } from "../app/models.ts";
import type { Picked } from "../app/pictures.ts";
import { ACCEPTED, forget, pick } from "../app/pictures.ts";
import { go, href } from "../app/route.ts";
import { maySetMode, hasScope, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { expandHome } from "../model/folders.ts";
import { ApiError, postJson } from "../net/api.ts";
import { shortNames } from "../text/format.ts";
import type { CreateSession, SessionView, TranscriptList } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InstallHint } from "./install.tsx";
import { InOrder } from "./revealed.tsx";
import { ServerText } from "./server-text.tsx";
import { TrustNote } from "./trust.tsx";

const MODES: [string, string, string][] = [
  ["default", "Ask first", "You are asked before files change and commands run."],
  ["acceptEdits", "Accept edits", "Files may change; you are asked before commands run."],
  ["plan", "Plan mode", "Nothing changes until you approve a plan."],
];

/** Number of sessions on disk whose folders are suggested. */
const RECENT = 30;
/** Maximum number of suggested folders. */
const RECENT_SHOWN = 8;

export function NewSession({ resume, cwd }: { resume: string | undefined; cwd: string | undefined }): VNode {
  const [demo, setDemo] = useState(!hasClaude.value);
  const onDisk = useFetched<TranscriptList>("transcripts", { limit: RECENT }).value?.items ?? [];
  const running = sorted.value.filter((session) => session.demo === demo).map((session) => session.cwd);
  const folders = [...new Set([...running, ...(demo ? [] : onDisk.map((past) => past.cwd ?? ""))])].filter((one) => one !== "");
  const [written, setFolder] = useState(cwd);
  // The default is the last used folder.
  const folder = written ?? folders[0] ?? "";
  const [prompt, setPrompt] = useState("");
  const [model, setModel] = useState("");
  const [mode, setMode] = useState("default");
  // Two agents cannot write one session file: a session that runs here can only be forked.
  const host = resume === undefined ? undefined : hostOf(resume);
  const [wantsFork, setFork] = useState(false);
  const fork = wantsFork || host !== undefined;
  const original = resume === undefined ? undefined : fileName(resume, onDisk.find((one) => one.id === resume)?.title ?? resume.slice(0, 8));
  useEffect(learnModels, []);
  const [picked, setPicked] = useState<readonly Picked[]>([]);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  /**
   * The last request without a definite response: repeating it uses the same id, and creates no second
   * session.
   */
  const tried = useRef({ form: "", id: "" });
  const attach = (files: Iterable<File>) => {
    void pick(files, picked).then(({ picked: more, refused }) => {
      setPicked((before) => [...before, ...more]);
      for (const reason of refused) showToast("error", reason);
    });
  };
  const start = async () => {
    setBusy(true);
    setProblem("");
    const attachments = picked.map((one) => one.attachment);
    const request: Partial<CreateSession> = {
      cwd: expandHome(folder.trim(), folders),
      ...(fork && original !== undefined ? { title: `Fork of ${original}` } : {}),
      ...(prompt.trim() === "" ? {} : { prompt }),
      ...(model === "" ? {} : { model }),
      permission_mode: mode,
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(resume === undefined ? {} : { resume, fork }),
      ...(hasDemo.value ? { demo: demo && resume === undefined } : {}),
    };
    const form = JSON.stringify(request);
    if (tried.current.form !== form) tried.current = { form, id: newId() };
    try {
      const session = await postJson<SessionView>("sessions", { ...request, client_id: tried.current.id });
      forget(picked);
      go({ view: "session", id: session.key });
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
      // A rejection is definite. After any other error the session may exist.
      if (error instanceof ApiError && error.status > 0 && error.status < 500) tried.current = { form: "", id: "" };
    }
  };
  if (!hasScope("prompt")) {
    return (
      <div class="empty">
        <h2>This device is read-only</h2>
        <p>Pair it again with the scope “prompt” to start sessions.</p>
        <a class="button" href={href({ view: "home" })}>
          All sessions
        </a>
      </div>
    );
  }
  if (!hasClaude.value && (!hasDemo.value || resume !== undefined)) {
    return (
      <div class="empty">
        <h2>{resume === undefined ? "No session can be started here" : "This session cannot be resumed here"}</h2>
        <InstallHint />
      </div>
    );
  }
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>{resume === undefined ? "New session" : fork ? "Fork a session" : "Resume a session"}</h2>
      </header>
      <form
        class="form"
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        {resume !== undefined && (
          <p class="ask-fact">
            <span class="muted">Session</span> <strong><InOrder text={original ?? ""} /></strong> <code>{resume}</code>
          </p>
        )}
        {host !== undefined && (
          <p class="ask-fact">
            This session is open on this server: <a href={href({ view: "session", id: host.key })}>open it</a>, or fork it here.
          </p>
        )}
        {hasDemo.value && resume === undefined && (
          <fieldset>
            <legend>Agent</legend>
            {hasClaude.value && (
              <label class="option">
                <input type="radio" name="agent" checked={!demo} onChange={() => setDemo(false)} />
                <span>
                  <span class="option-label">{claudeName.value}</span>
                  <span class="option-more">A real agent: it calls a model and works on your files.</span>
                </span>
              </label>
            )}
            <label class="option">
              <input type="radio" name="agent" checked={demo} onChange={() => setDemo(true)} />
              <span>
                <span class="option-label">Demo</span>
                <span class="option-more">A scripted agent: it calls no model and changes no file.</span>
              </span>
            </label>
          </fieldset>
        )}
        <label>
          Folder
          <input type="text" class="mono" required readOnly={resume !== undefined && cwd !== undefined} value={folder} list="folders" spellcheck={false} autocapitalize="off" placeholder="/home/you/project" onInput={(event) => setFolder(event.currentTarget.value)} />
          <datalist id="folders">
            {folders.map((one) => (
              <option value={one} />
            ))}
          </datalist>
        </label>
        {resume === undefined && folders.length > 1 && (
          <div class="recent-folders" role="group" aria-label="Recent folders">
            {[...shortNames(folders.slice(0, RECENT_SHOWN))].map(([path, name]) => (
              <button type="button" class={path === folder ? "small on" : "small"} aria-pressed={path === folder} title={path} onClick={() => setFolder(path)}>
                <bdi><InOrder text={name} /></bdi>
              </button>
            ))}
          </div>
        )}
        {hasScope("admin") && <TrustNote folder={folder.trim()} />}
        <label>
          {resume === undefined ? "First prompt" : "Next prompt"} <span class="muted">(optional)</span>
          <textarea
            rows={5}
            value={prompt}
            onInput={(event) => setPrompt(event.currentTarget.value)}
            onPaste={(event) => {
              const files = event.clipboardData?.files;
              if (files !== undefined && files.length > 0) {
                event.preventDefault();
                attach(files);
              }
            }}
          />
        </label>
        <label class="file-field">
          <span>
            <Icon name="clip" /> Pictures or files
          </span>
          <input type="file" accept={ACCEPTED} multiple onChange={(event) => { attach(event.currentTarget.files ?? []); event.currentTarget.value = ""; }} />
        </label>
        {picked.length > 0 && (
          <ul class="picked">
            {picked.map((one, index) => (
              <li>
                {one.preview === undefined ? <Icon name="file" /> : <img src={one.preview} alt="" width="40" height="40" />}
                <span>{one.attachment.name}</span>
                <button type="button" class="ghost small" aria-label={`Remove ${one.attachment.name ?? "attachment"}`} onClick={() => setPicked(picked.filter((_, at) => at !== index))}>
                  <Icon name="cross" />
                </button>
              </li>
            ))}
          </ul>
        )}
        <label>
          Model
          <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
            <option value="">Default model</option>
            {models.value.map((one) => (
              <option value={one.value} title={one.description}>{modelLabel(one)}</option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Permission mode</legend>
          {MODES.filter(([name]) => maySetMode(name)).map(([name, label, about]) => (
            <label class="option">
              <input type="radio" name="mode" checked={mode === name} onChange={() => setMode(name)} />
              <span>
                <span class="option-label">{label}</span>
                <span class="option-more">{about}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {resume !== undefined && (
          <label class="check">
            <input type="checkbox" checked={fork} disabled={host !== undefined} onChange={() => setFork(!wantsFork)} /> Fork: go on in a copy, so that the session stays as it is
          </label>
        )}
        {problem !== "" && (
          <p class="warn-line" role="alert">
            <ServerText text={problem} />
          </p>
        )}
        <div class="form-actions">
          <button type="submit" class="yes main" disabled={busy || folder.trim() === ""}>
            {busy ? <Spinner /> : <Icon name="send" />} {resume === undefined ? "Start" : fork ? "Fork" : "Resume"}
          </button>
        </div>
      </form>
    </div>
  );
}
