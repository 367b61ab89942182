// Output that the server has cut, and the same in full.

import type { JsonValue, UiMessage } from "../wire.ts";
import { resultText } from "./tools.ts";

/** What is cut is at most this long; longer texts are not looked through. */
const CUT_MAX = 16_384;
const MARK = /^… \d+ of (\d+) bytes left out$/gm;

/** How many bytes an output had before it was cut; nothing for one that is whole. */
export function bytesBefore(text: string): number | undefined {
  return marks(text)[0]?.bytes;
}

/** The text that was cut, among everything that its call took and gave. */
export function wholeText(cut: string, events: readonly UiMessage[]): string | undefined {
  const found = strings(events as unknown as JsonValue);
  for (const { head, bytes } of marks(cut)) {
    const whole = found.find((text) => resultText(text).startsWith(head) && byteLength(text) === bytes);
    if (whole !== undefined) return resultText(whole);
  }
  return undefined;
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
