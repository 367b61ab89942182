// The files of a session's folder, to read.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText, hasScope } from "../app/store.ts";
import { getJson } from "../net/api.ts";
import { bytes as sizeOf } from "../text/format.ts";
import { languageOfFile } from "../text/language.ts";
import type { Completions, FileItem, FileList, FileText, SessionView } from "../wire.ts";
import { CodeText } from "./code.tsx";
import { CopyButton } from "./copy.tsx";
import type { IconName } from "./icons.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { ServerText } from "./server-text.tsx";

const FIND_WAIT_MS = 150;

/** The displayed folder or file. */
export interface FilePlace {
  path: string;
  isFile: boolean;
}

export const TOP: FilePlace = { path: "", isFile: false };

/** A response about a path; `undefined` while it is loading. */
function useFetched<T>(address: string, query: Record<string, string>): { found: T | undefined; problem: string } {
  const name = `${address} ${JSON.stringify(query)}`;
  const [state, setState] = useState<{ name: string; found?: T; problem: string }>({ name: "", problem: "" });
  useEffect(() => {
    const abort = new AbortController();
    getJson<T>(address, query, abort.signal).then(
      (found) => setState({ name, found, problem: "" }),
      (error: unknown) => !abort.signal.aborted && setState({ name, problem: errorText(error) }),
    );
    return () => abort.abort();
  }, [name]);
  return state.name === name ? { found: state.found, problem: state.problem } : { found: undefined, problem: "" };
}

export function Files({ session, at, show }: { session: SessionView; at: FilePlace; show: (place: FilePlace) => void }): VNode {
  const path = `sessions/${encodeURIComponent(session.key)}`;
  const [words, setWords] = useState("");
  return (
    <div class="files">
      <input type="search" class="file-find" aria-label="Find a file" placeholder="Find a file…" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
      {words.trim() !== "" ? (
        <FoundFiles path={path} words={words.trim()} show={(found) => { setWords(""); show({ path: found, isFile: true }); }} />
      ) : (
        <>
          <Crumbs at={at} show={show} />
          {at.isFile ? <FileView path={path} at={at.path} /> : <Folder path={path} at={at.path} show={show} />}
        </>
      )}
    </div>
  );
}

/** The folders on the way, each a button. */
function Crumbs({ at, show }: { at: FilePlace; show: (place: FilePlace) => void }): VNode {
  const parts = at.path === "" ? [] : at.path.split("/");
  return (
    <nav class="crumbs mono" aria-label="Folders">
      <button type="button" class="link" disabled={parts.length === 0} onClick={() => show(TOP)}>Project</button>
      {parts.map((part, index) => (
        <>
          <span class="muted" aria-hidden="true">/</span>
          {index === parts.length - 1 ? (
            <span aria-current="page"><InOrder text={part} /></span>
          ) : (
            <button type="button" class="link" onClick={() => show({ path: parts.slice(0, index + 1).join("/"), isFile: false })}><InOrder text={part} /></button>
          )}
        </>
      ))}
    </nav>
  );
}

const ICONS: Readonly<Record<FileItem["kind"], IconName>> = { folder: "folder", file: "file", link: "link", other: "plug" };

function Folder({ path, at, show }: { path: string; at: string; show: (place: FilePlace) => void }): VNode {
  const { found, problem } = useFetched<FileList>(`${path}/tree`, { path: at });
  if (problem !== "") return <p class="warn-line"><ServerText text={problem} /></p>;
  if (found === undefined) return <p class="muted"><Spinner /> Loading</p>;
  if (found.items.length === 0) return <p class="muted">This folder is empty.</p>;
  const below = (name: string) => (at === "" ? name : `${at}/${name}`);
  return (
    <>
      <ul class="plain-list file-list">
        {found.items.map((item) => {
          const isLocked = item.sensitive === true && !hasScope("admin");
          const opens = (item.kind === "folder" || item.kind === "file") && !isLocked;
          const why = isLocked ? "needs the scope “admin”" : item.kind === "link" ? "link, not followed" : item.kind === "other" ? "not a file" : undefined;
          return (
            <li>
              <button type="button" class="file-item" disabled={!opens} onClick={() => show({ path: below(item.name), isFile: item.kind === "file" })}>
                <Icon name={ICONS[item.kind]} />
                <span class="mono cut"><InOrder text={item.name} /></span>
                <span class="muted">{why ?? (item.bytes === undefined ? "" : sizeOf(item.bytes))}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {found.more && <p class="muted">There are more entries, which are not listed.</p>}
    </>
  );
}

function FileView({ path, at }: { path: string; at: string }): VNode {
  const { found, problem } = useFetched<FileText>(`${path}/file`, { path: at });
  if (problem !== "") return <p class="warn-line"><ServerText text={problem} /></p>;
  if (found === undefined) return <p class="muted"><Spinner /> Loading</p>;
  const { text } = found;
  if (text === undefined) return <p class="muted">This file is not text ({sizeOf(found.bytes)}).</p>;
  return (
    <>
      <p class="file-facts muted">
        {sizeOf(found.bytes)}
        {found.cut && `, the first ${sizeOf(new Blob([text]).size)} are shown`}
        {text !== "" && <CopyButton text={text} label="Copy the file" />}
      </p>
      {text === "" ? <p class="muted">This file is empty.</p> : (
        <pre class="file-text" tabIndex={0} role="group" aria-label={at}><code><CodeText text={text} language={languageOfFile(at)} /></code></pre>
      )}
    </>
  );
}

function FoundFiles({ path, words, show }: { path: string; words: string; show: (path: string) => void }): VNode {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), FIND_WAIT_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const { found, problem } = useFetched<Completions>(`${path}/files`, { q: settled });
  if (problem !== "") return <p class="warn-line"><ServerText text={problem} /></p>;
  if (found === undefined) return <p class="muted"><Spinner /> Searching</p>;
  if (found.items.length === 0) return <p class="muted">No file has these letters in its path.</p>;
  return (
    <ul class="plain-list file-list">
      {found.items.map((name) => (
        <li>
          <button type="button" class="file-item" onClick={() => show(name)}>
            <Icon name="file" />
            <span class="mono cut"><InOrder text={name} /></span>
          </button>
        </li>
      ))}
    </ul>
  );
}
