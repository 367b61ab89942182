// Runs of calls that only look: several of them in a row are one line of the conversation.

import type { Item, ToolItem } from "./conversation.ts";
import { count } from "../text/format.ts";

/** A run of calls, drawn as one line that opens. */
export interface RunItem {
  kind: "run";
  /** The key of its first call. */
  key: string;
  calls: ToolItem[];
}

export type RowItem = Item | RunItem;

/** Fewer calls are shown one by one. */
const CALLS_MIN = 3;

const VERBS: Record<string, (calls: number) => string> = {
  Read: (calls) => `read ${count(calls, "file")}`,
  Grep: (calls) => (calls === 1 ? "searched once" : `searched ${calls} times`),
  Glob: (calls) => (calls === 1 ? "listed files once" : `listed files ${calls} times`),
  LS: (calls) => `listed ${count(calls, "folder")}`,
};

/**
 * The items as rows. Rows of `before` are kept where they have not changed, so that they are not drawn again.
 */
export function rowsOf(items: readonly Item[], waits: (id: string) => boolean, before: readonly RowItem[] = []): RowItem[] {
  const known = new Map(before.flatMap((row): [string, RunItem][] => (row.kind === "run" ? [[row.key, row]] : [])));
  const rows: RowItem[] = [];
  let run: ToolItem[] = [];
  const flush = () => {
    const [first] = run;
    if (first === undefined || run.length < CALLS_MIN) rows.push(...run);
    else rows.push(sameRun(known.get(first.key), run) ?? { kind: "run", key: first.key, calls: run });
    run = [];
  };
  for (const item of items) {
    if (item.kind === "tool" && Object.hasOwn(VERBS, item.name) && !item.retracted && item.state !== "failed" && !hasDecision(item) && !waits(item.id)) {
      run.push(item);
      continue;
    }
    flush();
    rows.push(item);
  }
  flush();
  return rows;
}

/** A call that a person decided is shown with the decision. */
function hasDecision({ settled }: ToolItem): boolean {
  return settled !== undefined && settled.by !== "policy";
}

function sameRun(known: RunItem | undefined, calls: readonly ToolItem[]): RunItem | undefined {
  return known !== undefined && known.calls.length === calls.length && known.calls.every((call, at) => call === calls[at]) ? known : undefined;
}

/** The key of the row that contains an item. */
export function rowKeyOf(rows: readonly RowItem[], key: string): string {
  return rows.find((row) => row.kind === "run" && row.calls.some((call) => call.key === key))?.key ?? key;
}

/** A position in the items as one in the rows. */
export function rowPosition<T extends { key: string }>(rows: readonly RowItem[], spot: T | undefined): T | undefined {
  return spot === undefined ? undefined : { ...spot, key: rowKeyOf(rows, spot.key) };
}

/** A summary of calls, such as `Read 3 files, searched 2 times`. */
export function runText(calls: readonly ToolItem[]): string {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  const text = [...counts].map(([name, times]) => VERBS[name]?.(times) ?? name).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Name of the fold of a run. */
export function runFold({ calls }: RunItem): string {
  return `run-${calls[0]?.id ?? ""}`;
}
