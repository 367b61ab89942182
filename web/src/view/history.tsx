// Sessions on disk: browse, search, read, resume.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { copies, refreshArchive } from "../app/archive.ts";
import { now } from "../app/clock.ts";
import { useFetched, useTries } from "../app/fetched.ts";
import { fileName } from "../app/list.ts";
import type { Wanted } from "../app/route.ts";
import { amend, href } from "../app/route.ts";
import { errorText } from "../app/store.ts";
import { getJson } from "../net/api.ts";
import { age, baseName, bytes, count, dollars, shortNames } from "../text/format.ts";
import type { Transcript, TranscriptHit, TranscriptHits, TranscriptList } from "../wire.ts";
import { Failed } from "./failed.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { PastSession } from "./past.tsx";
import { InOrder } from "./revealed.tsx";

const PAGE = 50;
const TYPING_MS = 250;
const AROUND_CHARS = 40;
/** Number of sessions whose names are fetched for search results. */
const NAMED_MAX = 1000;

type Sort = "newest" | "oldest" | "largest";
const SORTS: [Sort, string][] = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["largest", "Largest first"],
];

export function History({ id, wanted }: { id: string | undefined; wanted: Wanted }): VNode {
  if (id !== undefined) return <PastSession key={`${id} ${wanted.around ?? ""}`} id={id} wanted={wanted} />;
  return <TranscriptList wanted={wanted} />;
}

