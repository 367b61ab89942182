// Recent folders that configure commands of their own: trusted ones, and those that wait for it.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { liveFolders } from "../app/sessions.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { useFolderTrust } from "../app/trust.ts";
import { postJson } from "../net/api.ts";
import { count } from "../text/format.ts";
import type { FolderTrust } from "../wire.ts";
import { Bones } from "./blank.tsx";
import { Exact, InOrder } from "./revealed.tsx";

export function TrustedFolders(): VNode {
  const [revision, setRevision] = useState(0);
  const found = useFolderTrust(liveFolders.value, revision);
  const set = (folder: string, digest: string | undefined) => {
    postJson<FolderTrust>("trust", digest === undefined ? { folder } : { folder, digest }).then(
      () => setRevision(revision + 1),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  return (
    <>
      <p class="muted">Recent folders with hooks, MCP servers or other commands of their own. In a trusted folder they run without a request, until they change.</p>
      {found === undefined && <Bones count={1} label="Asking for recent folders" />}
      {found?.length === 0 && <p class="muted">No recent folder configures commands.</p>}
      <ul class="devices">
        {found?.map((one) => (
          <li key={one.folder} class="trust-row">
            <span>
              <strong class="mono"><InOrder text={one.folder} /></strong>
              {one.trusted && <span class="this-device">trusted</span>}
              <details>
                <summary>{count(one.commands.length, "command")}</summary>
                {one.commands.map((command) => (
                  <div>
                    <span class="muted"><code>{command.file}</code>, {command.place}</span>
                    <Exact text={command.text} label={`${command.file} ${command.place}`} />
                  </div>
                ))}
              </details>
            </span>
            {one.trusted ? (
              <button type="button" class="no" onClick={() => set(one.folder, undefined)}>Withdraw trust</button>
            ) : (
              <button type="button" onClick={() => set(one.folder, one.digest)}>Trust</button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
