// Prompts that wait: those that the server has, and those that have not reached it.

import type { VNode } from "preact";
import { putBack } from "../app/drafts.ts";
import { dropLetter, letters, problemWords, words } from "../app/store.ts";
import { say } from "../app/toasts.ts";
import type { Conversation } from "../model/conversation.ts";
import { send } from "../net/api.ts";
import type { Letter } from "../net/outbox.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

export function Queue({ all, session }: { all: Conversation; drawn: number; session: string }): VNode | null {
  const mine = letters.value.filter((letter) => letter.command.session === session && isShown(letter));
  if (all.queue.length === 0 && mine.length === 0) return null;
  const cancel = (uuid: string) => {
    send("DELETE", `sessions/${encodeURIComponent(session)}/queue/${encodeURIComponent(uuid)}`).catch((error: unknown) => say("error", words(error)));
  };
  return (
    <ul class="queue" aria-label="Waiting to be said">
      {all.queue.map((one) => (
        <li>
          <Icon name="clock" />
          <span class="queue-text" dir="auto"><InOrder text={one.text} /></span>
          <span class="muted">queued{one.by === undefined ? "" : ` by ${one.by}`}</span>
          <button type="button" class="ghost small" onClick={() => cancel(one.uuid)} aria-label={`Cancel: ${one.text.slice(0, 60)}`}>
            <Icon name="cross" />
          </button>
        </li>
      ))}
      {mine.map((letter) => (
        <Unsent key={letter.clientId} letter={letter} />
      ))}
    </ul>
  );
}

/** Prompts at once; settings and the like only when they are late. Answers are shown by their cards. */
function isShown({ command, delayed }: Letter): boolean {
  return command.type === "input" || (command.type === "command" && delayed !== undefined);
}

function Unsent({ letter }: { letter: Letter }): VNode {
  const { command, problem, delayed } = letter;
  const text = command.type === "input" ? command.input.content : command.type === "command" ? command.command : "";
  const takeBack = () => {
    if (command.type === "input") {
      putBack(command.session, text);
      if ((command.input.attachments ?? []).length > 0) say("plain", "The text is back where you write. Its pictures and files have to be attached again.");
    }
    dropLetter(letter.clientId);
  };
  return (
    <li class={problem === undefined ? undefined : "bad"}>
      {problem === undefined ? <Spinner /> : <Icon name="alert" />}
      <span class="queue-text" dir="auto"><InOrder text={text} /></span>
      <span class="queue-why muted">{problem === undefined ? `not sent yet${delayed === undefined ? "" : `: ${problemWords(delayed)}`}` : problemWords(problem)}</span>
      <button type="button" class="ghost small" aria-label={`Take back: ${text.slice(0, 60)}`} onClick={takeBack}>
        <Icon name="cross" />
      </button>
    </li>
  );
}
