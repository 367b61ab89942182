// Completion of slash commands and files while a prompt is being written.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { getJson } from "../net/api.ts";
import type { Completions } from "../wire.ts";
import { InOrder } from "./revealed.tsx";

export interface Wanted {
  kind: "command" | "file";
  /** The text after the slash or the at sign. */
  stem: string;
  /** Start in the prompt, including the sign. */
  from: number;
}

const SHOWN_MAX = 200;
const FILES_MAX = 30;
const WAIT_MS = 120;

/** The word at the caret, if it can be completed. */
export function wantedAt(text: string, cursor: number): Wanted | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command !== null) return { kind: "command", stem: command[1] ?? "", from: 0 };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file !== null) return { kind: "file", stem: file[1] ?? "", from: before.length - (file[1]?.length ?? 0) - 1 };
  return undefined;
}

/** Candidates for a completion. */
export function useCompletions(session: string, wanted: Wanted | undefined, commands: readonly string[]): string[] {
  const [found, setFound] = useState<{ for: string; items: string[] }>({ for: "", items: [] });
  const name = wanted === undefined ? "" : `${wanted.kind}:${wanted.stem}`;
  useEffect(() => {
    if (wanted === undefined) return undefined;
    if (wanted.kind === "command" && commands.length > 0) {
      setFound({ for: name, items: commands.filter((one) => isPublic(one) && one.includes(wanted.stem)).sort((one, other) => rank(one, wanted.stem) - rank(other, wanted.stem)) });
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const path = `sessions/${encodeURIComponent(session)}/${wanted.kind === "command" ? "commands" : "files"}`;
      getJson<Completions>(path, { q: wanted.stem, limit: wanted.kind === "command" ? SHOWN_MAX : FILES_MAX }, abort.signal).then(
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

/** Descriptions of the commands of a session, fetched when the first one is about to be completed. */
export function useDescriptions(session: string, isWanted: boolean, commands: readonly string[]): Readonly<Record<string, string>> {
  const [about, setAbout] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    if (!isWanted) return undefined;
    const abort = new AbortController();
    getJson<Completions>(`sessions/${encodeURIComponent(session)}/commands`, {}, abort.signal).then(
      (list) => setAbout(list.about ?? {}),
      () => undefined,
    );
    return () => abort.abort();
  }, [session, isWanted, commands]);
  return about;
}

/** True for a command of people; the others are for programs that embed Claude Code. */
function isPublic(command: string): boolean {
  return !command.startsWith("__");
}

function rank(item: string, stem: string): number {
  return item.startsWith(stem) ? 0 : 1;
}

export function CompletionList({ items, active, wanted, about, choose }: { items: string[]; active: number; wanted: Wanted; about: Readonly<Record<string, string>>; choose: (item: string) => void }): VNode | null {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active, items]);
  if (items.length === 0) return null;
  return (
    <ul class="completions" ref={list} id="completions" role="listbox" aria-label={wanted.kind === "command" ? "Commands" : "Files"}>
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
          {wanted.kind === "command" && about[item] !== undefined && <span class="completion-about" title={about[item]}><InOrder text={about[item].split("\n")[0] ?? ""} /></span>}
        </li>
      ))}
    </ul>
  );
}
