// The audit log: who decided what, with filters.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { download } from "../app/export.ts";
import { useTries } from "../app/fetched.ts";
import { viewOf } from "../app/list.ts";
import { href } from "../app/route.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { AuditLine } from "../model/audit.ts";
import { decisionOf, parseAudit } from "../model/audit.ts";
import { nameOf } from "../model/name.ts";
import { getText } from "../net/api.ts";
import { count, duration } from "../text/format.ts";
import { Bones } from "./blank.tsx";
import { Failed } from "./failed.tsx";
import { InOrder } from "./revealed.tsx";

const PAGE = 50;
const TYPING_MS = 250;

export function AuditLog(): VNode {
  const [lines, setLines] = useState<AuditLine[] | undefined>(undefined);
  const [more, setMore] = useState(false);
  const [broken, setBroken] = useState(0);
  const [problem, setProblem] = useState("");
  const [tries, again] = useTries(problem !== "");
  const [decision, setDecision] = useState("");
  const [filter, setFilter] = useState("");
  const [words, setWords] = useState("");
  /** Decisions seen so far, independent of the filter. */
  const kinds = useRef(new Set<string>());
  const asked = useRef(0);
  useEffect(() => {
    const timer = setTimeout(() => setWords(filter.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  const load = (before: number | undefined) => {
    asked.current += 1;
    const mine = asked.current;
    getText("audit", { limit: PAGE, before, q: words, decision, requests: true }).then(
      (text) => {
        if (mine !== asked.current) return;
        const page = parseAudit(text);
        for (const line of page.lines) kinds.current.add(line.decision);
        setProblem("");
        setMore(page.lines.length + page.broken >= PAGE);
        setBroken((known) => (before === undefined ? 0 : known) + page.broken);
        setLines((known) => (before === undefined ? page.lines : [...(known ?? []), ...page.lines]));
      },
      (error: unknown) => mine === asked.current && setProblem(errorText(error)),
    );
  };
  useEffect(() => load(undefined), [words, decision, tries]);
  const save = () => {
    getText("audit").then(
      (text) => download("audit.ndjson", text, "application/x-ndjson"),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  if (problem !== "") return <Failed problem={problem} again={again} />;
  if (lines === undefined) return <Bones count={3} label="Loading the audit log" />;
  const isFiltered = words !== "" || decision !== "";
  return (
    <>
      <div class="audit-tools">
        <label class="pick">
          <span class="sr">Decision</span>
          <select value={decision} onChange={(event) => setDecision(event.currentTarget.value)}>
            <option value="">All decisions</option>
            {[...kinds.current].sort().map((kind) => <option value={kind}>{kind}</option>)}
          </select>
        </label>
        <label class="audit-filter">
          <span class="sr">Filter the audit log</span>
          <input type="search" placeholder="Who, device, session or rule" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        </label>
        <button type="button" onClick={save}>Save</button>
      </div>
      <p class="muted" role="status">
        {lines.length === 0 ? (isFiltered ? "No decision fits." : "No decision was made yet.") : `${more ? "The newest " : ""}${count(lines.length, "decision")}${isFiltered ? (lines.length === 1 ? " that fits" : " that fit") : ""}`}
        {broken > 0 && `; ${count(broken, "line")} cannot be read`}
      </p>
      <ul class="audit">
        {lines.map((line) => (
          <Line key={line.number} line={line} />
        ))}
      </ul>
      {more && <button type="button" onClick={() => load(lines.at(-1)?.number)}>Show earlier decisions</button>}
    </>
  );
}

function Line({ line }: { line: AuditLine }): VNode {
  const at = new Date(line.at_us / 1000);
  const session = line.session ?? undefined;
  return (
    <li>
      <span class={/den|refus|cancel|revok/i.test(line.decision) ? "audit-what bad" : "audit-what"}>{decisionOf(line)}{line.scope != null && line.scope !== "once" && `, ${line.scope}`}</span>
      <span class="audit-who"><InOrder text={line.who} />{line.device != null && line.device !== line.who && <span class="muted"> on <InOrder text={line.device} /></span>}</span>
      <time class="muted" dateTime={at.toISOString()} title={at.toISOString()}>{at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>
      {line.request !== undefined && (
        <span class="audit-request">
          {line.request.tool} <code><InOrder text={(line.request.ran ?? line.request.target).split("\n")[0] ?? ""} /></code>
        </span>
      )}
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
