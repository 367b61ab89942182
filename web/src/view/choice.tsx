// A setting of the session as a list. It shows the choice until the server rejects it.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { refusedCommands } from "../app/store.ts";
import { SelectButton } from "./select.tsx";

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
    <span class="pick">
      <select
        aria-label={label}
        disabled={disabled}
        value={wanted === undefined || isRefused ? value : wanted.value}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          setWanted({ value: chosen, id: choose(chosen) });
        }}
      >
        <SelectButton />
        {children}
      </select>
    </span>
  );
}
