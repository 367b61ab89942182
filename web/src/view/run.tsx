// A run of calls that only look, as one line that opens.

import type { VNode } from "preact";
import type { Conversation } from "../model/conversation.ts";
import type { RunItem } from "../model/runs.ts";
import { runFold, runText } from "../model/runs.ts";
import { summary } from "../model/tools.ts";
import { useFold } from "./folds.ts";
import { Icon, Spinner } from "./icons.tsx";
import { Pictures } from "./pictures.tsx";
import { InOrder } from "./revealed.tsx";
import { ToolCard } from "./tool.tsx";

const NAMES_MAX = 6;

export function Run({ run, all }: { run: RunItem; all: Conversation }): VNode {
  const [open, toggle] = useFold(runFold(run), false);
  const isRunning = run.calls.some(({ state }) => state === "running" || state === "preparing");
  const names = [...new Set(run.calls.map((call) => shortTarget(summary(call.name, call.input, all.cwd).target)))].filter((name) => name !== "");
  return (
    <div class="run" role="group" aria-label={runText(run.calls)}>
      <button type="button" class="run-head" aria-expanded={open} onClick={toggle}>
        <span class="tool-icon">{isRunning ? <Spinner /> : <Icon name="search" />}</span>
        <span class="run-title">{runText(run.calls)}</span>
        <span class="tool-target mono"><bdi><InOrder text={names.slice(0, NAMES_MAX).join(", ") + (names.length > NAMES_MAX ? "…" : "")} /></bdi></span>
        <span class="tool-chevron">
          <Icon name="chevron" />
        </span>
      </button>
      {!open && run.calls.map((call) => <Pictures key={call.key} account={call.account} about={summary(call.name, call.input, all.cwd).target} />)}
      {open && (
        <div class="run-calls">
          {run.calls.map((call) => (
            <ToolCard key={call.key} tool={call} all={all} />
          ))}
        </div>
      )}
    </div>
  );
}

function shortTarget(target: string): string {
  const line = target.split("\n")[0] ?? "";
  return /^[^\s]+$/.test(line) ? (line.split("/").at(-1) ?? line) : line;
}
