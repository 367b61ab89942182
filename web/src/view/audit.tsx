// The audit log: who decided what, with filters.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { download } from "../app/export.ts";
import { useTries } from "../app/fetched.ts";
import { viewOf } from "../app/list.ts";
import { href } from "../app/route.ts";
import { errorText } from "../app/store.ts";
import type { AuditLine } from "../model/audit.ts";
import { filterAudit, parseAudit } from "../model/audit.ts";
import { nameOf } from "../model/name.ts";
import { getText } from "../net/api.ts";
import { count, duration } from "../text/format.ts";
import { Bones } from "./blank.tsx";
import { Failed } from "./failed.tsx";
import { InOrder } from "./revealed.tsx";

const PAGE = 25;

export function AuditLog(): VNode {
  const [text, setText] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [tries, again] = useTries(problem !== "");
  const [decision, setDecision] = useState("");
  const [filter, setFilter] = useState("");
  const [shown, setShown] = useState(PAGE);
  useEffect(() => {
    getText("audit").then(
      (log) => {
        setText(log);
        setProblem("");
      },
      (error: unknown) => setProblem(errorText(error)),
    );
  }, [tries]);
  if (problem !== "") return <Failed problem={problem} again={again} />;
  if (text === undefined) return <Bones count={3} label="Loading the audit log" />;
  const { lines, broken } = parseAudit(text);
  const kinds = [...new Set(lines.map((line) => line.decision))].sort();
  const found = filterAudit(lines, decision, filter, sessionName);
  return (
    <>
      <div class="audit-tools">
        <label class="pick">
          <span class="sr">Decision</span>
          <select value={decision} onChange={(event) => setDecision(event.currentTarget.value)}>
            <option value="">All decisions</option>
            {kinds.map((kind) => <option value={kind}>{kind}</option>)}
          </select>
        </label>
        <label class="audit-filter">
          <span class="sr">Filter the audit log</span>
          <input type="search" placeholder="Who, device, session or rule" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        </label>
        <button type="button" disabled={lines.length === 0} onClick={() => download("audit.ndjson", text, "application/x-ndjson")}>Save</button>
      </div>
      <p class="muted" role="status">
        {lines.length === 0 ? "No decision was made yet." : found.length === lines.length ? count(lines.length, "decision") : `${found.length} of ${count(lines.length, "decision")}`}
        {broken > 0 && `; ${count(broken, "line")} cannot be read`}
      </p>
      <ul class="audit">
        {found.slice(0, shown).map((line) => (
          <Line key={line.number} line={line} />
        ))}
      </ul>
      {found.length > shown && <button type="button" onClick={() => setShown(shown + PAGE * 4)}>Show more</button>}
    </>
  );
}

function Line({ line }: { line: AuditLine }): VNode {
  const at = new Date(line.at_us / 1000);
  const session = line.session ?? undefined;
  return (
    <li>
      <span class={/den|refus|cancel|revok/i.test(line.decision) ? "audit-what bad" : "audit-what"}>{line.decision}{line.scope != null && line.scope !== "once" && `, ${line.scope}`}</span>
      <span class="audit-who"><InOrder text={line.who} />{line.device != null && line.device !== line.who && <span class="muted"> on <InOrder text={line.device} /></span>}</span>
      <time class="muted" dateTime={at.toISOString()} title={at.toISOString()}>{at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>
      <span class="audit-more muted">
        {session !== undefined && <a href={href({ view: "session", id: session })}><InOrder text={sessionName(session)} /></a>}
        {line.rule != null && <code><InOrder text={line.rule} /></code>}
        {line.changed != null && <span>input changed</span>}
        {line.latency_ms != null && <span>after {duration(line.latency_ms)}</span>}
      </span>
    </li>
  );
}

function sessionName(key: string): string {
  const session = viewOf(key);
  return session === undefined ? key.slice(0, 8) : nameOf(session);
}
