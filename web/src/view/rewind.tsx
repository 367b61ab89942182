// Rewind: restores files to the state before a prompt. The changes are previewed first.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { newClientId } from "@tidings/client";
import { rewindTo } from "../app/jumps.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Conversation, PromptItem } from "../model/conversation.ts";
import { postJson } from "../net/api.ts";
import { count, relativePath } from "../text/format.ts";
import type { Accepted, CommandRequest, Rewound, SessionView } from "../wire.ts";
import { Spinner } from "./icons.tsx";
import { Time } from "./time.tsx";
import { ServerText } from "./server-text.tsx";

const PROMPTS_SHOWN = 50;

export function Rewind({ all, session, done }: { all: Conversation; drawn: number; session: SessionView; done: () => void }): VNode {
  const [chosen, setChosen] = useState<string | undefined>(rewindTo.value);
  useEffect(() => {
    if (rewindTo.value === undefined) return;
    setChosen(rewindTo.value);
    rewindTo.value = undefined;
  }, [rewindTo.value]);
  const prompts = all.items.filter((item): item is PromptItem => item.kind === "prompt" && item.uuid !== undefined && item.origin === undefined && item.dropped === undefined).reverse();
  if (prompts.length === 0) return <p class="muted">This session has no prompts yet.</p>;
  return (
    <>
      <p>Restores the files that the agent changed to their state before a prompt. The conversation stays.</p>
      <fieldset class="rewind">
        <legend class="sr">Rewind to before this prompt</legend>
        {prompts.filter((prompt, index) => index < PROMPTS_SHOWN || prompt.uuid === chosen).map((prompt) => (
          <>
            <label class="option">
              <input type="radio" name="rewind" checked={chosen === prompt.uuid} onChange={() => setChosen(prompt.uuid)} />
              <span class="option-label">{prompt.text.slice(0, 140)}</span>
            </label>
            <Time at={prompt.at} />
            {chosen !== undefined && chosen === prompt.uuid && (
              <div class="rewind-here" ref={inSight}>
                <Preview key={`${chosen}-${session.totals.turns}`} prompt={chosen} session={session} done={done} />
              </div>
            )}
          </>
        ))}
      </fieldset>
    </>
  );
}

/** The preview appears below the choice, and is scrolled into view while it grows. */
function inSight(element: HTMLElement | null): void {
  if (element === null) return;
  const show = () => element.scrollIntoView({ block: "nearest" });
  new ResizeObserver(show).observe(element);
  show();
}

/** The agent's preview of the restored files, and the button that rewinds. */
function Preview({ prompt, session, done }: { prompt: string; session: SessionView; done: () => void }): VNode {
  const [found, setFound] = useState<Rewound | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const ask = (dryRun: boolean) => {
    const request: CommandRequest = { prompt, dry_run: dryRun, client_id: newClientId() };
    return postJson<Accepted>(`sessions/${encodeURIComponent(session.key)}/rewind`, request);
  };
  useEffect(() => {
    ask(true).then(
      (answer) => setFound(answer.rewind ?? { files: [] }),
      (error: unknown) => setProblem(errorText(error)),
    );
  }, []);
  if (problem !== "") return <p class="warn-line" role="alert"><ServerText text={problem} /></p>;
  if (found === undefined) return <p class="muted" role="status"><Spinner /> Loading the preview</p>;
  if (found.files.length === 0) return <p class="muted" role="status">No file has changed since then.</p>;
  const put = () => {
    setBusy(true);
    ask(false).then(
      () => {
        showToast("plain", `${count(found.files.length, "file")} rewound.`);
        done();
      },
      (error: unknown) => {
        setProblem(errorText(error));
        setBusy(false);
      },
    );
  };
  return (
    <section class="rewind-preview" aria-label="Preview of the changes">
      <h4>
        {count(found.files.length, "file")}
        <span class="diff-count">
          <span class="plus">+{found.insertions ?? 0}</span> <span class="minus">−{found.deletions ?? 0}</span>
        </span>
      </h4>
      <ul class="plain-list mono">
        {found.files.map((file) => (
          <li>{relativePath(file, session.cwd)}</li>
        ))}
      </ul>
      <div class="ask-actions">
        <button type="button" class="no main" disabled={busy} onClick={put}>
          Rewind {count(found.files.length, "file")}
        </button>
      </div>
    </section>
  );
}
