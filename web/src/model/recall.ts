// Earlier prompts of a session, recalled with the arrow keys.

import type { Item } from "./conversation.ts";

/** Prompts that the user has written, the oldest first, each once, at the place of its last use. */
export function earlierPrompts(items: readonly Item[]): string[] {
  const texts = items.flatMap((item) => (item.kind === "prompt" && item.text.trim() !== "" ? [item.text] : []));
  return texts.filter((text, index) => texts.lastIndexOf(text) === index);
}

/**
 * The text to show after an arrow key, or `undefined` if the key moves the cursor instead. `current` is the content of
 * the field: an empty one, or a recalled prompt that was not changed.
 */
export function recall(prompts: readonly string[], current: string, key: string): string | undefined {
  const at = current === "" ? prompts.length : prompts.lastIndexOf(current);
  if (at === -1 || prompts.length === 0) return undefined;
  if (key === "ArrowUp") return at === 0 ? undefined : prompts[at - 1];
  if (key === "ArrowDown" && at < prompts.length) return prompts[at + 1] ?? "";
  return undefined;
}
