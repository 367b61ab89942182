// Folders that the server lists while one is typed.

import { useEffect, useState } from "preact/hooks";
import type { FolderPage, ListedFolder } from "../model/folders.ts";
import { listedFolders, queryFor } from "../model/folders.ts";
import { getJson } from "../net/api.ts";
import { meta } from "./store.ts";

const TYPING_MS = 120;
const NONE: readonly ListedFolder[] = [];
const ROUTE = "/v1/folders";

let support: Promise<boolean> | undefined;

/** True if the server lists folders: it says so, or its description has the route. An older server does not. */
function isSupported(): Promise<boolean> {
  if (meta.value?.capabilities.includes("folders")) return Promise.resolve(true);
  support ??= getJson<{ paths: object }>("openapi.json").then(
    ({ paths }) => ROUTE in paths,
    () => false,
  );
  return support;
}

/** Folders of the server that begin with a typed path; `undefined` asks for none. */
export function useFolders(typed: string | undefined): readonly ListedFolder[] {
  const [found, setFound] = useState(NONE);
  useEffect(() => {
    if (typed === undefined) return undefined;
    const abort = new AbortController();
    const ask = async () => {
      if (!(await isSupported()) || abort.signal.aborted) return;
      const page = await getJson<FolderPage>("folders", queryFor(typed), abort.signal);
      setFound(listedFolders(page));
    };
    const timer = setTimeout(() => {
      // An unknown folder, or one that this device may not list, completes to nothing.
      ask().catch(() => abort.signal.aborted || setFound(NONE));
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed]);
  return typed === undefined ? NONE : found;
}
