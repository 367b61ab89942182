// What came with a prompt, in words.

import { count } from "../text/format.ts";

/** From a word or a type for each: a session tells `image`, its queue `image/png`. */
export function attachedWords(attachments: readonly string[]): string {
  const pictures = attachments.filter((word) => word.startsWith("image")).length;
  const files = attachments.length - pictures;
  const parts = [pictures > 0 && count(pictures, "picture"), files > 0 && count(files, "file")];
  return parts.filter((part) => part !== false).join(" and ");
}
