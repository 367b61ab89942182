// Commands that a folder configures, before an admin trusts them.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { getJson, postJson } from "../net/api.ts";
import type { FolderTrust } from "../wire.ts";
import { Exact } from "./revealed.tsx";

const TYPING_MS = 400;

export function TrustNote({ folder }: { folder: string }): VNode | null {
  const [found, setFound] = useState<FolderTrust | undefined>(undefined);
  useEffect(() => {
    setFound(undefined);
    if (!folder.startsWith("/")) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      // A folder that does not exist yet configures none.
      getJson<FolderTrust>("trust", { folder }, abort.signal).then(setFound, () => undefined);
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [folder]);
  if (found === undefined || found.trusted) return null;
  const agree = () => {
    postJson<FolderTrust>("trust", { folder, digest: found.digest }).then(setFound, (error: unknown) => showToast("error", errorText(error)));
  };
  return (
    <section class="trust">
      <h3>This folder configures its own commands</h3>
      <p>If you trust them, they run without a permission request. Until then sessions here start without them.</p>
      <ul class="plain-list">
        {found.commands.map((command) => (
          <li>
            <span class="muted">
              <code>{command.file}</code>, {command.place}
            </span>
            <Exact text={command.text} label={`${command.file} ${command.place}`} />
          </li>
        ))}
      </ul>
      <button type="button" onClick={agree}>
        Trust these commands
      </button>
    </section>
  );
}
