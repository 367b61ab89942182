// Folders that the server lists while one is typed.

import { useEffect, useState } from "preact/hooks";
import type { FolderPage, ListedFolder } from "../model/folders.ts";
import { listedFolders, queryFor } from "../model/folders.ts";
import { getJson } from "../net/api.ts";
import { meta } from "./store.ts";

const TYPING_MS = 120;
const NONE: readonly ListedFolder[] = [];

/** Name of the server's capability to list folders. */
const CAPABILITY = "folders";

/** Folders of the server that begin with a typed path; `undefined` asks for none. */
export function useFolders(typed: string | undefined): readonly ListedFolder[] {
  const [found, setFound] = useState(NONE);
  useEffect(() => {
    if (typed === undefined || meta.value?.capabilities.includes(CAPABILITY) !== true) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      getJson<FolderPage>("folders", queryFor(typed), abort.signal).then(
        (page) => setFound(listedFolders(page)),
        // An unknown folder, or one that this device may not list, completes to nothing.
        () => abort.signal.aborted || setFound(NONE),
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed]);
  return typed === undefined ? NONE : found;
}
