// A setting of the session as a list. It shows the choice until the server rejects it.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { refusedCommands } from "../app/store.ts";

interface Props {
  label: string;
  value: string;
  disabled: boolean;
  /** Sends the choice, and returns the id of the command. */
  choose(value: string): string;
  children: ComponentChildren;
}

export function Choice({ label, value, disabled, choose, children }: Props): VNode {
  const [wanted, setWanted] = useState<{ value: string; id: string } | undefined>(undefined);
  const isRefused = wanted !== undefined && refusedCommands.value.has(wanted.id);
  useEffect(() => setWanted(undefined), [value, isRefused]);
  return (
    <label class="pick">
      <span class="sr">{label}</span>
      <select
        disabled={disabled}
        value={wanted === undefined || isRefused ? value : wanted.value}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          setWanted({ value: chosen, id: choose(chosen) });
        }}
      >
        {children}
      </select>
    </label>
  );
}
