// Inputs that an answer changed. A session file has only the model's input; the server's journal has the one
// that ran.

import { getJson } from "../net/api.ts";
import type { Snapshot, UiMessage } from "../wire.ts";
import { sessions } from "./list.ts";

const EVENTS_MAX = 2000;
const BYTES_MAX = 1_000_000;

/** Decisions that changed an input, as far back as one snapshot of the session that wrote this file. */
export async function editedInputs(cliSessionId: string): Promise<UiMessage[]> {
  const host = [...sessions.value.values()].find((session) => session.cli_session_ids.includes(cliSessionId));
  if (host === undefined) return [];
  const { events } = await getJson<Snapshot>(`sessions/${encodeURIComponent(host.key)}/snapshot`, { limit: EVENTS_MAX, bytes: BYTES_MAX });
  return (events as UiMessage[]).filter((event) => "PermissionResolved" in event && event.PermissionResolved.updated_input !== undefined);
}
