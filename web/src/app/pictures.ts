// Pictures and files that go with a prompt.

import type { Attachment } from "../wire.ts";

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"];
const BYTES_MAX = 5_000_000;

export const ACCEPTED = TYPES.join(",");

export interface Picked {
  attachment: Attachment;
  /** For a look at it; only pictures have one. */
  preview: string | undefined;
}

/** Reads files; those that cannot be sent are named with the reason. */
export async function pick(files: Iterable<File>): Promise<{ picked: Picked[]; refused: string[] }> {
  const picked: Picked[] = [];
  const refused: string[] = [];
  for (const file of files) {
    if (!TYPES.includes(file.type)) refused.push(`${file.name || "This"} is neither a picture, a PDF nor plain text`);
    else if (file.size > BYTES_MAX) refused.push(`${file.name || "This"} is larger than 5 MB`);
    else {
      const data = base64(new Uint8Array(await file.arrayBuffer()));
      const preview = file.type.startsWith("image/") ? URL.createObjectURL(file) : undefined;
      picked.push({ attachment: { media_type: file.type, data, name: file.name || "picture" }, preview });
    }
  }
  return { picked, refused };
}

export function forget(picked: readonly Picked[]): void {
  for (const { preview } of picked) if (preview !== undefined) URL.revokeObjectURL(preview);
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // In parts: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
