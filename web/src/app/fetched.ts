// Hook for data that is fetched once and displayed.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "@tidings/client";
import { getJson } from "../net/api.ts";
import { connectionCount, errorText } from "./store.ts";

export interface Fetched<T> {
  value: T | undefined;
  problem: string;
  /** Fetches it again. */
  again(): void;
}

/**
 * Fetches a path again when it or `revision` changes; `undefined` fetches nothing. The previous value stays
 * until the next one arrives.
 */
export function useFetched<T>(path: string | undefined, query: Query = {}, revision = ""): Fetched<T> {
  const [state, setState] = useState<Omit<Fetched<T>, "again">>({ value: undefined, problem: "" });
  const [tries, again] = useTries(state.problem !== "");
  const name = JSON.stringify([path, query, revision]);
  useEffect(() => {
    if (path === undefined) {
      setState({ value: undefined, problem: "" });
      return undefined;
    }
    const abort = new AbortController();
    getJson<T>(path, query, abort.signal).then(
      (value) => setState({ value, problem: "" }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ value: undefined, problem: errorText(error) });
      },
    );
    return () => abort.abort();
  }, [name, tries]);
  return { ...state, again };
}

/** Counter of attempts: increases when the user retries, and when the connection is back after a failure. */
export function useTries(failed: boolean): [number, () => void] {
  const [tries, setTries] = useState(0);
  const again = () => setTries((before) => before + 1);
  const seen = useRef(connectionCount.value);
  useEffect(() => {
    if (failed && seen.current !== connectionCount.value) again();
    seen.current = connectionCount.value;
  }, [connectionCount.value]);
  return [tries, again];
}
