// Prompts that wait: those that the server has, and those that have not reached it.

import type { VNode } from "preact";
import { dropLetter, letters, words } from "../app/store.ts";
import { saveDraft } from "../app/drafts.ts";
import { say } from "../app/toasts.ts";
import type { Conversation } from "../model/conversation.ts";
import { send } from "../net/api.ts";
import { Icon, Spinner } from "./icons.tsx";

export function Queue({ all, session }: { all: Conversation; drawn: number; session: string }): VNode | null {
  const mine = letters.value.filter((letter) => letter.command.type === "input" && letter.command.session === session);
  if (all.queue.length === 0 && mine.length === 0) return null;
  const cancel = (uuid: string) => {
    send("DELETE", `sessions/${encodeURIComponent(session)}/queue/${encodeURIComponent(uuid)}`).catch((error: unknown) => say("error", words(error)));
  };
  return (
    <ul class="queue" aria-label="Waiting to be said">
      {all.queue.map((one) => (
        <li>
          <Icon name="clock" />
          <span class="queue-text">{one.text}</span>
          <span class="muted">queued{one.by === undefined ? "" : ` by ${one.by}`}</span>
          <button type="button" class="ghost small" onClick={() => cancel(one.uuid)} aria-label={`Cancel: ${one.text.slice(0, 60)}`}>
            <Icon name="cross" />
          </button>
        </li>
      ))}
      {mine.map((letter) => {
        const text = letter.command.type === "input" ? letter.command.input.content : "";
        return (
          <li class={letter.problem === undefined ? undefined : "bad"}>
            {letter.problem === undefined ? <Spinner /> : <Icon name="alert" />}
            <span class="queue-text">{text}</span>
            <span class="muted">{letter.problem === undefined ? "not sent yet" : letter.problem.detail}</span>
            <button
              type="button"
              class="ghost small"
              aria-label={`Take back: ${text.slice(0, 60)}`}
              onClick={() => {
                saveDraft(session, text);
                dropLetter(letter.clientId);
              }}
            >
              <Icon name="cross" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
