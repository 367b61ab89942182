// Attachments of a prompt: pictures and files.

import type { Signal } from "@preact/signals";
import { signal } from "@preact/signals";
import { type Attachment, INPUT_BYTES_MAX } from "../wire.ts";

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"];
/** Reserved for the prompt's text and the JSON around it. */
const WORDS_BYTES = 64 * 1024;
/** Maximum size in bytes of the files of one prompt: base64 turns three bytes into four. */
const BYTES_MAX = Math.floor((INPUT_BYTES_MAX - WORDS_BYTES) / 4) * 3;

/** Size in bytes up to which a picture is sent unchanged. */
const PICTURE_BYTES = 1024 * 1024;
/** Pixels per side that models use; cameras have more. */
const SIDE_MAX = 2576;

export const ACCEPTED = TYPES.join(",");

export interface Picked {
  attachment: Attachment;
  /** Preview; only pictures have one. */
  preview: string | undefined;
}

const kept = new Map<string, Signal<readonly Picked[]>>();

/** Attachments of a session's draft. They stay while other sessions are open. */
export function pickedOf(session: string): Signal<readonly Picked[]> {
  const known = kept.get(session) ?? signal<readonly Picked[]>([]);
  kept.set(session, known);
  return known;
}

/** Reads additional files; returns those that cannot be sent, with the reason. */
export async function pick(files: Iterable<File>, others: readonly Picked[]): Promise<{ picked: Picked[]; refused: string[] }> {
  const picked: Picked[] = [];
  const refused: string[] = [];
  let bytes = others.reduce((sum, { attachment }) => sum + (attachment.data.length / 4) * 3, 0);
  // Copied first: emptying the input, so that the same file can be chosen again, empties its list too.
  for (const file of [...files]) {
    if (!TYPES.includes(file.type)) {
      refused.push(`${file.name || "This"} is neither a picture, a PDF nor plain text`);
      continue;
    }
    const sent = await fitting(file);
    if (bytes + sent.size > BYTES_MAX) {
      refused.push(tooLarge(file, bytes));
      continue;
    }
    bytes += sent.size;
    const data = base64(new Uint8Array(await sent.arrayBuffer()));
    const preview = sent.type.startsWith("image/") ? URL.createObjectURL(sent) : undefined;
    picked.push({ attachment: { media_type: sent.type, data, name: file.name || "picture" }, preview });
  }
  return { picked, refused };
}

/**
 * Scales a large picture down to the size that models use; other files, and pictures that the browser cannot
 * draw, stay unchanged.
 */
async function fitting(file: File): Promise<Blob> {
  if (!file.type.startsWith("image/") || file.type === "image/gif" || file.size <= PICTURE_BYTES) return file;
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, SIDE_MAX / Math.max(picture.width, picture.height));
    const canvas = new OffscreenCanvas(Math.ceil(picture.width * scale), Math.ceil(picture.height * scale));
    const paper = canvas.getContext("2d")!;
    // Transparent pixels would become black.
    paper.fillStyle = "white";
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    const smaller = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
    return smaller.size < file.size ? smaller : file;
  } catch {
    return file;
  }
}

function tooLarge(file: File, before: number): string {
  const name = file.name || "This";
  const max = `${(BYTES_MAX / 1e6).toFixed(1)} MB`;
  return before === 0 ? `${name} is larger than ${max}` : `With ${name}, the files of this prompt would be larger than ${max}`;
}

export function forget(picked: readonly Picked[]): void {
  for (const { preview } of picked) if (preview !== undefined) URL.revokeObjectURL(preview);
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // In parts: a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
