// Changes of a file, in one or two columns, with syntax and changed words.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { CommentPlace } from "../app/comments.ts";
import { isSideBySide, setPref } from "../app/prefs.ts";
import type { DiffLine, Hunk } from "../text/diff.ts";
import { changedWords, countChanges, sideBySide } from "../text/diff.ts";
import { languageOfFile } from "../text/language.ts";
import type { Span } from "../text/spans.ts";
import { spansWithin } from "../text/spans.ts";
import { Segments, useSyntax } from "./code.tsx";
import { CommentButton, lineKeys } from "./comments.tsx";
import { useFold } from "./folds.ts";

/** Lines beyond this are shown on demand. */
const LINES_MAX = 400;

interface Props {
  hunks: Hunk[];
  /** Path of the file: its language, and the name of its lines in comments. */
  path?: string | undefined;
  reveal?: boolean;
  /** Name under which it is remembered that all lines are shown. */
  name?: string | undefined;
  /** Place of comments on its lines; without one lines have no comments. */
  comments?: string | undefined;
}

export function Diff({ hunks, path = "", reveal, name = "", comments }: Props): VNode {
  const side = isSideBySide.value;
  const [all, showAll] = useFold(`diff-${name}`, false);
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const shown = reveal || all || lines <= LINES_MAX ? hunks : cut(hunks);
  return (
    <div class="diff" data-view={side ? "side" : "inline"} tabIndex={0} role="group" aria-label="Changes" onKeyDown={lineKeys}>
      {shown.map((hunk, index) => (
        <HunkTable hunk={hunk} isFirst={index === 0} path={path} side={side} place={comments === undefined ? undefined : { of: comments, path }} />
      ))}
      {shown !== hunks && (
        <p class="diff-cut">
          {(lines - LINES_MAX).toLocaleString("en-GB")} more lines are not shown.{" "}
          <button type="button" class="link" onClick={showAll}>
            Show all {lines.toLocaleString("en-GB")} lines
          </button>
        </p>
      )}
    </div>
  );
}

export function DiffCount({ hunks }: { hunks: Hunk[] }): VNode {
  const { added, removed } = countChanges(hunks);
  return (
    <span class="diff-count">
      <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
    </span>
  );
}

export function DiffSwitch(): VNode {
  const side = isSideBySide.value;
  return (
    <button type="button" class="ghost small" onClick={() => setPref("diff", side ? "inline" : "side")}>
      {side ? "One column" : "Side by side"}
    </button>
  );
}

function cut(hunks: Hunk[]): Hunk[] {
  let left = LINES_MAX;
  const kept: Hunk[] = [];
  for (const hunk of hunks) {
    if (left <= 0) break;
    kept.push({ lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return kept;
}

type Place = Omit<CommentPlace, "line" | "quote">;

/** Syntax of each line, from the text before and the text after the change. */
type LineSyntax = ReadonlyMap<DiffLine, readonly Span[]>;

function HunkTable({ hunk, isFirst, path, side, place }: { hunk: Hunk; isFirst: boolean; path: string; side: boolean; place: Place | undefined }): VNode {
  const language = languageOfFile(path);
  const [before, after] = useMemo(() => [versionOf(hunk, "added"), versionOf(hunk, "removed")] as const, [hunk]);
  const beforeSpans = useSyntax(before.text, language);
  const afterSpans = useSyntax(after.text, language);
  const syntax = useMemo(() => new Map([...syntaxOf(before, beforeSpans), ...syntaxOf(after, afterSpans)]), [before, after, beforeSpans, afterSpans]);
  const table = { hunk, syntax, place, isFirst };
  return side ? <Side {...table} /> : <Inline {...table} />;
}

interface Version {
  text: string;
  lines: DiffLine[];
}

/** The lines of a hunk without those that were added, or without those that were removed. */
function versionOf(hunk: Hunk, without: DiffLine["kind"]): Version {
  const lines = hunk.lines.filter(({ kind }) => kind !== without);
  return { lines, text: lines.map(({ text }) => text).join("\n") };
}

function syntaxOf({ lines }: Version, spans: readonly Span[]): [DiffLine, Span[]][] {
  if (spans.length === 0) return [];
  let from = 0;
  return lines.map((line): [DiffLine, Span[]] => {
    const begin = from;
    from += line.text.length + 1;
    return [line, spansWithin(spans, begin, begin + line.text.length)];
  });
}

interface TableProps {
  hunk: Hunk;
  syntax: LineSyntax;
  place: Place | undefined;
  /** True for the first table of the diff. */
  isFirst: boolean;
}

function Inline({ hunk, syntax, place, isFirst }: TableProps): VNode {
  const partners = pairs(hunk);
  return (
    <table>
      <tbody>
        {hunk.lines.map((line, index) => (
          <tr class={line.kind}>
            <td class="number">{line.before ?? ""}</td>
            <td class="number">{line.after ?? ""}</td>
            <td class="sign">{place === undefined ? sign(line) : <CommentButton place={placeOf(place, line)} sign={sign(line)} isFirst={isFirst && index === 0} />}</td>
            <td class="text">
              <LineText line={line} other={partners.get(line)} syntax={syntax} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Side({ hunk, syntax, place, isFirst }: TableProps): VNode {
  return (
    <table class="diff-side">
      <colgroup>
        <col class="diff-number" />
        <col />
        <col class="diff-number" />
        <col />
      </colgroup>
      <tbody>
        {sideBySide(hunk).map(({ left, right }, index) => (
          <tr>
            <td class="number">{place !== undefined && left !== undefined && right === undefined ? <CommentButton place={placeOf(place, left)} sign={String(left.before ?? "")} isFirst={isFirst && index === 0} /> : (left?.before ?? "")}</td>
            <td class={`text ${left === undefined ? "void" : left.kind}`}>{left && <LineText line={left} other={right} syntax={syntax} />}</td>
            <td class="number">{place !== undefined && right !== undefined ? <CommentButton place={placeOf(place, right)} sign={String(right.after ?? "")} isFirst={isFirst && index === 0} /> : (right?.after ?? "")}</td>
            <td class={`text ${right === undefined ? "void" : right.kind}`}>{right && <LineText line={right} other={left} syntax={syntax} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function placeOf(place: Place, line: DiffLine): CommentPlace {
  return { ...place, line: line.after ?? line.before ?? 0, quote: `${sign(line)}${line.text}` };
}

function pairs(hunk: Hunk): Map<DiffLine, DiffLine> {
  const found = new Map<DiffLine, DiffLine>();
  for (const { left, right } of sideBySide(hunk)) {
    if (left === undefined || right === undefined || left === right) continue;
    found.set(left, right);
    found.set(right, left);
  }
  return found;
}

function LineText({ line, other, syntax }: { line: DiffLine; other: DiffLine | undefined; syntax: LineSyntax }): VNode {
  const words = useMemo(() => changesOf(line, other), [line, other]);
  return <Segments text={line.text} layers={[syntax.get(line) ?? [], words]} reveal />;
}

function changesOf(line: DiffLine, other: DiffLine | undefined): Span[] {
  if (other === undefined || line.kind === "same") return [];
  const found = line.kind === "removed" ? changedWords(line.text, other.text)?.left : changedWords(other.text, line.text)?.right;
  return (found ?? []).map(([from, to]) => ({ from, to, name: "changed" }));
}

function sign(line: DiffLine): string {
  if (line.kind === "added") return "+";
  return line.kind === "removed" ? "−" : "";
}
