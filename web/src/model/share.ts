// Names for what another app shares with the page, used by the page and its service worker.

/** Path that the browser posts shared content to; the service worker answers it. */
export const SHARE_PATH = "share";
export const SHARE_CACHE = "shared";
export const SHARE_TEXT = "shared-text";
/** Parameter with the name of a shared file. */
export const SHARE_FILE = "shared-file";

/** Title, text and address in one prompt, each once. */
export function sharedPrompt(parts: readonly (string | null)[]): string {
  const given = parts.map((part) => part?.trim() ?? "").filter((part) => part !== "");
  return given.filter((part, index) => !given.some((other, at) => at !== index && (other.includes(part) && (other !== part || at < index)))).join("\n\n");
}
