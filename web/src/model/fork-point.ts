// The point of a conversation at which a message forks it.

import type { ForkPoint } from "../wire.ts";
import type { Item, PromptItem, TextItem } from "./conversation.ts";

/** Number of characters by which a block of an answer is recognised. */
const BEGINNING_CHARS = 200;

/** The point before a prompt, or after a block of an answer; `undefined` if the prompt is not loaded, or was never read. */
export function forkPointOf(items: readonly Item[], item: PromptItem | TextItem): ForkPoint | undefined {
  if (item.kind === "prompt") return item.uuid === undefined || item.dropped !== undefined ? undefined : { prompt: item.uuid };
  const end = items.indexOf(item);
  const start = items.findLastIndex((one, index) => index < end && one.kind === "prompt" && one.uuid !== undefined && one.dropped === undefined);
  const prompt = items[start];
  if (prompt?.kind !== "prompt" || prompt.uuid === undefined) return undefined;
  const answer = beginning(item.text);
  const skip = items.slice(start, end).filter((one) => one.kind === "text" && one.text.trim().startsWith(answer)).length;
  return { prompt: prompt.uuid, answer, ...(skip === 0 ? {} : { skip }) };
}

function beginning(text: string): string {
  return [...text.trim()].slice(0, BEGINNING_CHARS).join("").trim();
}
