// One session on disk, read-only.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "@tidings/client";
import { hasClaude } from "../app/agents.ts";
import { useFetched, useTries } from "../app/fetched.ts";
import { editedInputs } from "../app/edited.ts";
import { download, toMarkdown } from "../app/export.ts";
import { shownTranscript } from "../app/fork.ts";
import { fileName, hostOf } from "../app/list.ts";
import { linkedItem, savePosition, savedPosition } from "../app/scroll-positions.ts";
import { isSideBySide, prefs } from "../app/prefs.ts";
import type { Wanted } from "../app/route.ts";
import { amend, href } from "../app/route.ts";
import { resumeFile } from "../app/sessions.ts";
import { hasScope, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Conversation, Item } from "../model/conversation.ts";
import { emptyConversation } from "../model/conversation.ts";
import type { Match } from "../model/find.ts";
import { findIn } from "../model/find.ts";
import type { RowItem } from "../model/runs.ts";
import { rowKeyOf, rowPosition, rowsOf, runFold } from "../model/runs.ts";
import { FindBar } from "./find-bar.tsx";
import { openFold } from "./folds.ts";
import { fold } from "../model/fold.ts";
import { prepend } from "../model/prepend.ts";
import { getJson } from "../net/api.ts";
import { baseName, bytes, count, dollars } from "../text/format.ts";
import type { Transcript, TranscriptBranches, TranscriptEvents, UiMessage } from "../wire.ts";
import { markWords, unfold } from "./match.ts";
import { Blank, Bones } from "./blank.tsx";
import { Icon } from "./icons.tsx";
import { ItemView, guessHeight } from "./item.tsx";
import { PanelFrame } from "./panels.tsx";
import type { Talk } from "./prompts.tsx";
import { Outline, PromptNav, promptsOf } from "./prompts.tsx";
import { InOrder } from "./revealed.tsx";
import { NO_MESSAGE } from "./rows.ts";
import { ServerText } from "./server-text.tsx";
import { VirtualList } from "./virtual.tsx";

const PAGE = 1000;
/** A saved file is uncut, with pages as large as the server permits. */
const FILE_PAGE = 2000;
/** Limit for what a browser can hold: of a longer session only the end is saved, with a message. */
const FILE_PAGES_MAX = 100;
/** Number of pages that are searched for the match. */
const FIND_PAGES_MAX = 20;
const FOUND_TOP_PX = 60;

interface Past {
  about: Transcript;
  all: Conversation;
  from: number;
  more: boolean;
  /** Location of the match; `undefined` without a search or a match. */
  found?: Match | undefined;
}

