// One item of a conversation.

import type { VNode } from "preact";
import { prefs } from "../app/prefs.ts";
import type { Conversation, NoteItem, PromptItem, ResultItem, TextItem } from "../model/conversation.ts";
import { hasFailed } from "../model/conversation.ts";
import type { RowItem } from "../model/runs.ts";
import { isMarkdown } from "../text/blocks.ts";
import { compactTokens, dollars, duration } from "../text/format.ts";
import { Attached } from "./attached.tsx";
import { useFold } from "./folds.ts";
import { Icon } from "./icons.tsx";
import { MessageActions } from "./message-actions.tsx";
import { Markdown } from "./markdown.tsx";
import { Output } from "./output.tsx";
import { TextParts } from "./text-parts.tsx";
import { InOrder } from "./revealed.tsx";
import { Time } from "./time.tsx";
import { Run } from "./run.tsx";
import { ToolCard } from "./tool.tsx";

export function ItemView({ item, all }: { item: RowItem; all: Conversation }): VNode | null {
  switch (item.kind) {
    case "run":
      return <Run run={item} all={all} />;
    case "prompt":
      return <Prompt item={item} all={all} />;
    case "text":
      return <Answer item={item} all={all} />;
    case "thinking":
      return <Thought item={item} />;
    case "tool":
      return <ToolCard tool={item} all={all} />;
    case "note":
      return <Note item={item} />;
    case "result":
      return <Result item={item} />;
  }
}

/** Estimated height in pixels of an item that was not drawn yet. */
export function guessHeight(item: RowItem): number {
  switch (item.kind) {
    case "run":
      return 44;
    case "prompt":
      return 60 + 22 * Math.min(20, item.text.length / 80) + 200 * item.attachments.filter((word) => word.startsWith("image")).length;
    case "text":
      return 16 + 24 * Math.ceil(item.text.length / 85);
    case "thinking":
      return 36;
    case "tool":
      return item.retracted ? 0 : 90;
    case "note":
      return item.topic === "system" ? 0 : 44;
    case "result":
      return 34;
  }
}

function Answer({ item, all }: { item: TextItem; all: Conversation }): VNode | null {
  if (item.text.trim() === "") return null;
  return (
    <div class={item.open ? "answer open" : "answer"}>
      <Markdown text={item.text} open={item.open} />
      {!item.open && <MessageActions item={item} all={all} />}
    </div>
  );
}

function Prompt({ item, all }: { item: PromptItem; all: Conversation }): VNode {
  const [open, toggle] = useFold(`prompt-${item.key}`, false);
  const isPerson = item.origin === undefined || item.origin === "human";
  const long = item.text.length > 1200;
  return (
    <div class={`prompt${isPerson ? "" : " other"}${item.dropped === undefined ? "" : " dropped"}`}>
      <span class="who">
        {isPerson ? "You" : (item.origin ?? "").replaceAll("-", " ")} <Time at={item.at} />
      </span>
      {item.text !== "" && <p class="prompt-text" dir="auto"><InOrder text={long && !open ? `${item.text.slice(0, 1000)}…` : item.text} /></p>}
      {long && (
        <button type="button" class="link" onClick={toggle}>
          {open ? "Show less" : `Show all ${item.text.length.toLocaleString("en-GB")} characters`}
        </button>
      )}
      <Attached attachments={item.attachments} uuid={item.uuid} />
      <MessageActions item={item} all={all} />
      {item.dropped !== undefined && <p class="prompt-dropped">The agent never read this ({item.dropped}).</p>}
    </div>
  );
}

function Thought({ item }: { item: TextItem }): VNode | null {
  const [open, toggle] = useFold(`thought-${item.key}`, false);
  if (item.text.trim() === "") return null;
  // Only the visible part is processed: a long block of reasoning grows many times a second.
  const line = (item.open ? item.text.slice(-400) : item.text.slice(0, 400)).trim().replaceAll(/\s+/g, " ");
  return (
    <div class={item.open ? "thought open" : "thought"}>
      <button type="button" class="thought-head" aria-expanded={open} onClick={toggle}>
        <Icon name="brain" />
        <span class="thought-title">{item.open ? "Thinking" : "Thought"}</span>
        {!open && <span class="thought-line"><InOrder text={item.open ? line.slice(-160) : line.slice(0, 160)} /></span>}
      </button>
      {open && <p class="thought-text" dir="auto"><TextParts text={item.text} /></p>}
    </div>
  );
}

function Note({ item }: { item: NoteItem }): VNode | null {
  if (item.topic === "system" && !prefs.value.showAll) return null;
  if (item.topic === "display") return <div class="note display">{isMarkdown(item.text) ? <Markdown text={item.text} /> : <Output text={item.text} name={item.key} />}</div>;
  if (item.topic === "summary") {
    return (
      <details class="note summary">
        <summary>Summary of the compacted conversation</summary>
        <p dir="auto"><InOrder text={item.text} /></p>
      </details>
    );
  }
  if (item.topic === "compacted") {
    return (
      <div class="mark-line">
        <span>
          <Icon name="compress" /> {item.text}
        </span>
      </div>
    );
  }
  return (
    <div class={`note ${item.tone}`} role={item.tone === "error" ? "alert" : undefined}>
      {(item.tone === "error" || item.tone === "warning") && <Icon name="alert" />}
      <p dir="auto"><InOrder text={item.text} /></p>
    </div>
  );
}

function Result({ item }: { item: ResultItem }): VNode {
  const { result } = item;
  const used = result.usage;
  const parts = [
    result.duration_ms === undefined ? undefined : duration(result.duration_ms),
    result.num_turns === undefined || result.num_turns <= 1 ? undefined : `${result.num_turns} rounds`,
    used === undefined ? undefined : `${compactTokens(used.output_tokens)} tokens out`,
    item.costUsd === undefined || item.costUsd === 0 ? undefined : dollars(item.costUsd),
  ].filter((part) => part !== undefined);
  const failed = hasFailed(result);
  return (
    <div class={failed ? "result bad" : "result"}>
      {failed && !item.told && (
        <p class="result-error">
          <Icon name="alert" /> <InOrder text={turnError(result.subtype, result.error)} />
        </p>
      )}
      <p>{parts.join(" · ")}{item.at !== undefined && parts.length > 0 && " · "}<Time at={item.at} /></p>
    </div>
  );
}

function turnError(subtype: string, error: string | undefined): string {
  const words: Record<string, string> = {
    error_max_turns: "The turn reached its maximum number of rounds.",
    error_max_budget_usd: "The turn reached its budget.",
    error_during_execution: "An error occurred during the turn.",
  };
  if (error !== undefined && error !== "") return error;
  return words[subtype] ?? `The turn ended with ${subtype.replaceAll("_", " ")}.`;
}
