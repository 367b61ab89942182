// Pictures and files that go with a prompt.

import type { Signal } from "@preact/signals";
import { signal } from "@preact/signals";
import { type Attachment, INPUT_BYTES_MAX } from "../wire.ts";

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"];
/** Left for the words of the prompt, and for what stands around them. */
const WORDS_BYTES = 64 * 1024;
/** Bytes of the files that go with one prompt: in base64, three of them are four. */
const BYTES_MAX = Math.floor((INPUT_BYTES_MAX - WORDS_BYTES) / 4) * 3;

/** Bytes of a picture that goes as it is. */
const PICTURE_BYTES = 1024 * 1024;
/** Pixels of a side that models look at; cameras take more. */
const SIDE_MAX = 2576;

export const ACCEPTED = TYPES.join(",");

export interface Picked {
  attachment: Attachment;
  /** For a look at it; only pictures have one. */
  preview: string | undefined;
}

const kept = new Map<string, Signal<readonly Picked[]>>();

/** What is attached to the prompt that is being written in a session. It stays while other sessions are looked at. */
export function pickedOf(session: string): Signal<readonly Picked[]> {
  const known = kept.get(session) ?? signal<readonly Picked[]>([]);
  kept.set(session, known);
  return known;
}

/** Reads files that are to go with others; those that cannot be sent are named with the reason. */
export async function pick(files: Iterable<File>, others: readonly Picked[]): Promise<{ picked: Picked[]; refused: string[] }> {
  const picked: Picked[] = [];
  const refused: string[] = [];
  let bytes = others.reduce((sum, { attachment }) => sum + (attachment.data.length / 4) * 3, 0);
  // A field that is emptied meanwhile, so that the same file can be chosen again, takes its list with it.
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

/** A large picture as small as a model would make it; anything else as it is, and so is what the browser cannot draw. */
async function fitting(file: File): Promise<Blob> {
  if (!file.type.startsWith("image/") || file.type === "image/gif" || file.size <= PICTURE_BYTES) return file;
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, SIDE_MAX / Math.max(picture.width, picture.height));
    const canvas = new OffscreenCanvas(Math.ceil(picture.width * scale), Math.ceil(picture.height * scale));
    const paper = canvas.getContext("2d")!;
    // What can be seen through would be black.
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
  // In parts: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
