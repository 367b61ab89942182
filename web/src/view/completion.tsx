// Completion of slash commands and files while a prompt is being written.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { getJson } from "../net/api.ts";
import type { Completions } from "../wire.ts";

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

/**
 * Built-in commands of Claude Code. Those of projects, plugins and MCP servers have only a name on the wire.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  "add-dir": "Add another working directory",
  agents: "Manage sub-agents",
  clear: "Start over with an empty context",
  compact: "Summarise the conversation to free context",
  config: "Change settings",
  context: "Show what fills the context window",
  cost: "Show tokens and cost of this session",
  doctor: "Check the installation",
  export: "Export the conversation",
  help: "List commands",
  init: "Write a CLAUDE.md for this project",
  insights: "Report on how you use Claude Code",
  mcp: "Manage MCP servers",
  memory: "Edit memory files",
  model: "Choose the model",
  "output-style": "Choose the output style",
  permissions: "Manage permission rules",
  "pr-comments": "Show comments of a pull request",
  "release-notes": "Show release notes",
  rename: "Rename this session",
  resume: "Resume another session",
  review: "Review a pull request",
  rewind: "Rewind files and conversation",
  "security-review": "Look for security problems in the changes",
  status: "Show version, model and account",
  statusline: "Set up the status line",
  todos: "Show the to-do list",
  usage: "Show the limits of the plan",
};

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
      setFound({ for: name, items: commands.filter((one) => one.includes(wanted.stem)).sort((one, other) => rank(one, wanted.stem) - rank(other, wanted.stem)) });
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

function rank(item: string, stem: string): number {
  return item.startsWith(stem) ? 0 : 1;
}

export function CompletionList({ items, active, wanted, choose }: { items: string[]; active: number; wanted: Wanted; choose: (item: string) => void }): VNode | null {
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
          {wanted.kind === "command" && COMMANDS[item] !== undefined && <span class="completion-about">{COMMANDS[item]}</span>}
        </li>
      ))}
    </ul>
  );
}
