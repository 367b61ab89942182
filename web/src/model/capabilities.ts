// Actions that a session allows now.

import type { SessionCapability, SessionOrigin, SessionView } from "../wire.ts";

/** A session, also of a server that sends no list of actions. */
export interface Limits {
  capabilities?: SessionView["capabilities"] | undefined;
}

/** Slash commands that are actions on the session. */
const COMMANDS: Readonly<Record<string, SessionCapability>> = { clear: "clear", compact: "compact", model: "set_model", rewind: "rewind" };

/** True if an action is possible. Without a list every action is. */
export function can({ capabilities }: Limits, action: SessionCapability): boolean {
  return capabilities === undefined || capabilities.includes(action);
}

/** True if the session runs in a terminal that this server can show. */
export function hasTerminal({ capabilities }: Limits): boolean {
  return capabilities?.includes("terminal" as SessionCapability) === true;
}

/** Removes the slash commands whose action is not possible. */
export function possibleCommands(session: Limits, names: readonly string[]): string[] {
  return names.filter((name) => {
    const action = COMMANDS[name];
    return action === undefined || can(session, action);
  });
}

/** Where requests are answered that this server cannot answer. */
export function placeOf(origin: SessionOrigin | undefined): string {
  switch (origin) {
    case "terminal":
      return "in the terminal";
    case "editor":
      return "in the editor";
    default:
      return "where the session runs";
  }
}