export function PastSession({ id, wanted: asked }: { id: string; wanted: Wanted }): VNode {
  const { leaf, message } = asked;
  const [past, setPast] = useState<Past | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const branches = useFetched<TranscriptBranches>(`transcripts/${encodeURIComponent(id)}/branches`).value?.items ?? [];
  const [tries, again] = useTries(problem !== "");
  const wanted = useRef(0);
  const sought = asked.words === undefined || asked.around === undefined ? undefined : { words: asked.words, around: asked.around };
  const name = `past.${id}.${leaf ?? ""}`;
  const [finding, setFinding] = useState(false);
  const [outlined, setOutlined] = useState(false);
  const [jumped, setJumped] = useState<{ key: string; text: string; isMarked: boolean; count: number } | undefined>(undefined);

  useEffect(() => {
    wanted.current += 1;
    const mine = wanted.current;
    setPast(undefined);
    setProblem("");
    const load = async () => {
      const page = await read(id, { limit: PAGE, leaf });
      let whole: Past = { about: page.transcript, all: folded(page), from: page.from, more: page.more };
      if (sought === undefined) return whole;
      // Loads as many pages as needed; a match on another branch is not found.
      let found = findIn(whole.all, sought);
      for (let pages = 1; found === undefined && whole.more && pages < FIND_PAGES_MAX; pages += 1) {
        whole = await older(whole);
        found = findIn(whole.all, sought);
      }
      if (found !== undefined) {
        unfold(found);
        const item = found.item;
        const run = rowsOf(whole.all.items, () => false).find((row) => row.kind === "run" && row.calls.some((call) => call === item));
        if (run?.kind === "run") openFold(runFold(run));
      }
      return { ...whole, found };
    };
    load().then(
      (whole) => {
        if (mine !== wanted.current) return;
        setPast(whole);
        if (message !== undefined) void showLinked(whole, mine);
      },
      (error: unknown) => mine === wanted.current && setProblem(errorText(error)),
    );
  }, [id, leaf, message, tries]);

  // The list of sessions may arrive after the file.
  const host = hostOf(id);
  const isRead = past !== undefined;
  useEffect(() => {
    if (!isRead) return;
    editedInputs(id).then(
      (events) => events.length > 0 && setPast((before) => before && { ...before, all: withEvents(before.all, events) }),
      () => undefined,
    );
  }, [id, host?.key, isRead]);

  const cwd = past?.about.cwd;
  const title = fileName(id, past?.about.title);
  useEffect(() => {
    // An archived session is restored first, so that its messages cannot be forked here.
    shownTranscript.value = cwd == null || past?.about.archived === true ? undefined : { file: id, cwd, name: title };
    return () => (shownTranscript.value = undefined);
  }, [id, cwd, title]);

  const found = past?.found;
  useEffect(() => {
    if (found === undefined || sought === undefined) return undefined;
    const frame = requestAnimationFrame(() => {
      const row = document.querySelector(".row.found");
      if (row !== null) markWords(row, sought.words);
    });
    return () => cancelAnimationFrame(frame);
  }, [found]);

  useEffect(() => {
    if (jumped === undefined) return undefined;
    const frame = requestAnimationFrame(() => {
      const row = document.querySelector(".row.found");
      if (row !== null && jumped.text !== "") markWords(row, jumped.text);
    });
    return () => cancelAnimationFrame(frame);
  }, [jumped]);

  const older = async (before: Past): Promise<Past> => {
    const page = await read(id, { limit: PAGE, leaf, before: before.from });
    prepend(before.all, folded(page));
    return { ...before, from: page.from, more: page.more && page.events.length > 0 };
  };
  const latest = useRef(past);
  latest.current = past;
  const loadOlder = async () => {
    if (latest.current === undefined) return;
    latest.current = await older(latest.current);
    setPast(latest.current);
  };
  const showOlder = () => {
    setBusy(true);
    loadOlder()
      .catch((error: unknown) => setProblem(errorText(error)))
      .finally(() => setBusy(false));
  };
  const loadAll = async () => {
    while (latest.current?.more === true) await loadOlder();
  };
  const save = async (kind: "md" | "json") => {
    setBusy(true);
    try {
      const { about, all, more } = await readWhole(id, leaf);
      withEvents(all, await editedInputs(id).catch(() => []));
      if (more) showToast("error", "The session is too long for one file: only its end is saved");
      const name = `session-${id.slice(0, 8)}.${kind}`;
      const text = kind === "md" ? toMarkdown(all, fileName(id, about.title ?? id)) : JSON.stringify(all.items, null, 1);
      download(name, text, kind === "md" ? "text/markdown" : "application/json");
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  /** Shows the message that the address names, which may be among events that are not loaded. */
  const showLinked = async (read: Past, mine: number) => {
    latest.current = read;
    try {
      let item = linkedItem(read.all.items, message ?? "");
      while (item === undefined && latest.current.more && mine === wanted.current) {
        await loadOlder();
        item = linkedItem(latest.current.all.items, message ?? "");
      }
      if (mine !== wanted.current) return;
      const key = item?.key;
      if (key === undefined) showToast("error", NO_MESSAGE);
      else setJumped((before) => ({ key: rowKeyOf(rowsOf(read.all.items, () => false), key), text: "", isMarked: true, count: (before?.count ?? 0) + 1 }));
    } catch (error) {
      showToast("error", errorText(error));
    }
  };

  const back = href({ view: "history", id: undefined, wanted: { ...asked, around: undefined, message: undefined, leaf: undefined } });
  if (problem !== "") {
    return (
      <Blank
        icon="alert"
        bad
        title="The session could not be read"
        actions={
          <>
            <button type="button" onClick={again}>
              Try again
            </button>
            <a class="button" href={back}>
              History
            </a>
          </>
        }
      >
        <p><ServerText text={problem} /></p>
      </Blank>
    );
  }
  if (past === undefined) return <Bones count={4} label="Reading the transcript" talk />;
  const { about, all } = past;
  const rows = rowsOf(all.items, (id) => all.asks.has(id));
  const showFound = (item: Item, text: string) => {
    const inside = findIn(all, { words: text, around: text });
    if (inside !== undefined && inside.item.key === item.key) unfold(inside);
    // Older events may have been loaded meanwhile.
    const row = rowsOf(all.items, (one) => all.asks.has(one)).find((one) => one.key === item.key || (one.kind === "run" && one.calls.some(({ key }) => key === item.key)));
    if (row?.kind === "run") openFold(runFold(row));
    setJumped((before) => ({ key: row?.key ?? item.key, text, isMarked: true, count: (before?.count ?? 0) + 1 }));
  };
  const talk: Talk = {
    conversation: all,
    more: { value: past.more },
    loadOlder,
    loadAll,
    jump: (key) => setJumped((before) => ({ key: rowKeyOf(rows, key), text: "", isMarked: false, count: (before?.count ?? 0) + 1 })),
  };
  // Search also matches titles, which stand above the conversation.
  const isInTitle = sought !== undefined && (about.title ?? "").includes(sought.around.trim());
  const facts = [
    about.turns == null ? undefined : count(about.turns, "turn"),
    bytes(about.bytes),
    about.cost_usd == null ? undefined : dollars(about.cost_usd),
    about.modified == null ? undefined : about.modified.slice(0, 10),
    about.archived === true ? "archived copy; Resume restores it" : undefined,
  ].filter((fact) => fact !== undefined);
  return (
    <div class="session">
      <header class="session-head">
        <a class="ghost" href={back} aria-label="History">
          <Icon name="back" />
        </a>
        <div class="session-name">
          <h2>
            <span class="cut"><InOrder text={fileName(id, about.title)} /></span>
          </h2>
          <p class="session-facts">
            <span class="mono cut" title={about.cwd ?? ""}>{baseName(about.cwd ?? about.project)}</span>
            <span>{facts.join(" · ")}</span>
          </p>
        </div>
        <div class="session-tools">
          {branches.length > 1 && (
            <label class="pick">
              <span class="sr">Branch</span>
              <select value={leaf ?? ""} onChange={(event) => amend({ view: "history", id, wanted: { ...asked, message: undefined, leaf: event.currentTarget.value === "" ? undefined : event.currentTarget.value } })}>
                <option value="">Newest branch</option>
                {branches.map((branch, index) => (
                  <option value={branch.leaf}>
                    {`Branch ${index + 1}${branch.state === "active" ? " (active)" : ""}: ${(branch.prompt ?? "").slice(0, 40)}`}
                  </option>
                ))}
              </select>
            </label>
          )}
          <button type="button" class="ghost" title="Find in this session" aria-label="Find in this session" aria-expanded={finding} onClick={() => setFinding(!finding)}>
            <Icon name="search" />
          </button>
          <button type="button" title="Save as Markdown" disabled={busy} onClick={() => void save("md")}>
            <span class="sr">Save as </span>Markdown
          </button>
          <button type="button" title="Save as JSON" disabled={busy} onClick={() => void save("json")}>
            <span class="sr">Save as </span>JSON
          </button>
          {host !== undefined && (
            <a class="button main" href={href({ view: "session", id: host.key })}>
              Open session
            </a>
          )}
          {hasScope("prompt") && (
            <a class="button" href={href({ view: "new", resume: id, cwd: about.cwd ?? undefined, fork: true })}>
              Fork
            </a>
          )}
          {host === undefined && hasScope("prompt") && hasClaude.value && <ResumeButton id={id} cwd={about.cwd} />}
        </div>
      </header>
      <div class="session-middle">
        <div class="talk">
          {finding && <FindBar open={{ conversation: all, path: `transcripts/${encodeURIComponent(id)}`, loadAll }} show={showFound} close={() => { setFinding(false); setJumped(undefined); }} />}
          {sought !== undefined && found === undefined && !isInTitle && (
            <p class="not-found" role="status">
              “{sought.words}” was not found here{branches.length > 1 ? ": it may be on another branch." : "."}
            </p>
          )}
          {promptsOf(all.items).length > 1 && <PromptNav open={talk} outline={() => setOutlined(!outlined)} />}
          <VirtualList
            key={`${name} ${jumped?.count ?? 0}`}
            begin={jumped !== undefined ? { key: jumped.key, top: FOUND_TOP_PX } : found === undefined ? rowPosition(rows, savedPosition(name, all.items)) : { key: rowKeyOf(rows, found.item.key), top: FOUND_TOP_PX }}
            marked={jumped !== undefined ? (jumped.isMarked ? jumped.key : undefined) : found === undefined ? undefined : rowKeyOf(rows, found.item.key)}
            moved={(spot) => savePosition(name, all.items, spot)}
            items={rows}
            estimate={guessHeight}
            render={(item: RowItem) => <ItemView item={item} all={all} />}
            label="Conversation"
            epoch={`${prefs.value.showAll}-${isSideBySide.value}`}
            before={
              past.more ? (
                <div class="older">
                  <button type="button" disabled={busy} onClick={showOlder}>
                    {busy ? "Loading…" : "Show earlier messages"}
                  </button>
                </div>
              ) : undefined
            }
            after={<div class="tail" />}
          />
        </div>
        {outlined && (
          <PanelFrame title="Prompts" close={() => setOutlined(false)}>
            <Outline open={talk} close={() => setOutlined(false)} />
          </PanelFrame>
        )}
      </div>
    </div>
  );
}

/** Resumes the session at once; the next prompt is written there. */
function ResumeButton({ id, cwd }: { id: string; cwd: string | null | undefined }): VNode {
  const [busy, setBusy] = useState(false);
  const resume = () => {
    setBusy(true);
    void resumeFile(id, cwd).finally(() => setBusy(false));
  };
  return (
    <button type="button" class="main" disabled={busy} onClick={resume}>
      Resume
    </button>
  );
}

function read(id: string, part: Query): Promise<TranscriptEvents> {
  return getJson<TranscriptEvents>(`transcripts/${encodeURIComponent(id)}/events`, part);
}

/** All events of a branch, with uncut tool inputs and outputs. */
async function readWhole(id: string, leaf: string | undefined): Promise<Past> {
  const part = { limit: FILE_PAGE, leaf, results: "whole" };
  let page = await read(id, part);
  const all = folded(page);
  for (let pages = 1; page.more && page.events.length > 0 && pages < FILE_PAGES_MAX; pages += 1) {
    page = await read(id, { ...part, before: page.from });
    prepend(all, folded(page));
  }
  return { about: page.transcript, all, from: page.from, more: page.more && page.events.length > 0 };
}

function withEvents(all: Conversation, events: readonly UiMessage[]): Conversation {
  for (const event of events) fold(all, event);
  return all;
}

function folded({ events, times }: TranscriptEvents): Conversation {
  const all = emptyConversation();
  (events as UiMessage[]).forEach((event, index) => fold(all, event, times[index] ?? undefined));
  return all;
}
