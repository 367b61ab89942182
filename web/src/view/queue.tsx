// Unfinished prompts: those that the agent may not have received, those in the server's queue, and unsent
// ones.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { UnsentCommand } from "@tidings/client";
import { cancelPrompt, sendAgain, useUncertain } from "../app/uncertain.ts";
import { putBack } from "../app/drafts.ts";
import { withdrawCommand, unsentCommands, hasScope, problemText, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { describeAttachments } from "../model/attached.ts";
import { can, hasTerminal } from "../model/capabilities.ts";
import type { Conversation } from "../model/conversation.ts";
import { count } from "../text/format.ts";
import type { QueuedInput, SessionView } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { ServerText } from "./server-text.tsx";

export function Queue({ all, session }: { all: Conversation; drawn: number; session: SessionView }): VNode | null {
  const doubtful = useUncertain(session);
  const mine = unsentCommands.value.filter((unsent) => unsent.command.session === session.key && isShown(unsent));
  // If the server ended between two events, the events may still list it as queued.
  const waiting = all.queue.filter(({ uuid }) => !doubtful.some(({ id }) => id === uuid));
  if (doubtful.length === 0 && waiting.length === 0 && mine.length === 0) return null;
  return (
    <ul class="queue" aria-label="Queued prompts">
      {doubtful.map((one) => (
        <Doubtful key={one.id} session={session} prompt={one} />
      ))}
      {waiting.map((one) => (
        <li key={one.uuid}>
          <Icon name="clock" />
          <span class="queue-text" dir="auto"><InOrder text={[one.text, describeAttachments(one.attachments)].filter((part) => part !== "").join(" · ")} /></span>
          <span class="muted">queued{one.by === undefined ? "" : ` by ${one.by}`}{hasTerminal(session) && " until the terminal is free"}</span>
          {hasScope("prompt") && (
            <button type="button" class="ghost small" onClick={() => attempt(cancelPrompt(session.key, one.uuid))} aria-label={`Cancel: ${one.text.slice(0, 60)}`}>
              <Icon name="cross" />
            </button>
          )}
        </li>
      ))}
      {mine.map((unsent) => (
        <Unsent key={unsent.clientId} unsent={unsent} />
      ))}
    </ul>
  );
}

/**
 * A prompt delivered to an agent that ended without confirming it: the user decides to send it again or not.
 */
function Doubtful({ session, prompt }: { session: SessionView; prompt: QueuedInput }): VNode {
  const { id, content, attachments } = prompt;
  const [busy, setBusy] = useState(false);
  const settle = (doing: Promise<void>) => {
    setBusy(true);
    void attempt(doing).finally(() => setBusy(false));
  };
  const about = content.slice(0, 60);
  return (
    <li class="doubtful">
      <Icon name="alert" />
      <span class="queue-text" dir="auto"><InOrder text={[content, attachments > 0 ? count(attachments, "attachment") : ""].filter((part) => part !== "").join(" · ")} /></span>
      <span class="queue-why muted">The agent ended before it confirmed this prompt: it may or may not have read it.</span>
      {hasScope("prompt") && (
        <span class="queue-ways">
          {can(session, "prompt") && (
            <button type="button" class="small" disabled={busy} aria-label={`Send again: ${about}`} onClick={() => settle(sendAgain(session.key, prompt))}>
              Send again
            </button>
          )}
          <button type="button" class="ghost small" disabled={busy} aria-label={`Dismiss: ${about}`} onClick={() => settle(cancelPrompt(session.key, id))}>
            Dismiss
          </button>
        </span>
      )}
    </li>
  );
}

function attempt(doing: Promise<void>): Promise<void> {
  return doing.catch((error: unknown) => showToast("error", errorText(error)));
}

/**
 * Prompts are shown at once; settings and other commands only when they are late. Answers are shown by their
 * cards.
 */
function isShown({ command, delayed }: UnsentCommand): boolean {
  return command.type === "input" || (command.type === "command" && delayed !== undefined);
}

function Unsent({ unsent }: { unsent: UnsentCommand }): VNode {
  const { command, problem, delayed } = unsent;
  const text = command.type === "input" ? command.input.content : command.type === "command" ? command.command : "";
  const attached = command.type === "input" ? (command.input.attachments ?? []).map(({ media_type }) => media_type) : [];
  const takeBack = () => {
    if (command.type === "input") {
      putBack(command.session, text);
      if (attached.length > 0) showToast("plain", "The text is back in the prompt field. Attach its pictures and files again.");
    }
    withdrawCommand(unsent.clientId);
  };
  return (
    <li class={problem === undefined ? undefined : "bad"}>
      {problem === undefined ? <Spinner /> : <Icon name="alert" />}
      <span class="queue-text" dir="auto"><InOrder text={[text, describeAttachments(attached)].filter((part) => part !== "").join(" · ")} /></span>
      <span class="queue-why muted"><ServerText text={problem === undefined ? `not sent yet${delayed === undefined ? "" : `: ${problemText(delayed)}`}` : problemText(problem)} /></span>
      <button type="button" class="ghost small" aria-label={`Withdraw: ${text.slice(0, 60)}`} onClick={takeBack}>
        <Icon name="cross" />
      </button>
    </li>
  );
}
