// Sessions to continue, below the form for a new one: one press opens or resumes them.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { now } from "../app/clock.ts";
import { href } from "../app/route.ts";
import { entries, resumeFile } from "../app/sessions.ts";
import type { Entry } from "../model/groups.ts";
import { entryName, entryTime, folderOf } from "../model/groups.ts";
import { age, baseName, count } from "../text/format.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

const SHOWN = 6;

export function ResumeList(): VNode | null {
  const files = entries.value.filter((entry): entry is Extract<Entry, { kind: "disk" }> => entry.kind === "disk");
  const recent = [...files].sort((one, other) => entryTime(other).localeCompare(entryTime(one))).slice(0, SHOWN);
  if (recent.length === 0) return null;
  return (
    <section class="resume" aria-label="Resume a session on disk">
      <h3>Or resume one on disk</h3>
      <ul class="resume-list">
        {recent.map((entry) => (
          <ResumeRow key={entry.key} entry={entry} />
        ))}
      </ul>
      {files.length > SHOWN && <a class="muted" href={href({ view: "history", id: undefined })}>All transcripts</a>}
    </section>
  );
}

function ResumeRow({ entry }: { entry: Extract<Entry, { kind: "disk" }> }): VNode {
  const [busy, setBusy] = useState(false);
  const resume = () => {
    setBusy(true);
    void resumeFile(entry.key, entry.file.cwd).finally(() => setBusy(false));
  };
  return (
    <li>
      <a class="resume-name" href={href({ view: "history", id: entry.key })}>
        <span class="cut"><bdi><InOrder text={entryName(entry)} /></bdi></span>
        <span class="muted">
          {[baseName(folderOf(entry)), entry.file.turns == null ? "" : count(entry.file.turns, "turn"), entry.file.modified == null ? "" : age(entry.file.modified, now.value)].filter(Boolean).join(" · ")}
        </span>
      </a>
      <button type="button" disabled={busy} aria-label={`Resume ${entryName(entry)}`} onClick={resume}>
        {busy ? <Spinner /> : <Icon name="play" />} Resume
      </button>
    </li>
  );
}
