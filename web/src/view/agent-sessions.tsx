// Past sessions of another agent, below the form for a new one. The agent is started to list them, so only on demand.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { now } from "../app/clock.ts";
import { hostOf } from "../app/list.ts";
import { resumeFile } from "../app/sessions.ts";
import { errorText } from "../app/store.ts";
import { getJson } from "../net/api.ts";
import { age, baseName } from "../text/format.ts";
import type { Transcript, TranscriptList } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { ServerText } from "./server-text.tsx";

const PAGE = 20;

/** `folder` is the folder of the form: some agents list the sessions of one folder only. */
export function AgentSessions({ backend, folder }: { backend: string; folder: string }): VNode {
  const [pages, setPages] = useState<readonly TranscriptList[]>([]);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const next = pages.at(-1)?.next;
  const load = () => {
    setBusy(true);
    setProblem("");
    getJson<TranscriptList>("transcripts", { backend, limit: PAGE, after: next, cwd: folder === "" ? undefined : folder })
      .then((page) => setPages([...pages, page]), (error: unknown) => setProblem(errorText(error)))
      .finally(() => setBusy(false));
  };
  const items = pages.flatMap((page) => page.items);
  return (
    <section class="resume" aria-label={`Resume a session of ${backend}`}>
      <h3>Or resume a session of {backend}</h3>
      {items.length > 0 && (
        <ul class="resume-list">
          {items.map((one) => (
            <Row key={one.id} one={one} backend={backend} />
          ))}
        </ul>
      )}
      {pages.length > 0 && items.length === 0 && next === undefined && <p class="muted">It lists no session in a folder of this server.</p>}
      {problem !== "" && <p class="warn-line" role="alert"><ServerText text={problem} /></p>}
      {(pages.length === 0 || next !== undefined) && (
        <button type="button" disabled={busy} onClick={load}>
          {busy ? <Spinner /> : <Icon name="clock" />} {pages.length === 0 ? "List its sessions" : "Show more"}
        </button>
      )}
    </section>
  );
}

function Row({ one, backend }: { one: Transcript; backend: string }): VNode {
  const [busy, setBusy] = useState(false);
  const name = one.title ?? one.id;
  const isOpen = hostOf(one.id) !== undefined;
  const resume = () => {
    setBusy(true);
    void resumeFile(one.id, one.cwd, { backend, ...(one.title === undefined || one.title === null ? {} : { title: one.title }) }).finally(() => setBusy(false));
  };
  return (
    <li>
      <span class="resume-name">
        <span class="cut"><bdi><InOrder text={name} /></bdi></span>
        <span class="muted">{[baseName(one.cwd ?? one.project), one.modified == null ? "" : age(one.modified, now.value)].filter(Boolean).join(" · ")}</span>
      </span>
      <button type="button" disabled={busy} aria-label={`${isOpen ? "Open" : "Resume"} ${name}`} onClick={resume}>
        {busy ? <Spinner /> : <Icon name="play" />} {isOpen ? "Open" : "Resume"}
      </button>
    </li>
  );
}
