// Folders whose commands were trusted, and recent ones whose commands wait for it.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useFetched } from "../app/fetched.ts";
import { liveFolders } from "../app/sessions.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { useFolderTrust } from "../app/trust.ts";
import { postJson } from "../net/api.ts";
import { count } from "../text/format.ts";
import type { FolderTrust, TrustedFolderList } from "../wire.ts";
import { Bones } from "./blank.tsx";
import { Failed } from "./failed.tsx";
import { Exact, InOrder } from "./revealed.tsx";

export function TrustedFolders(): VNode {
  const [revision, setRevision] = useState(0);
  const { value, problem, again } = useFetched<TrustedFolderList>("trust/folders", {}, String(revision));
  const recent = useFolderTrust(liveFolders.value, revision);
  const set = (folder: string, digest: string | undefined) => {
    postJson<FolderTrust>("trust", digest === undefined ? { folder } : { folder, digest }).then(
      () => setRevision(revision + 1),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  if (problem !== "") return <Failed problem={problem} again={again} />;
  const agreed = value?.items ?? [];
  const waiting = recent?.filter((one) => !one.trusted && !agreed.some(({ folder }) => folder === one.folder));
  return (
    <>
      <p class="muted">Folders with hooks, MCP servers or other commands of their own. In a trusted folder they run without a request, until they change.</p>
      {(value === undefined || recent === undefined) && <Bones count={1} label="Loading trusted folders" />}
      {value !== undefined && agreed.length === 0 && <p class="muted">No folder is trusted.</p>}
      <ul class="devices" aria-label="Trusted folders">
        {agreed.map((one) => <Row key={one.folder} one={one} agreed set={set} />)}
      </ul>
      {value?.more === true && <p class="muted">There are more than these.</p>}
      {waiting !== undefined && waiting.length > 0 && (
        <>
          <h4>Recent folders that wait for trust</h4>
          <ul class="devices" aria-label="Recent folders that wait for trust">
            {waiting.map((one) => <Row key={one.folder} one={one} agreed={false} set={set} />)}
          </ul>
        </>
      )}
    </>
  );
}

function Row({ one, agreed, set }: { one: FolderTrust; agreed: boolean; set: (folder: string, digest: string | undefined) => void }): VNode {
  return (
    <li class="trust-row">
      <span>
        <strong class="mono"><InOrder text={one.folder} /></strong>
        {agreed && <span class={one.trusted ? "this-device" : "this-device changed"}>{stateOf(one)}</span>}
        {one.commands.length > 0 && (
          <details>
            <summary>{count(one.commands.length, "command")}</summary>
            {one.commands.map((command) => (
              <div>
                <span class="muted"><code>{command.file}</code>, {command.place}</span>
                <Exact text={command.text} label={`${command.file} ${command.place}`} />
              </div>
            ))}
          </details>
        )}
      </span>
      <span class="row-actions">
        {!one.trusted && one.missing !== true && <button type="button" aria-label={`${agreed ? "Trust again" : "Trust"}: ${one.folder}`} onClick={() => set(one.folder, one.digest)}>{agreed ? "Trust again" : "Trust"}</button>}
        {agreed && <button type="button" class="no" aria-label={`Withdraw trust: ${one.folder}`} onClick={() => set(one.folder, undefined)}>Withdraw trust</button>}
      </span>
    </li>
  );
}

function stateOf({ trusted, missing, commands }: FolderTrust): string {
  if (missing === true) return "does not exist any more";
  if (!trusted) return "changed since you trusted it";
  return commands.length === 0 ? "trusted, without commands now" : "trusted";
}
