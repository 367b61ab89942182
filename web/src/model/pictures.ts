// Pictures in tool outputs.

import type { JsonValue } from "../wire.ts";
import { fields, list, text } from "./tools.ts";

export interface Picture {
  /** Media type, one that a browser displays without running code. */
  type: string;
  base64: string;
}

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** True if a browser displays the type without running code. */
export function isPicture(type: string): boolean {
  return TYPES.has(type);
}

/** A read file is one picture; the result of an MCP tool may contain several. */
export function picturesOf(account: JsonValue | undefined): Picture[] {
  const { file, content } = fields(account);
  const read = { type: text(fields(file)["type"]), base64: text(fields(file)["base64"]) };
  const told = [...list(account), ...list(content)].map(fields).map((part) => {
    const source = fields(part["source"]);
    return { type: text(source["media_type"]) ?? text(part["mimeType"]), base64: text(source["data"]) ?? text(part["data"]) };
  });
  return [read, ...told].filter((one): one is Picture => one.type !== undefined && isPicture(one.type) && one.base64 !== undefined && one.base64 !== "");
}
