// Targets of notifications besides devices. Their secrets are never shown.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useFetched } from "../app/fetched.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { kindName } from "../model/inbox.ts";
import { targetKindName } from "../model/notify.ts";
import { URL_KINDS } from "../model/notify-kinds.ts";
import { postJson, send } from "../net/api.ts";
import type { NewNotifyTarget, NotifyTarget, NotifyTargets as TargetList, NotifyTest } from "../wire.ts";
import { Failed } from "./failed.tsx";
import { TestButton } from "./push.tsx";
import { InOrder } from "./revealed.tsx";
import { ServerText } from "./server-text.tsx";

type NewKind = keyof typeof URL_KINDS;

export function NotifyTargets(): VNode {
  const { value, problem, again } = useFetched<TargetList>("notify/targets");
  return (
    <section class="notify-rows" aria-label="Other targets">
      <h3>Other targets</h3>
      {problem !== "" && <Failed problem={problem} again={again} />}
      {value?.items.length === 0 && <p class="muted">None yet. A target gets the same notifications as a device.</p>}
      <ul class="devices">
        {value?.items.map((target) => (
          <Target key={target.id} target={target} changed={again} />
        ))}
      </ul>
      <NewTarget added={again} />
    </section>
  );
}

function Target({ target, changed }: { target: NotifyTarget; changed: () => void }): VNode {
  const path = `notify/targets/${encodeURIComponent(target.id)}`;
  const remove = () => {
    send("DELETE", path).then(changed, (error: unknown) => showToast("error", errorText(error)));
  };
  const about = [
    target.events.length === 0 ? "all kinds" : target.events.map(kindName).join(", "),
    target.include_details ? "with commands and paths" : "",
    target.allow_button ? "with “Allow once”" : "",
    target.has_secret ? "signed" : "",
    target.source === "file" ? "from the configuration file" : "",
    target.shared ? "used by all servers of the fleet" : "",
  ];
  return (
    <li>
      <span>
        <strong>
          <InOrder text={target.name} />
        </strong>
        <span class="muted">
          {targetKindName(target.kind)}, {about.filter((part) => part !== "").join(", ")}
        </span>
        {target.limited !== undefined && <span class="muted"><ServerText text={target.limited} /></span>}
        {target.state === "failing" && (
          <span class="test-bad">
            Failing: <ServerText text={target.error ?? "unknown reason"} />
          </span>
        )}
      </span>
      <span class="notify-row">
        <TestButton run={() => postJson<NotifyTest>(`${path}/test`, {})} label={`Send a test to ${target.name}`} />
        {target.source !== "file" && (
          <button type="button" class="no" onClick={remove} aria-label={`Remove ${target.name}`}>
            Remove
          </button>
        )}
      </span>
    </li>
  );
}

function NewTarget({ added }: { added: () => void }): VNode {
  const empty = { kind: "ntfy" as NewKind, url: "", name: "", secret: "", token: "", include_details: false, allow_button: false };
  const [draft, setDraft] = useState(empty);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (next: Partial<typeof empty>) => setDraft({ ...draft, ...next });
  const { credential, buttons, example } = URL_KINDS[draft.kind];
  const submit = (event: Event) => {
    event.preventDefault();
    const { secret, token, name, ...rest } = draft;
    const body: NewNotifyTarget = { ...rest, events: [], ...(name === "" ? {} : { name }), ...(secret === "" ? {} : { secret }), ...(token === "" ? {} : { token }), allow_button: buttons && token !== "" && draft.allow_button };
    setBusy(true);
    setProblem("");
    postJson("notify/targets", body)
      .then(
        () => {
          setDraft(empty);
          added();
        },
        (error: unknown) => setProblem(errorText(error)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <details>
      <summary>Add a target</summary>
      <form class="notify-rows" onSubmit={submit}>
        <label>
          Kind of target
          <select value={draft.kind} onChange={(event) => set({ kind: event.currentTarget.value as NewKind, secret: "", token: "" })}>
            {Object.entries(URL_KINDS).map(([kind, { title }]) => (
              <option value={kind}>{title}</option>
            ))}
          </select>
        </label>
        <label>
          Address
          <input type="url" required placeholder={example} value={draft.url} onInput={(event) => set({ url: event.currentTarget.value })} />
        </label>
        <label>
          Name
          <input type="text" value={draft.name} onInput={(event) => set({ name: event.currentTarget.value })} />
        </label>
        {credential !== undefined && (
          <label>
            {credential.label}
            <input type="password" autoComplete="off" value={draft[credential.field]} onInput={(event) => set({ [credential.field]: event.currentTarget.value })} />
          </label>
        )}
        <label class="check">
          <input type="checkbox" checked={draft.include_details} onChange={(event) => set({ include_details: event.currentTarget.checked })} /> Include commands and paths
        </label>
        {buttons && (
          <label class="check">
            <input type="checkbox" disabled={draft.token === ""} checked={draft.allow_button && draft.token !== ""} onChange={(event) => set({ allow_button: event.currentTarget.checked })} /> Offer “Allow once” there (needs an access token)
          </label>
        )}
        <div class="notify-row">
          <button type="submit" disabled={busy}>
            Add target
          </button>
        </div>
        {problem !== "" && (
          <p class="test-bad" role="alert">
            <ServerText text={problem} />.
          </p>
        )}
      </form>
    </details>
  );
}
