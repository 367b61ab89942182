// Name of a session.

import { baseName } from "../text/format.ts";
import type { SessionView } from "../wire.ts";

/** The title; without one, the first prompt, else the folder. */
export function nameOf(session: Pick<SessionView, "title" | "first_prompt" | "cwd">): string {
  return session.title?.trim() || session.first_prompt || baseName(session.cwd);
}
