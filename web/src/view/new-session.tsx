// A new session as a composer: the prompt, the folder and the settings; or resuming and forking a session on disk.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { newClientId, RemoteError } from "@tidings/client";
import { canStart, claudeName, hasClaude, hasDemo, otherAgents } from "../app/agents.ts";
import { draftOf } from "../app/drafts.ts";
import { useFetched } from "../app/fetched.ts";
import { isWide } from "../app/initial-view.ts";
import { fileName, hostOf, remember } from "../app/list.ts";
import { DEFAULT_MODEL, learnModels, learnOfferBy, modelLabel, models, offeredBy } from "../app/models.ts";
import { ACCEPTED, forget, pick, pickedOf } from "../app/pictures.ts";
import { go, href } from "../app/route.ts";
import { entries, folders as recentFolders, liveFolders } from "../app/sessions.ts";
import { takeShared } from "../app/share.ts";
import { maySetMode, hasScope, errorText, meta } from "../app/store.ts";
import type { Template } from "../app/templates.ts";
import { showToast } from "../app/toasts.ts";
import { useFolderTrust } from "../app/trust.ts";
import type { BudgetText } from "../model/choices.ts";
import { MODES, NO_BUDGET, POLICIES, budgetOf } from "../model/choices.ts";
import { defaultsFor } from "../model/defaults.ts";
import { expandHome } from "../model/folders.ts";
import { FORK_LABEL, RESUME_LABEL } from "../model/groups.ts";
import { postJson } from "../net/api.ts";
import type { CreateSession, FolderDefaultsList, Policy, SessionView } from "../wire.ts";
import { AgentSessions } from "./agent-sessions.tsx";
import { Blank } from "./blank.tsx";
import { BudgetFields } from "./budget.tsx";
import { FolderField } from "./folder-field.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { InstallHint } from "./install.tsx";
import { NodeField, isInFleet, placement } from "./node.tsx";
import { ResumeList } from "./resume-list.tsx";
import { InOrder } from "./revealed.tsx";
import { Select } from "./select.tsx";
import { ServerText } from "./server-text.tsx";
import { Templates } from "./templates.tsx";
import { TrustNote } from "./trust.tsx";
import { WorktreeField } from "./worktree.tsx";

interface Props {
  resume: string | undefined;
  cwd: string | undefined;
  forks: boolean;
  /** True if an app has shared a text or pictures for the prompt. */
  shared: boolean;
}

/** Name of the draft and its attachments. */
const DRAFT = "new";

/** Value of the select for Claude Code; no other agent may have this name. */
const CLAUDE = "claude";

/** A prompt that the demo answers; where nothing else can be started the form begins with it. */
const DEMO_PROMPT = "The total of an invoice is off by a cent. Please find out why and fix it.";

export function NewSession(props: Props): VNode {
  if (!hasScope("prompt")) {
    return (
      <Blank icon="shield" title="This device is read-only" actions={<a class="button" href={href({ view: "home" })}>All sessions</a>}>
        <p>Pair it again with the scope “prompt” to start sessions.</p>
      </Blank>
    );
  }
  if (!hasClaude.value && !isInFleet() && (!canStart.value || props.resume !== undefined)) {
    return (
      <Blank icon="terminal" title={props.resume === undefined ? "No session can be started here" : "This session cannot be resumed here"}>
        <InstallHint />
      </Blank>
    );
  }
  return <Form {...props} />;
}

function maySetPolicy(policy: string): boolean {
  const bypass = meta.value?.capabilities.includes("bypass") === true;
  return POLICIES.some(({ value, scope }) => value === policy && (scope === undefined || hasScope(scope)) && (value !== "allow" || bypass));
}

