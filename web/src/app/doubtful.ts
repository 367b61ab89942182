// Prompts that were handed to an agent that ended before it gave a sign. No event tells of them, so the server is asked.

import { getJson, send } from "../net/api.ts";
import type { QueueList, QueuedInput, SessionView, WholePrompt } from "../wire.ts";
import { useFetched } from "./fetched.ts";
import { saidHere, tell } from "./store.ts";

/** Those of a session. Whatever puts a prompt into doubt, or settles it, changes how the session stands. */
export function useDoubtful({ key, queued, state }: SessionView): readonly QueuedInput[] {
  const path = queued === 0 ? undefined : `${pathOf(key)}/queue`;
  const { value } = useFetched<QueueList>(path, {}, `${queued} ${state}`);
  return (value?.items ?? []).filter((one) => one.state === "uncertain");
}

/** Takes a prompt out of the queue. One that is in doubt may have been read all the same. */
export async function cancelPrompt(session: string, id: string): Promise<void> {
  await send("DELETE", `${pathOf(session)}/queue/${encodeURIComponent(id)}`);
}

/** Says a prompt that is in doubt, or that a failed session holds, once more, with all that came with it. */
export async function sayAgain(session: string, { id, content, attachments: count }: Pick<QueuedInput, "id" | "content" | "attachments">): Promise<void> {
  // The server has them only as long as the prompt waits.
  const { attachments } = count === 0 ? { attachments: [] } : await getJson<WholePrompt>(`${pathOf(session)}/prompts/${encodeURIComponent(id)}`);
  // Whoever takes it out says it, so that two devices do not.
  await cancelPrompt(session, id);
  tell((clientId) => ({ type: "input", session, input: { content, delivery: "queue", attachments, client_id: clientId } as never }));
  saidHere.value += 1;
}

function pathOf(session: string): string {
  return `sessions/${encodeURIComponent(session)}`;
}
