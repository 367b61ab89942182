// Changes of a file, in one or two columns.

import type { VNode } from "preact";
import { prefs, setPref } from "../app/prefs.ts";
import type { DiffLine, Hunk } from "../text/diff.ts";
import { changedPart, countChanges, sideBySide } from "../text/diff.ts";
import { Revealed } from "./revealed.tsx";

/** Lines beyond this are shown on demand. */
const LINES_MAX = 400;

export function Diff({ hunks, reveal }: { hunks: Hunk[]; reveal?: boolean }): VNode {
  const side = prefs.value.diff === "side";
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const shown = reveal || lines <= LINES_MAX ? hunks : cut(hunks);
  return (
    <div class="diff" data-view={side ? "side" : "inline"} tabIndex={0} role="group" aria-label="Changes">
      {shown.map((hunk) => (side ? <Side hunk={hunk} /> : <Inline hunk={hunk} />))}
      {shown !== hunks && <p class="diff-cut">{(lines - LINES_MAX).toLocaleString("en-GB")} more lines are not shown here.</p>}
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
  const side = prefs.value.diff === "side";
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

function Inline({ hunk }: { hunk: Hunk }): VNode {
  const partners = pairs(hunk);
  return (
    <table>
      <tbody>
        {hunk.lines.map((line) => (
          <tr class={line.kind}>
            <td class="number">{line.before ?? ""}</td>
            <td class="number">{line.after ?? ""}</td>
            <td class="sign">{sign(line)}</td>
            <td class="text">
              <LineText line={line} other={partners.get(line)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Side({ hunk }: { hunk: Hunk }): VNode {
  return (
    <table class="diff-side">
      <tbody>
        {sideBySide(hunk).map(({ left, right }) => (
          <tr>
            <td class="number">{left?.before ?? ""}</td>
            <td class={`text ${left === undefined ? "void" : left.kind}`}>{left && <LineText line={left} other={right} />}</td>
            <td class="number">{right?.after ?? ""}</td>
            <td class={`text ${right === undefined ? "void" : right.kind}`}>{right && <LineText line={right} other={left} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
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

function LineText({ line, other }: { line: DiffLine; other: DiffLine | undefined }): VNode {
  const range =
    other === undefined || line.kind === "same"
      ? undefined
      : line.kind === "removed"
        ? changedPart(line.text, other.text)?.left
        : changedPart(other.text, line.text)?.right;
  if (range === undefined || range[0] === range[1]) return <Revealed text={line.text} />;
  return (
    <>
      <Revealed text={line.text.slice(0, range[0])} />
      <span class="changed">
        <Revealed text={line.text.slice(range[0], range[1])} />
      </span>
      <Revealed text={line.text.slice(range[1])} />
    </>
  );
}

function sign(line: DiffLine): string {
  if (line.kind === "added") return "+";
  return line.kind === "removed" ? "−" : "";
}
