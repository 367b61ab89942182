// One session on disk, to read.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useFetched } from "../app/fetched.ts";
import { download, toMarkdown } from "../app/export.ts";
import { prefs } from "../app/prefs.ts";
import { href } from "../app/route.ts";
import { mayI, words } from "../app/store.ts";
import type { Conversation, Item } from "../model/conversation.ts";
import { emptyConversation } from "../model/conversation.ts";
import { fold } from "../model/fold.ts";
import { prepend } from "../model/prepend.ts";
import { getJson } from "../net/api.ts";
import { baseName, bytes, count, dollars } from "../text/format.ts";
import type { Transcript, TranscriptBranches, TranscriptEvents, UiMessage } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { ItemView, guessHeight } from "./item.tsx";
import { VirtualList } from "./virtual.tsx";

const PAGE = 1000;
/** For an export; a longer session is cut, and the file says so. */
const PAGES_MAX = 200;

interface Past {
  about: Transcript;
  all: Conversation;
  from: number;
  more: boolean;
  count: number;
}

export function PastSession({ id }: { id: string }): VNode {
  const [leaf, setLeaf] = useState<string | undefined>(undefined);
  const [past, setPast] = useState<Past | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const branches = useFetched<TranscriptBranches>(`transcripts/${encodeURIComponent(id)}/branches`).value?.items ?? [];
  const wanted = useRef(0);

  useEffect(() => {
    wanted.current += 1;
    const mine = wanted.current;
    setPast(undefined);
    read(id, leaf, undefined).then(
      (page) => {
        if (mine !== wanted.current) return;
        setPast({ about: page.transcript, all: folded(page.events), from: page.from, more: page.more, count: 1 });
      },
      (error: unknown) => mine === wanted.current && setProblem(words(error)),
    );
  }, [id, leaf]);

  const older = async (before: Past): Promise<Past> => {
    const page = await read(id, leaf, before.from);
    prepend(before.all, folded(page.events));
    return { ...before, from: page.from, more: page.more && page.events.length > 0, count: before.count + 1 };
  };
  const showOlder = () => {
    if (past === undefined) return;
    setBusy(true);
    older(past)
      .then(setPast, (error: unknown) => setProblem(words(error)))
      .finally(() => setBusy(false));
  };
  const save = async (kind: "md" | "json") => {
    if (past === undefined) return;
    setBusy(true);
    try {
      let whole = past;
      while (whole.more && whole.count < PAGES_MAX) whole = await older(whole);
      setPast(whole);
      const name = `session-${id.slice(0, 8)}.${kind}`;
      const text = kind === "md" ? toMarkdown(whole.all, whole.about.title ?? id) : JSON.stringify(whole.all.items, null, 1);
      download(name, text, kind === "md" ? "text/markdown" : "application/json");
    } catch (error) {
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  };

  if (problem !== "") {
    return (
      <div class="empty">
        <h2>The session could not be read</h2>
        <p>{problem}</p>
        <a class="button" href={href({ view: "history", id: undefined })}>
          History
        </a>
      </div>
    );
  }
  if (past === undefined) return <div class="empty" role="status"><Spinner /></div>;
  const { about, all } = past;
  const facts = [
    about.turns == null ? undefined : count(about.turns, "turn"),
    bytes(about.bytes),
    about.cost_usd == null ? undefined : dollars(about.cost_usd),
    about.modified == null ? undefined : about.modified.slice(0, 10),
  ].filter((fact) => fact !== undefined);
  return (
    <div class="session">
      <header class="session-head">
        <a class="ghost" href={href({ view: "history", id: undefined })} aria-label="History">
          <Icon name="back" />
        </a>
        <div class="session-name">
          <h2>
            <span class="cut">{about.title ?? "Without a title"}</span>
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
              <select value={leaf ?? ""} onChange={(event) => setLeaf(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}>
                <option value="">Newest branch</option>
                {branches.map((branch, index) => (
                  <option value={branch.leaf}>
                    {`Branch ${index + 1}${branch.state === "active" ? " (active)" : ""}: ${(branch.prompt ?? "").slice(0, 40)}`}
                  </option>
                ))}
              </select>
            </label>
          )}
          <button type="button" disabled={busy} onClick={() => void save("md")}>
            Markdown
          </button>
          <button type="button" disabled={busy} onClick={() => void save("json")}>
            JSON
          </button>
          {mayI("prompt") && (
            <a class="button main" href={href({ view: "new", resume: id, cwd: about.cwd ?? undefined })}>
              Go on
            </a>
          )}
        </div>
      </header>
      <div class="session-middle">
        <div class="talk">
          <VirtualList
            key={`${id}-${leaf ?? ""}`}
            items={all.items}
            estimate={guessHeight}
            render={(item: Item) => <ItemView item={item} all={all} />}
            label="Conversation"
            epoch={`${prefs.value.showAll}-${prefs.value.diff}`}
            before={
              past.more ? (
                <div class="older">
                  <button type="button" disabled={busy} onClick={showOlder}>
                    {busy ? "Looking…" : "Show what was before"}
                  </button>
                </div>
              ) : undefined
            }
            after={<div class="tail" />}
          />
        </div>
      </div>
    </div>
  );
}

function read(id: string, leaf: string | undefined, before: number | undefined): Promise<TranscriptEvents> {
  return getJson<TranscriptEvents>(`transcripts/${encodeURIComponent(id)}/events`, { limit: PAGE, leaf, before });
}

function folded(events: readonly unknown[]): Conversation {
  const all = emptyConversation();
  for (const event of events) fold(all, event as UiMessage);
  return all;
}