function Form({ resume, cwd, forks, shared }: Props): VNode {
  const [demo, setDemo] = useState(!hasClaude.value);
  const known = recentFolders.value;
  const [written, setFolder] = useState(cwd);
  // The default is the last used folder.
  const folder = written ?? known[0] ?? "";
  const trusted = new Set((useFolderTrust(liveFolders.value) ?? []).filter((one) => one.trusted).map((one) => one.folder));
  const draft = draftOf(resume === undefined ? DRAFT : `${DRAFT}.${resume}`);
  const prompt = draft.value;
  const listed = useFetched<FolderDefaultsList>("defaults").value?.items ?? [];
  const defaults = defaultsFor(expandHome(folder.trim(), known), listed);
  const [chosenModel, setModel] = useState<string | undefined>(undefined);
  const [chosenMode, setMode] = useState<string | undefined>(undefined);
  const [chosenPolicy, setPolicy] = useState<string | undefined>(undefined);
  const agents = resume === undefined ? otherAgents.value : [];
  const [backend, setBackend] = useState(hasClaude.value || hasDemo.value ? CLAUDE : (agents[0] ?? CLAUDE));
  const isClaude = backend === CLAUDE;
  const offered = isClaude ? undefined : offeredBy(backend);
  // A default that this device may not choose is not one for it; model and mode of a folder are those of Claude Code.
  const model = chosenModel ?? (isClaude ? defaults.model : undefined) ?? DEFAULT_MODEL;
  const mode = chosenMode ?? (isClaude && defaults.mode !== undefined && maySetMode(defaults.mode) && defaults.mode !== "bypassPermissions" ? defaults.mode : "default");
  const policy = chosenPolicy ?? (defaults.policy !== undefined && maySetPolicy(defaults.policy) ? defaults.policy : "ask");
  const [worktree, setWorktree] = useState<string | undefined>(undefined);
  const [node, setNode] = useState<string | undefined>(undefined);
  const [budget, setBudget] = useState<BudgetText>(NO_BUDGET);
  // Two agents cannot write one session file: a session that runs here can only be forked.
  const host = resume === undefined ? undefined : hostOf(resume);
  const [wantsFork, setFork] = useState(forks);
  const fork = wantsFork || host !== undefined;
  const file = entries.value.find((entry) => entry.kind === "disk" && entry.key === resume);
  const original = resume === undefined ? undefined : fileName(resume, (file?.kind === "disk" ? file.file.title : undefined) ?? resume.slice(0, 8));
  useEffect(() => (isClaude ? learnModels() : learnOfferBy(backend)), [backend]);
  const pictures = pickedOf(DRAFT);
  const picked = pictures.value;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  /** The last request without a definite response: repeating it uses the same id, and creates no second session. */
  const tried = useRef({ form: "", id: "" });
  const attach = async (files: Iterable<File>) => {
    const { picked: more, refused } = await pick(files, pictures.value);
    pictures.value = [...pictures.value, ...more];
    for (const reason of refused) showToast("error", reason);
  };
  useEffect(() => {
    // On a phone the keyboard would cover the form.
    if (isWide()) field.current?.focus();
    if (demo && hasDemo.value && isClaude && resume === undefined && draft.value === "" && !shared) draft.value = DEMO_PROMPT;
    if (!shared) return;
    void takeShared().then((given) => {
      if (given === undefined) return;
      if (given.text !== "") draft.value = draft.value.trim() === "" ? given.text : `${draft.value}\n\n${given.text}`;
      void attach(given.files);
    });
  }, []);
  const limits = budgetOf(budget);
  const start = async () => {
    if (typeof limits === "string") {
      setProblem(`The budget needs a positive number for ${limits}.`);
      return;
    }
    setBusy(true);
    setProblem("");
    const attachments = picked.map((one) => one.attachment);
    const request: Partial<CreateSession> = {
      cwd: expandHome(folder.trim(), known),
      ...(fork && original !== undefined ? { title: `Fork of ${original}` } : {}),
      ...(resume === undefined ? {} : { labels: { [fork ? FORK_LABEL : RESUME_LABEL]: resume } }),
      ...(prompt.trim() === "" ? {} : { prompt }),
      ...(isClaude ? {} : { backend }),
      ...(model === DEFAULT_MODEL ? {} : { model }),
      permission_mode: mode,
      ...(policy === "ask" ? {} : { policy: policy as Policy }),
      ...limits,
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(resume === undefined ? {} : { resume, fork }),
      ...(resume === undefined && worktree !== undefined ? { worktree: worktree.trim() } : {}),
      ...(hasDemo.value && isClaude ? { demo: demo && resume === undefined } : {}),
    };
    const path = `sessions${resume === undefined ? placement(node) : ""}`;
    const form = JSON.stringify([path, request]);
    if (tried.current.form !== form) tried.current = { form, id: newClientId() };
    try {
      const session = await postJson<SessionView>(path, { ...request, client_id: tried.current.id });
      forget(picked);
      pictures.value = [];
      draft.value = "";
      remember(session);
      go({ view: "session", id: session.key });
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
      // A rejection is definite. After any other error the session may exist.
      if (error instanceof RemoteError && error.status > 0 && error.status < 500) tried.current = { form: "", id: "" };
    }
  };
  const apply = (template: Template) => {
    draft.value = template.prompt;
    if (template.folder !== "") setFolder(template.folder);
    // Templates have the models and modes of Claude Code.
    if (isClaude) setModel(template.model);
    if (isClaude && maySetMode(template.mode)) setMode(template.mode);
    if (maySetPolicy(template.policy)) setPolicy(template.policy);
    setBudget(template.budget);
    field.current?.focus();
  };
  const isPhone = matchMedia("(pointer: coarse)").matches;
  const policies = POLICIES.filter(({ value }) => maySetPolicy(value));
  const knownModels = (isClaude ? models.value : (offered?.items ?? [])).map((one) => ({ value: one.value, label: modelLabel(one), about: one.description ?? "" }));
  const modelOptions = [
    { value: DEFAULT_MODEL, label: "Default model", about: "" },
    ...knownModels,
    // The models are known once an agent ran; the default of a project may be known before.
    ...(model === DEFAULT_MODEL || knownModels.some(({ value }) => value === model) ? [] : [{ value: model, label: model, about: "" }]),
  ];
  // Another agent may have fewer modes, but each begins in one that asks.
  const hasMode = (value: string) => value === "default" || (offered?.modes?.includes(value) ?? true);
  const chooseAgent = (name: string) => {
    setBackend(name);
    setModel(undefined);
    setMode(undefined);
  };
  const agentOptions = [
    ...(hasClaude.value || hasDemo.value ? [{ value: CLAUDE, label: claudeName.value, about: "" }] : []),
    ...agents.map((name) => ({ value: name, label: name, about: "An agent of the Agent Client Protocol" })),
  ];
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>{resume === undefined ? "New session" : fork ? "Fork a session" : "Resume a session"}</h2>
      </header>
      <form
        class="form start"
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void attach(event.dataTransfer?.files ?? []);
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
        <div class="start-box">
          <FolderField value={folder} recent={resume === undefined ? known : []} trusted={trusted} readOnly={resume !== undefined && cwd !== undefined} change={setFolder} />
          <label>
            <span class="sr">{resume === undefined ? "First prompt" : "Next prompt"}</span>
            <textarea
              ref={field}
              rows={5}
              dir="auto"
              value={prompt}
              placeholder={resume === undefined ? "What should the agent do?" : "How should it continue?"}
              onInput={(event) => (draft.value = event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing || isPhone || prompt.trim() === "") return;
                event.preventDefault();
                event.currentTarget.form?.requestSubmit();
              }}
              onPaste={(event) => {
                const files = event.clipboardData?.files;
                if (files !== undefined && files.length > 0) {
                  event.preventDefault();
                  void attach(files);
                }
              }}
            />
          </label>
          {picked.length > 0 && (
            <ul class="picked">
              {picked.map((one, index) => (
                <li>
                  {one.preview === undefined ? <Icon name="file" /> : <img src={one.preview} alt="" width="40" height="40" />}
                  <span>{one.attachment.name}</span>
                  <button type="button" class="ghost small" aria-label={`Remove ${one.attachment.name ?? "attachment"}`} onClick={() => (pictures.value = picked.filter((_, at) => at !== index))}>
                    <Icon name="cross" />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <div class="start-row">
            <input ref={chooser} type="file" aria-label="Pictures or files" accept={ACCEPTED} multiple hidden onChange={(event) => { void attach(event.currentTarget.files ?? []); event.currentTarget.value = ""; }} />
            <button type="button" class="ghost" aria-label="Attach pictures or files" title="Attach pictures or files" onClick={() => chooser.current?.click()}>
              <Icon name="clip" />
            </button>
            {agents.length > 0 && <Select label="Agent" icon="terminal" value={backend} options={agentOptions} choose={chooseAgent} />}
            {(isClaude || knownModels.length > 0) && <Select label="Model" icon="spark" value={model} options={modelOptions} choose={setModel} />}
            <Select label="Permission mode" icon="shield" value={mode} options={MODES.filter(({ value }) => hasMode(value) && maySetMode(value) && value !== "bypassPermissions")} choose={setMode} />
            <Select label="Policy" icon="list" value={policy} options={policies} choose={setPolicy} />
            <BudgetFields value={budget} change={setBudget} />
            {resume === undefined && <NodeField value={node} change={setNode} />}
            <button type="submit" class="yes main start-button" disabled={busy || folder.trim() === ""}>
              {busy ? <Spinner /> : <Icon name="send" />} {resume === undefined ? "Start" : fork ? "Fork" : "Resume"}
            </button>
          </div>
        </div>
        {folder.trim() === "" && <p class="muted" role="note">Choose a folder to start in.</p>}
        {defaults.from.length > 0 && (
          <p class="muted start-defaults">
            Begins with the defaults of <code><InOrder text={defaults.from.join(", ")} /></code>.{" "}
            {hasScope("admin") && <a href={href({ view: "settings", section: "defaults" })}>Change them</a>}
          </p>
        )}
        {resume === undefined && hasScope("always") && <WorktreeField value={worktree} change={setWorktree} />}
        {hasScope("admin") && <TrustNote folder={expandHome(folder.trim(), known)} />}
        {hasDemo.value && resume === undefined && isClaude && (
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
        {resume !== undefined && (
          <label class="check">
            <input type="checkbox" checked={fork} disabled={host !== undefined} onChange={() => setFork(!wantsFork)} /> Fork: continue in a copy, so that the session stays as it is
          </label>
        )}
        {problem !== "" && (
          <p class="warn-line" role="alert">
            <ServerText text={problem} />
          </p>
        )}
        {resume === undefined && <Templates now={{ prompt, folder, model: isClaude ? model : DEFAULT_MODEL, mode: isClaude ? mode : "default", policy, budget }} apply={apply} />}
        {resume === undefined && isClaude && hasClaude.value && <ResumeList />}
        {resume === undefined && !isClaude && <AgentSessions key={backend} backend={backend} folder={expandHome(folder.trim(), known)} />}
      </form>
    </div>
  );
}
