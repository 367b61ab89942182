// Marks of a session that was not started by this server, or has another agent: an icon with a name.

import type { VNode } from "preact";
import type { SessionOrigin, SessionView } from "../wire.ts";
import type { IconName } from "./icons.tsx";
import { Icon } from "./icons.tsx";

const MARKS: Record<Exclude<SessionOrigin, "server">, { icon: IconName; word: string; about: string }> = {
  terminal: { icon: "terminal", word: "Terminal", about: "Started in a terminal" },
  editor: { icon: "code", word: "Editor", about: "Started in an editor" },
  background: { icon: "layers", word: "Background", about: "Started in the background" },
  unknown: { icon: "question", word: "Unknown origin", about: "Started in a way that a newer version of its server knows" },
};

export function OriginMark({ session }: { session: SessionView }): VNode | null {
  // An older server sends no origin, and a newer one may send another.
  const mark = session.origin === "server" ? undefined : MARKS[session.origin];
  if (mark === undefined) return null;
  return (
    <span class="origin" title={mark.about}>
      <Icon name={mark.icon} />
      {mark.word}
    </span>
  );
}

/** The name of an agent other than Claude Code. */
export function BackendMark({ session }: { session: SessionView }): VNode | null {
  if (session.backend === undefined) return null;
  return (
    <span class="origin" title="The agent of this session">
      <Icon name="spark" />
      {session.backend}
    </span>
  );
}
