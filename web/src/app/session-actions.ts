// Actions of the displayed session that other parts of the page may call, such as the command palette.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Panel } from "../view/header.tsx";

export interface SessionActions {
  setPanel(panel: Panel): void;
  find(): void;
}

/** Actions of the displayed session; `undefined` without one. */
export const sessionActions = signal<SessionActions | undefined>(undefined);

export function useSessionActions(actions: SessionActions): void {
  useEffect(() => {
    sessionActions.value = actions;
    return () => {
      if (sessionActions.peek() === actions) sessionActions.value = undefined;
    };
  }, []);
}
