// Name of a session.

import { baseName } from "../text/format.ts";
import type { SessionView } from "../wire.ts";

/** The title; without one, the last prompt, as in lists of sessions on disk; else the folder. */
export function nameOf(session: Pick<SessionView, "title" | "first_prompt" | "last_prompt" | "cwd">): string {
  return session.title?.trim() || session.last_prompt || session.first_prompt || baseName(session.cwd);
}
