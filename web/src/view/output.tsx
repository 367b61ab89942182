// Output of tools: text with the colours of a terminal or the syntax of a file, its end or its beginning
// first, the rest on demand.

import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { download } from "../app/export.ts";
import { wholeWanted } from "../app/jumps.ts";
import { shownPath, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { bytesBefore, fullText } from "../model/full-output.ts";
import { getJson } from "../net/api.ts";
import { paintedOutput } from "../text/ansi.ts";
import { bytes, count } from "../text/format.ts";
import type { WholeCall } from "../wire.ts";
import { Segments, useSyntax } from "./code.tsx";
import { CopyButton } from "./copy.tsx";
import { useFold } from "./folds.ts";
import { markWords } from "./match.ts";

const SHOWN_LINES = 12;
/** Maximum that is drawn even on demand: more would freeze the browser. */
const DRAWN_MAX = 200_000;

interface Props {
  text: string;
  name: string;
  tone?: "plain" | "error";
  from?: "start" | "end";
  /** Language of a file's content. */
  language?: string | undefined;
  /** Number of the first line of a file; without one lines have no numbers. */
  firstLine?: number | undefined;
  /** Size of the whole output in bytes, if the text is only its beginning. */
  size?: number | undefined;
}

export function Output({ text, name, tone = "plain", from = "start", language, firstLine, size }: Props): VNode | null {
  const [open, toggle] = useFold(`output-${name}`, false);
  const [loaded, setLoaded] = useState<{ of: string; text: string } | undefined>(undefined);
  const whole = loaded?.of === text ? loaded.text : text;
  const painted = useMemo(() => paintedOutput(whole), [whole]);
  const plain = painted.text.replace(/\n+$/, "");
  const lines = useMemo(() => plain.split("\n"), [plain]);
  const hidden = lines.length - SHOWN_LINES;
  const isFolded = !open && hidden > 2;
  const [begin, end] = partOf(plain, lines, isFolded, from);
  // Only the drawn part is looked at: the rest of a large file would take time.
  const drawn = plain.slice(begin, end);
  const syntax = useSyntax(language === undefined ? "" : drawn, language);
  if (plain === "") return null;
  const cutBytes = whole === text ? (size ?? bytesBefore(text)) : undefined;
  // After a gap the numbers would be wrong.
  const isNumbered = firstLine !== undefined && cutBytes === undefined;
  return (
    <div class={`output ${tone}${isNumbered ? " numbered" : ""}`}>
      {from === "end" && isFolded && <More hidden={hidden} toggle={toggle} />}
      <pre tabIndex={0}>
        {isNumbered && <span class="line-numbers" aria-hidden="true">{numbers(firstLine, drawn)}</span>}
        <code>{language === undefined ? <Segments text={plain} layers={[painted.spans]} from={begin} to={end} /> : <Segments text={drawn} layers={[syntax]} />}</code>
      </pre>
      {!isFolded && drawn.length < plain.length && (
        <p class="output-cut" role="status">
          Only the {from === "end" ? "last" : "first"} {count(drawn.split("\n").length, "line")} of {lines.length.toLocaleString("en-GB")} are shown.{" "}
          <button type="button" class="link" onClick={() => download("output.txt", plain, "text/plain")}>
            Download all
          </button>
        </p>
      )}
      {from === "start" && isFolded && <More hidden={hidden} toggle={toggle} />}
      {open && hidden > 2 && (
        <button type="button" class="link" onClick={toggle}>
          Show less
        </button>
      )}
      {cutBytes !== undefined && (
        <LoadAll
          cut={text}
          size={cutBytes}
          name={name}
          show={(all) => {
            setLoaded({ of: text, text: all });
            if (!open) toggle();
          }}
        />
      )}
      <span class="output-copy">
        <CopyButton text={plain} label="Copy output" />
      </span>
    </div>
  );
}

/** Begin and end of the part that is drawn. */
function partOf(plain: string, lines: readonly string[], isFolded: boolean, from: "start" | "end"): [number, number] {
  const size = isFolded ? (from === "end" ? lines.slice(-SHOWN_LINES) : lines.slice(0, SHOWN_LINES)).join("\n").length : plain.length;
  const drawn = Math.min(size, DRAWN_MAX);
  return from === "end" ? [plain.length - drawn, plain.length] : [0, drawn];
}

function numbers(first: number, text: string): string {
  return Array.from(text.split("\n"), (_, index) => first + index).join("\n");
}

function More({ hidden, toggle }: { hidden: number; toggle: () => void }): VNode {
  return (
    <button type="button" class="link" onClick={toggle}>
      {hidden.toLocaleString("en-GB")} more lines
    </button>
  );
}

/** The size of what is missing from a cut output, and the button that loads it. */
function LoadAll({ cut, size, name, show }: { cut: string; size: number; name: string; show: (whole: string) => void }): VNode {
  const [busy, setBusy] = useState(false);
  const id = name.replace(/-(err|error|in)$/, "");
  const path = callPath(id);
  const box = useRef<HTMLParagraphElement>(null);
  const load = async () => {
    if (path === undefined) return;
    setBusy(true);
    try {
      const whole = fullText(cut, (await getJson<WholeCall>(path)).events);
      if (whole === undefined) showToast("error", "The server does not have the full output");
      else show(whole);
    } catch (error) {
      showToast("error", errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const wanted = wholeWanted.value;
  useEffect(() => {
    if (wanted?.id !== id) return;
    wholeWanted.value = undefined;
    const row = box.current?.closest(".row");
    // The match is marked once the full output is drawn.
    void load().then(() => requestAnimationFrame(() => requestAnimationFrame(() => row != null && markWords(row, wanted.text))));
  }, [wanted]);
  return (
    <p class="output-cut" role="status" ref={box}>
      {bytes(Math.max(0, size - new TextEncoder().encode(cut).length))} of {bytes(size)} are left out{path === undefined ? "." : "; the server has them."}{" "}
      {path !== undefined && (
        <button type="button" class="link" disabled={busy} onClick={() => void load()}>
          {busy ? "Loading…" : `Load all ${bytes(size)}`}
        </button>
      )}
    </p>
  );
}

/** API path of a call in full. */
function callPath(id: string): string | undefined {
  const place = shownPath();
  return place === undefined ? undefined : `${place}/calls/${encodeURIComponent(id)}`;
}
