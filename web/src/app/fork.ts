// Forking a session at one of its messages.

import { signal } from "@preact/signals";
import { newClientId, RemoteError } from "@tidings/client";
import type { PromptItem, TextItem } from "../model/conversation.ts";
import { FORK_LABEL } from "../model/groups.ts";
import { postJson } from "../net/api.ts";
import type { CreateSession, ForkPoint, SessionView } from "../wire.ts";
import { putBack } from "./drafts.ts";
import { remember } from "./list.ts";
import { go } from "./route.ts";
import { errorText } from "./store.ts";
import { showToast } from "./toasts.ts";

/** A session that can be forked. */
export interface ForkSource {
  /** Id of its file. */
  file: string;
  cwd: string;
  name: string;
}

/** The session on disk that is displayed. */
export const shownTranscript = signal<ForkSource | undefined>(undefined);

/** Creates a session with the conversation up to a message. The text of a prompt waits in the new session to be changed. */
export async function forkAt({ file, cwd, name }: ForkSource, item: PromptItem | TextItem, at: ForkPoint): Promise<void> {
  const request: Partial<CreateSession> = { cwd, resume: file, fork: true, fork_at: at, title: `Fork of ${name}`, labels: { [FORK_LABEL]: file }, demo: false, client_id: newClientId() };
  try {
    const session = await postJson<SessionView>("sessions", request);
    remember(session);
    if (item.kind === "prompt") putBack(session.key, item.text);
    go({ view: "session", id: session.key });
  } catch (error) {
    // Nothing comes before the first prompt: a fork there is a new session.
    if (item.kind === "prompt" && error instanceof RemoteError && error.problem.code === "invalid") {
      putBack("new", item.text);
      go({ view: "new", resume: undefined, cwd });
      return;
    }
    showToast("error", errorText(error));
  }
}
