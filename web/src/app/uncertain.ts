// Prompts delivered to an agent that ended before it confirmed them. They have no event, so they are fetched.

import { getJson, send } from "../net/api.ts";
import type { QueueList, QueuedInput, SessionView, WholePrompt } from "../wire.ts";
import { useFetched } from "./fetched.ts";
import { promptsSent, sendCommand } from "./store.ts";

/**
 * Uncertain prompts of a session. Fetched again when the session's state changes, since that accompanies any
 * change.
 */
export function useUncertain({ key, queued, state }: SessionView): readonly QueuedInput[] {
  const path = queued === 0 ? undefined : `${pathOf(key)}/queue`;
  const { value } = useFetched<QueueList>(path, {}, `${queued} ${state}`);
  return (value?.items ?? []).filter((one) => one.state === "uncertain");
}

/** Removes a prompt from the queue. The agent may nevertheless have read an uncertain one. */
export async function cancelPrompt(session: string, id: string): Promise<void> {
  await send("DELETE", `${pathOf(session)}/queue/${encodeURIComponent(id)}`);
}

/** Sends an uncertain prompt, or one that a failed session holds, again with its attachments. */
export async function sendAgain(session: string, { id, content, attachments: count }: Pick<QueuedInput, "id" | "content" | "attachments">): Promise<void> {
  // The server has the attachments only while the prompt is queued.
  const { attachments } = count === 0 ? { attachments: [] } : await getJson<WholePrompt>(`${pathOf(session)}/prompts/${encodeURIComponent(id)}`);
  // Only the device that removes it sends it, so that two devices do not.
  await cancelPrompt(session, id);
  sendCommand((clientId) => ({ type: "input", session, input: { content, delivery: "queue", attachments, client_id: clientId } as never }));
  promptsSent.value += 1;
}

function pathOf(session: string): string {
  return `sessions/${encodeURIComponent(session)}`;
}
