// Description of a prompt's attachments.

import { count } from "../text/format.ts";

/** Takes words or media types: a session has `image`, its queue `image/png`. */
export function describeAttachments(attachments: readonly string[]): string {
  const pictures = attachments.filter((word) => word.startsWith("image")).length;
  const files = attachments.length - pictures;
  const parts = [pictures > 0 && count(pictures, "picture"), files > 0 && count(files, "file")];
  return parts.filter((part) => part !== false).join(" and ");
}
