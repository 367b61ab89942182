// Times of items that were folded without them: snapshots have none, and the history has them.

import type { HistoryEvent } from "../wire.ts";
import type { Conversation } from "./conversation.ts";

/** Gives the items their times. Returns true if one of them had none before. */
export function addTimes(all: Conversation, events: readonly HistoryEvent[]): boolean {
  const prompts = new Map<string, string>();
  const calls = new Map<string, string>();
  const results: string[] = [];
  for (const { event, at } of events) {
    if ("UserPrompt" in event && event.UserPrompt.uuid !== undefined) prompts.set(event.UserPrompt.uuid, at);
    else if ("ToolPreparing" in event && !calls.has(event.ToolPreparing.tool_use_id)) calls.set(event.ToolPreparing.tool_use_id, at);
    else if ("ToolExecuting" in event && !calls.has(event.ToolExecuting.tool_use_id)) calls.set(event.ToolExecuting.tool_use_id, at);
    else if ("TurnResult" in event) results.push(at);
  }
  let isChanged = false;
  // Results have no ids; the last one here is the last one there.
  for (let index = all.items.length - 1; index >= 0; index -= 1) {
    const item = all.items[index];
    if (item === undefined) continue;
    const found = item.kind === "prompt" ? prompts.get(item.uuid ?? "") : item.kind === "tool" ? calls.get(item.id) : item.kind === "result" ? results.pop() : undefined;
    if (found === undefined || item.at !== undefined) continue;
    all.items[index] = { ...item, at: found };
    isChanged = true;
  }
  return isChanged;
}
