// Defaults of new sessions per project: model, permission mode and policy.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useFetched } from "../app/fetched.ts";
import { learnModels, modelLabel, models } from "../app/models.ts";
import { folders } from "../app/sessions.ts";
import { errorText, meta } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { ChoiceOption } from "../model/choices.ts";
import { MODES, POLICIES } from "../model/choices.ts";
import { expandHome } from "../model/folders.ts";
import { send } from "../net/api.ts";
import type { FolderDefaults, FolderDefaultsList, Policy } from "../wire.ts";
import { Bones } from "./blank.tsx";
import { Failed } from "./failed.tsx";
import { FolderField } from "./folder-field.tsx";
import { InOrder } from "./revealed.tsx";
import { Select } from "./select.tsx";

const NONE = "";
const NO_FOLDERS: ReadonlySet<string> = new Set();

export function ProjectDefaults(): VNode {
  const [revision, setRevision] = useState(0);
  const { value, problem, again } = useFetched<FolderDefaultsList>("defaults", {}, String(revision));
  const [edited, setEdited] = useState<FolderDefaults | undefined>(undefined);
  useEffect(learnModels, []);
  const save = (wanted: FolderDefaults) => {
    send<FolderDefaults>("PUT", "defaults", wanted).then(
      () => {
        setEdited(undefined);
        setRevision(revision + 1);
      },
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  if (problem !== "") return <Failed problem={problem} again={again} />;
  if (value === undefined) return <Bones count={1} label="Loading the defaults" />;
  return (
    <>
      <p class="muted">The form for a new session in a folder, or below it, begins with these. The policy is also that of sessions that you start there in terminals.</p>
      <ul class="devices">
        {value.items.map((one) => (
          <li key={one.folder} class="trust-row">
            <span>
              <strong class="mono"><InOrder text={one.folder} /></strong>
              <span class="muted">{wordsOf(one)}</span>
            </span>
            <span class="row-actions">
              <button type="button" aria-label={`Change ${one.folder}`} onClick={() => setEdited(one)}>Change</button>
              <button type="button" class="no" aria-label={`Remove ${one.folder}`} onClick={() => save({ folder: one.folder })}>Remove</button>
            </span>
          </li>
        ))}
      </ul>
      {edited === undefined ? <button type="button" onClick={() => setEdited({ folder: "" })}>Add a project</button> : <Editor key={edited.folder} given={edited} save={save} cancel={() => setEdited(undefined)} />}
    </>
  );
}

function Editor({ given, save, cancel }: { given: FolderDefaults; save: (wanted: FolderDefaults) => void; cancel: () => void }): VNode {
  const [folder, setFolder] = useState(given.folder);
  const [model, setModel] = useState(given.model ?? NONE);
  const [mode, setMode] = useState(given.permission_mode ?? NONE);
  const [policy, setPolicy] = useState<string>(given.policy ?? NONE);
  const bypass = meta.value?.capabilities.includes("bypass") === true;
  const none: ChoiceOption = { value: NONE, label: "No default", about: "" };
  const known = models.value.map((one) => ({ value: one.value, label: modelLabel(one), about: one.description ?? "" }));
  const modelOptions = [none, ...known, ...(model === NONE || known.some(({ value }) => value === model) ? [] : [{ value: model, label: model, about: "" }])];
  const submit = (event: Event) => {
    event.preventDefault();
    save({
      folder: expandHome(folder.trim(), folders.value),
      ...(model === NONE ? {} : { model }),
      ...(mode === NONE ? {} : { permission_mode: mode }),
      ...(policy === NONE ? {} : { policy: policy as Policy }),
    });
  };
  return (
    <form class="defaults-form" aria-label="Defaults of a project" onSubmit={submit}>
      <FolderField value={folder} recent={given.folder === "" ? folders.value : []} trusted={NO_FOLDERS} readOnly={given.folder !== ""} change={setFolder} />
      <div class="start-row">
        <Select label="Default model" icon="spark" value={model} options={modelOptions} choose={setModel} />
        <Select label="Default permission mode" icon="shield" value={mode} options={[none, ...MODES.filter(({ value }) => bypass || value !== "bypassPermissions")]} choose={setMode} />
        <Select label="Default policy" icon="list" value={policy} options={[none, ...POLICIES.filter(({ value }) => bypass || value !== "allow")]} choose={setPolicy} />
      </div>
      <div class="row-actions">
        <button type="submit" class="main" disabled={folder.trim() === "" || (model === NONE && mode === NONE && policy === NONE)}>Save</button>
        <button type="button" onClick={cancel}>Cancel</button>
      </div>
    </form>
  );
}

function wordsOf({ model, permission_mode, policy }: FolderDefaults): string {
  const label = (options: readonly ChoiceOption[], value: string) => options.find((one) => one.value === value)?.label ?? value;
  return [model, permission_mode === undefined ? undefined : label(MODES, permission_mode), policy === undefined ? undefined : label(POLICIES, policy)].filter((word) => word !== undefined).join(", ");
}
