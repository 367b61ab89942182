// Code with its syntax: plain at first, and with colours once the worker has found them.

import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { findSyntax, knownSyntax } from "../app/highlight.ts";
import { inTurn } from "../app/turns.ts";
import { inOrder, revealed } from "../text/hidden.ts";
import type { Span } from "../text/spans.ts";
import { segments, spansWithin } from "../text/spans.ts";
import { Marked } from "./revealed.tsx";

const NONE: readonly Span[] = [];
/** Time in milliseconds without a change before growing code is looked at. */
const GROWING_MS = 200;
/** Length of a part of long code. */
const PIECE_CHARS = 1500;

/** Syntax of a text; empty until it is known. Without a language there is none. */
export function useSyntax(text: string, language: string | undefined): readonly Span[] {
  const [found, setFound] = useState<{ text: string; spans: Span[] } | undefined>(undefined);
  const known = language === undefined || text === "" ? NONE : knownSyntax(text, language);
  useEffect(() => {
    if (known !== undefined || language === undefined) return undefined;
    let isCurrent = true;
    const ask = () => void findSyntax(text, language).then((spans) => isCurrent && setFound({ text, spans }), () => undefined);
    const timer = setTimeout(ask, found === undefined ? 0 : GROWING_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  if (known !== undefined) return known;
  if (found === undefined) return NONE;
  // Of growing code the beginning keeps its colours.
  return found.text === text || text.startsWith(found.text) ? found.spans : NONE;
}

/** A part of a text, with the classes of its spans. `reveal` marks all hidden characters. */
export function Segments({ text, layers, from, to, reveal }: { text: string; layers: readonly (readonly Span[])[]; from?: number; to?: number; reveal?: boolean }): VNode {
  const look = reveal === true ? revealed : inOrder;
  return (
    <>
      {segments(text, layers, from, to).map((part) => (part.name === "" ? <Marked pieces={look(part.text)} /> : <span class={part.name}><Marked pieces={look(part.text)} /></span>))}
    </>
  );
}

/**
 * Code in parts that are laid out separately: when it grows, only the last part is drawn and laid out again.
 * When its syntax is found, one part after the other gets its colours, so that input is handled in between.
 */
export function CodeText({ text, language }: { text: string; language: string | undefined }): VNode {
  const spans = useSyntax(text, language);
  const cuts = [0];
  for (let from = 0; text.length - from > PIECE_CHARS; ) {
    const end = text.indexOf("\n", from + PIECE_CHARS);
    if (end === -1) break;
    from = end + 1;
    cuts.push(from);
  }
  const isWhole = cuts.length === 1;
  return (
    <>
      {cuts.map((from, index) => (
        // Each part ends with a line, and the next part makes its line break.
        <CodePart key={index} text={text.slice(from, (cuts[index + 1] ?? text.length + 1) - 1)} from={from} spans={spans} isWhole={isWhole} />
      ))}
    </>
  );
}

function CodePart({ text, from, spans, isWhole }: { text: string; from: number; spans: readonly Span[]; isWhole: boolean }): VNode {
  const [drawn, setDrawn] = useState(spans);
  useEffect(() => (drawn === spans ? undefined : inTurn(() => setDrawn(spans))), [drawn, spans]);
  // An element that is the same object is not compared with the drawn one.
  return useMemo(() => {
    const content = <Segments text={text} layers={[spansWithin(drawn, from, from + text.length)]} />;
    // A part of empty lines has its height.
    return isWhole ? content : <span class="piece">{content}{text === "" || text.endsWith("\n") ? "\n" : ""}</span>;
  }, [text, from, drawn, isWhole]);
}
