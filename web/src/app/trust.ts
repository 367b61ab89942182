// Trust in the commands of recent folders: the server is asked about each, since it lists only those that are trusted.

import { useEffect, useState } from "preact/hooks";
import { getJson } from "../net/api.ts";
import type { FolderTrust } from "../wire.ts";
import { hasScope } from "./store.ts";

const ASKED_MAX = 20;

/** The settings of recent folders that have any; `undefined` until the server has answered. */
export function useFolderTrust(folders: readonly string[], revision = 0): readonly FolderTrust[] | undefined {
  const [found, setFound] = useState<readonly FolderTrust[] | undefined>(undefined);
  const asked = folders.slice(0, ASKED_MAX);
  useEffect(() => {
    if (!hasScope("admin")) return undefined;
    const abort = new AbortController();
    const ask = (folder: string) => getJson<FolderTrust>("trust", { folder }, abort.signal).catch(() => undefined);
    void Promise.all(asked.map(ask)).then((all) => {
      if (!abort.signal.aborted) setFound(all.flatMap((one) => (one === undefined || one.commands.length === 0 ? [] : [one])));
    });
    return () => abort.abort();
  }, [asked.join("\n"), revision]);
  return found;
}
