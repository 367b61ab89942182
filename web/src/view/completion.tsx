// Completion of slash commands and files while a prompt is being written.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../net/api.ts";
import type { Completions } from "../wire.ts";

export interface Wanted {
  kind: "command" | "file";
  /** What was written after the slash or the at sign. */
  stem: string;
  /** Where in the text it begins, with its sign. */
  from: number;
}

const SHOWN_MAX = 8;
const WAIT_MS = 120;

/** What is being written at the place of the cursor, if it can be completed. */
export function wantedAt(text: string, cursor: number): Wanted | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command !== null) return { kind: "command", stem: command[1] ?? "", from: 0 };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file !== null) return { kind: "file", stem: file[1] ?? "", from: before.length - (file[1]?.length ?? 0) - 1 };
  return undefined;
}

/** What could stand there. */
export function useCompletions(session: string, wanted: Wanted | undefined, commands: readonly string[]): string[] {
  const [found, setFound] = useState<{ for: string; items: string[] }>({ for: "", items: [] });
  const name = wanted === undefined ? "" : `${wanted.kind}:${wanted.stem}`;
  useEffect(() => {
    if (wanted === undefined) return undefined;
    if (wanted.kind === "command" && commands.length > 0) {
      setFound({ for: name, items: commands.filter((one) => one.includes(wanted.stem)).sort((one, other) => rank(one, wanted.stem) - rank(other, wanted.stem)) });
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const path = `sessions/${encodeURIComponent(session)}/${wanted.kind === "command" ? "commands" : "files"}`;
      getJson<Completions>(path, { q: wanted.stem, limit: SHOWN_MAX }, abort.signal).then(
        (list) => setFound({ for: name, items: list.items }),
        () => undefined,
      );
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [session, name, commands]);
  return wanted !== undefined && found.for === name ? found.items.slice(0, SHOWN_MAX) : [];
}

function rank(item: string, stem: string): number {
  return item.startsWith(stem) ? 0 : 1;
}

export function CompletionList({ items, active, wanted, choose }: { items: string[]; active: number; wanted: Wanted; choose: (item: string) => void }): VNode | null {
  if (items.length === 0) return null;
  return (
    <ul class="completions" id="completions" role="listbox" aria-label={wanted.kind === "command" ? "Commands" : "Files"}>
      {items.map((item, index) => (
        <li
          role="option"
          id={`completion-${index}`}
          aria-selected={index === active}
          class={index === active ? "active" : undefined}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(item);
          }}
        >
          {wanted.kind === "command" ? `/${item}` : item}
        </li>
      ))}
    </ul>
  );
}
