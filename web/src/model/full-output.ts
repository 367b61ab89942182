// Output that the server has cut, and its full version.

import type { JsonValue, UiMessage } from "../wire.ts";
import type { Item } from "./conversation.ts";
import { resultText } from "./tools.ts";

/** Maximum length of a cut output; longer texts are not searched. */
const CUT_MAX = 16_384;
const MARK = /^… \d+ of (\d+) bytes left out$/gm;

/** Size in bytes of an output before it was cut; `undefined` for an uncut one. */
export function bytesBefore(text: string): number | undefined {
  return marks(text)[0]?.bytes;
}

/** Size in bytes of an output that the agent has put into a file, and whose beginning is in the result. */
export function persistedBytes(account: JsonValue | undefined): number | undefined {
  const size = typeof account === "object" && account !== null && !Array.isArray(account) ? account["persistedOutputSize"] : undefined;
  return typeof size === "number" ? size : undefined;
}

/** Finds the full version of a cut text among all strings of its call. */
export function fullText(cut: string, events: readonly UiMessage[]): string | undefined {
  const found = strings(events as unknown as JsonValue);
  for (const { head, bytes } of marks(cut)) {
    const whole = found.find((text) => resultText(text).startsWith(head) && byteLength(text) === bytes);
    if (whole !== undefined) return resultText(whole);
  }
  const isPersisted = events.some((event) => persistedBytes(accountOf(event)) !== undefined);
  return isPersisted ? continuation(marks(cut)[0]?.head ?? cut, found) : undefined;
}

/** The longest text that begins like the beginning of an output and goes on. */
function continuation(beginning: string, found: readonly string[]): string | undefined {
  const longer = found.filter((text) => text.startsWith(beginning) && text.length > beginning.length);
  return longer.sort((one, other) => other.length - one.length)[0];
}

function accountOf(event: UiMessage): JsonValue | undefined {
  if ("Lane" in event) return accountOf(event.Lane.event);
  return "ToolDetails" in event ? event.ToolDetails.tool_use_result : undefined;
}

/** Ids of the calls with an input or output that the server has cut. */
export function cutCalls(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "tool" && (persistedBytes(item.account) !== undefined || [item.result ?? null, item.account ?? null, item.input].some((part) => strings(part).some((text) => bytesBefore(text) !== undefined))) ? [item.id] : []));
}

/** True if an event contains the text; letter case does not count. */
export function says(events: readonly UiMessage[], text: string): boolean {
  const sought = text.trim().toLowerCase();
  return strings(events as unknown as JsonValue).some((one) => one.toLowerCase().includes(sought));
}

function marks(text: string): { head: string; bytes: number }[] {
  if (text.length > CUT_MAX) return [];
  return [...text.matchAll(MARK)].map((mark) => ({ head: text.slice(0, mark.index).replace(/\n$/, ""), bytes: Number(mark[1]) }));
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Every string in a value. */
function strings(value: JsonValue): string[] {
  const found: string[] = [];
  const open: (JsonValue | undefined)[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") found.push(next);
    else if (Array.isArray(next)) open.push(...next);
    else if (next !== null && typeof next === "object") open.push(...Object.values(next));
  }
  return found;
}
