// What is read from the server once and shown.

import { useEffect, useState } from "preact/hooks";
import type { Query } from "../net/api.ts";
import { getJson } from "../net/api.ts";
import { words } from "./store.ts";

export interface Fetched<T> {
  value: T | undefined;
  problem: string;
}

/** Reads an address again whenever it changes; no path reads nothing. What was read stays until the next is there. */
export function useFetched<T>(path: string | undefined, query: Query = {}): Fetched<T> {
  const [state, setState] = useState<Fetched<T>>({ value: undefined, problem: "" });
  const name = JSON.stringify([path, query]);
  useEffect(() => {
    if (path === undefined) {
      setState({ value: undefined, problem: "" });
      return undefined;
    }
    const abort = new AbortController();
    getJson<T>(path, query, abort.signal).then(
      (value) => setState({ value, problem: "" }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ value: undefined, problem: words(error) });
      },
    );
    return () => abort.abort();
  }, [name]);
  return state;
}