/** The search is part of the address, so that Back from a session returns to the results. */
function TranscriptList({ wanted }: { wanted: Wanted }): VNode {
  const query = wanted.words ?? "";
  const [text, setText] = useState(query);
  const asked = useRef(query);
  const ask = (more: Wanted) => amend({ view: "history", id: undefined, wanted: { ...wanted, ...more } });
  useEffect(() => {
    // The user went to another address in the meantime; the pending search is obsolete.
    if (query !== asked.current) setText(query);
    asked.current = query;
  }, [query]);
  useEffect(() => {
    if (text.trim() === asked.current) return undefined;
    const timer = setTimeout(() => {
      asked.current = text.trim();
      ask({ words: text.trim() });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>History</h2>
        <label class="search-field">
          <span class="sr">Search in all sessions</span>
          <input type="search" placeholder="Search in all sessions" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      </header>
      <div class="sheet-body">{query.length >= 2 ? <Hits query={query} /> : <Browse wanted={wanted} ask={ask} />}</div>
    </div>
  );
}

function Browse({ wanted, ask }: { wanted: Wanted; ask: (more: Wanted) => void }): VNode {
  const [pages, setPages] = useState<TranscriptList[]>([]);
  const [problem, setProblem] = useState("");
  const [tries, again] = useTries(problem !== "");
  const project = wanted.project ?? "";
  const sort = SORTS.find(([name]) => name === wanted.sort)?.[0] ?? "newest";
  // Folders seen so far, independent of the current filter.
  const folders = useRef(new Set<string>(project === "" ? [] : [project]));
  const load = (after: string | undefined) => {
    getJson<TranscriptList>("transcripts", { limit: PAGE, after, sort, project: project === "" ? undefined : project }).then(
      (page) => {
        setProblem("");
        for (const { cwd } of page.items) if (cwd != null) folders.current.add(cwd);
        setPages((before) => (after === undefined ? [page] : [...before, page]));
      },
      (error: unknown) => setProblem(errorText(error)),
    );
  };
  useEffect(() => load(undefined), [project, sort, tries]);
  const items = pages.flatMap((page) => page.items);
  const next = pages.at(-1)?.next;
  if (problem !== "") return <Failed problem={problem} again={again} />;
  if (pages.length === 0) return <p class="muted"><Spinner /> Loading sessions</p>;
  if (items.length === 0 && project === "") return <p class="muted">There are no sessions on this machine yet. They appear here once Claude Code has run.</p>;
  return (
    <>
      <div class="past-tools">
        <label class="pick">
          <span class="sr">Project</span>
          <select value={project} onChange={(event) => ask({ project: event.currentTarget.value })}>
            <option value="">All projects</option>
            {[...shortNames([...folders.current].sort())].map(([folder, name]) => (
              <option value={folder}>{name}</option>
            ))}
          </select>
        </label>
        <label class="pick">
          <span class="sr">Order</span>
          <select value={sort} onChange={(event) => ask({ sort: event.currentTarget.value })}>
            {SORTS.map(([name, label]) => (
              <option value={name}>{label}</option>
            ))}
          </select>
        </label>
      </div>
      <ul class="past-list">
        {items.map((one) => (
          <PastCard key={one.id} one={one} />
        ))}
      </ul>
      {next !== undefined && (
        <p class="older">
          <button type="button" onClick={() => load(next)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

function PastCard({ one }: { one: Transcript }): VNode {
  return (
    <li>
      <a class="past-card" href={href({ view: "history", id: one.id })}>
        <span class="past-title"><bdi><InOrder text={fileName(one.id, one.title)} /></bdi></span>
        <span class="past-facts">
          <span class="cut" title={one.cwd ?? one.project}>{baseName(one.cwd ?? one.project)}</span>
          {one.turns != null && <span>{count(one.turns, "turn")}</span>}
          {one.subagents > 0 && <span>{count(one.subagents, "sub-agent")}</span>}
          {one.branches != null && one.branches > 0 && <span>{count(one.branches, "branch", "branches")}</span>}
          <span>{bytes(one.bytes)}</span>
          {one.cost_usd != null && one.cost_usd > 0 && <span>{dollars(one.cost_usd)}</span>}
        </span>
        <span class="past-age">{one.modified == null ? "" : age(one.modified, now.value)}</span>
      </a>
    </li>
  );
}

function Hits({ query }: { query: string }): VNode {
  const { value, problem, again } = useFetched<TranscriptHits>("transcripts/search", { q: query, ignore_case: true, limit: 100 });
  const known = useFetched<TranscriptList>("transcripts", { limit: NAMED_MAX }).value;
  const hasArchived = value?.items.some(({ archived }) => archived === true) === true;
  useEffect(() => {
    if (hasArchived) void refreshArchive();
  }, [hasArchived]);
  const sessions = new Map([...copies.value, ...(known?.items ?? [])].map((one) => [one.id, one]));
  if (problem !== "") return <Failed problem={problem} again={again} />;
  if (value === undefined) return <p class="muted"><Spinner /> Searching</p>;
  if (value.items.length === 0) return <p class="muted">No session says “{query}”.</p>;
  return (
    <>
      <p class="muted" role="status">
        {value.more ? "The first " : ""}
        {count(value.items.length, "line")} with “{query}”
      </p>
      <ul class="past-list">
        {value.items.map((hit) => (
          <li key={`${hit.session}-${hit.agent ?? ""}-${hit.line}`}>
            <a class="past-card hit" href={href({ view: "history", id: hit.session, wanted: { words: query, around: around(hit) } })}>
              <span class="hit-text" dir="auto">{marked(hit)}</span>
              <span class="past-facts">
                <span>{hit.tool ?? hit.role ?? "entry"}</span>
                <Where session={sessions.get(hit.session)} id={hit.session} />
                {hit.agent !== undefined && <span>sub-agent</span>}
                {hit.archived === true && <span>archived copy</span>}
              </span>
              <span class="past-age">{hit.at == null ? "" : age(hit.at, now.value)}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Name of the session of a search result; its id if the name is unknown. */
function Where({ session, id }: { session: Transcript | undefined; id: string }): VNode {
  if (session === undefined) return <span class="mono">{id.slice(0, 8)}</span>;
  return (
    <>
      <span class="cut" title={id}><InOrder text={fileName(id, session.title)} /></span>
      <span class="cut" title={session.cwd ?? session.project}>{baseName(session.cwd ?? session.project)}</span>
    </>
  );
}

function marked(hit: TranscriptHit): VNode {
  return (
    <>
      <InOrder text={hit.text.slice(0, hit.start)} />
      <mark>{hit.text.slice(hit.start, hit.end)}</mark>
      <InOrder text={hit.text.slice(hit.end)} />
    </>
  );
}

/** Enough of the match and the text around it to find it again, and short enough for an address. */
function around(hit: TranscriptHit): string {
  return hit.text.slice(Math.max(0, hit.start - AROUND_CHARS), hit.end + AROUND_CHARS).replaceAll("…", "");
}
