// What a session is called, wherever it is named.

import { baseName } from "../text/format.ts";
import type { SessionView } from "../wire.ts";

/** Its title; without one, or with one that was emptied, what was said first, and before that its folder. */
export function nameOf(session: Pick<SessionView, "title" | "first_prompt" | "cwd">): string {
  return session.title?.trim() || session.first_prompt || baseName(session.cwd);
}
