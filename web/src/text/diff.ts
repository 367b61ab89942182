// Differences between texts, line by line, and within a pair of lines.

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Line numbers before and after, from 1. */
  before: number | undefined;
  after: number | undefined;
}

export interface Hunk {
  lines: DiffLine[];
}

/** A row of the side-by-side view. */
export interface DiffRow {
  left: DiffLine | undefined;
  right: DiffLine | undefined;
}

/** Beyond this many lines on one side only the common lines at both ends are matched. */
const LINES_MAX = 2000;

/** The edits from `before` to `after`, with some lines of context. */
export function diffTexts(before: string, after: string, context = 3): Hunk[] {
  return intoHunks(diffLines(splitLines(before), splitLines(after)), context);
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function diffLines(before: string[], after: string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;

  const lines: DiffLine[] = [];
  let left = 1;
  let right = 1;
  const same = (text: string) => lines.push({ kind: "same", text, before: left++, after: right++ });
  const removed = (text: string) => lines.push({ kind: "removed", text, before: left++, after: undefined });
  const added = (text: string) => lines.push({ kind: "added", text, before: undefined, after: right++ });

  before.slice(0, start).forEach(same);
  const middleBefore = before.slice(start, before.length - end);
  const middleAfter = after.slice(start, after.length - end);
  if (middleBefore.length > LINES_MAX || middleAfter.length > LINES_MAX) {
    middleBefore.forEach(removed);
    middleAfter.forEach(added);
  } else {
    for (const [kind, text] of shortestEdit(middleBefore, middleAfter)) {
      if (kind === "same") same(text);
      else if (kind === "removed") removed(text);
      else added(text);
    }
  }
  before.slice(before.length - end).forEach(same);
  return lines;
}

/** The shortest edit by dynamic programming from the end; both sides are bounded by the caller. */
function shortestEdit(before: string[], after: string[]): [DiffLine["kind"], string][] {
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        before[i] === after[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
    }
  }
  const steps: [DiffLine["kind"], string][] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const old = before[i];
    const fresh = after[j];
    if (old !== undefined && old === fresh) {
      steps.push(["same", old]);
      i += 1;
      j += 1;
    } else if (old !== undefined && (fresh === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))) {
      steps.push(["removed", old]);
      i += 1;
    } else {
      steps.push(["added", fresh ?? ""]);
      j += 1;
    }
  }
  return steps;
}

function intoHunks(lines: DiffLine[], context: number): Hunk[] {
  const shown = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let near = index - context; near <= index + context; near += 1) shown.add(near);
  });
  const hunks: Hunk[] = [];
  lines.forEach((line, index) => {
    if (!shown.has(index)) return;
    if (index === 0 || !shown.has(index - 1)) hunks.push({ lines: [] });
    hunks.at(-1)?.lines.push(line);
  });
  return hunks;
}

/** The hunks of a patch as the CLI reports it: lines that begin with a space, a minus or a plus. */
export function hunksOf(patch: { oldStart: number; newStart: number; lines: string[] }[]): Hunk[] {
  return patch.map((part) => {
    let before = part.oldStart;
    let after = part.newStart;
    const lines = part.lines
      .filter((line) => !line.startsWith("\\"))
      .map((line): DiffLine => {
        const text = line.slice(1);
        if (line.startsWith("-")) return { kind: "removed", text, before: before++, after: undefined };
        if (line.startsWith("+")) return { kind: "added", text, before: undefined, after: after++ };
        return { kind: "same", text, before: before++, after: after++ };
      });
    return { lines };
  });
}

/** A unified diff of several files, as `git diff` prints it. */
export function parseUnified(text: string): { path: string; hunks: Hunk[]; note: string | undefined }[] {
  const files: { path: string; hunks: Hunk[]; note: string | undefined }[] = [];
  let lines: string[] | undefined;
  let starts = { oldStart: 1, newStart: 1 };
  const flush = () => {
    if (lines !== undefined) files.at(-1)?.hunks.push(...hunksOf([{ ...starts, lines }]));
    lines = undefined;
  };
  for (const line of text.split("\n")) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (line.startsWith("diff --git ")) {
      flush();
      files.push({ path: / b\/(.*)$/.exec(line)?.[1] ?? line.slice(11), hunks: [], note: undefined });
    } else if (header !== null) {
      flush();
      starts = { oldStart: Number(header[1]), newStart: Number(header[2]) };
      lines = [];
    } else if (lines !== undefined && /^[ +\-\\]/.test(line)) {
      lines.push(line);
    } else if (/^(new|deleted) file|^Binary|^rename/.test(line)) {
      const file = files.at(-1);
      // The mode of a file says something only if it is not the usual one.
      if (file !== undefined) file.note = line.replace(/^(new|deleted) file mode 100644$/, (_, kind: string) => (kind === "new" ? "New file" : "Deleted"));
    }
  }
  flush();
  return files;
}

/** Pairs removed lines with the added ones after them that are most alike. */
export function sideBySide(hunk: Hunk): DiffRow[] {
  const rows: DiffRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    let [from, to] = [0, 0];
    const zip = (leftEnd: number, rightEnd: number) => {
      for (; from < leftEnd || to < rightEnd; from += 1, to += 1) {
        rows.push({ left: from < leftEnd ? removed[from] : undefined, right: to < rightEnd ? added[to] : undefined });
      }
      [from, to] = [leftEnd, rightEnd];
    };
    for (const [left, right] of alike(removed, added)) {
      zip(left, right);
      rows.push({ left: removed[left], right: added[right] });
      [from, to] = [left + 1, right + 1];
    }
    zip(removed.length, added.length);
    removed = [];
    added = [];
  };
  for (const line of hunk.lines) {
    if (line.kind === "removed") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "added") {
      added.push(line);
    } else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}

/** Beyond this many pairs of lines, lines are paired by their order. */
const PAIRS_MAX = 1600;
/** Share of common words from which two lines are versions of one line. */
const ALIKE = 0.4;

/** Pairs of lines that are alike, in order, with the largest sum of common words. */
function alike(removed: readonly DiffLine[], added: readonly DiffLine[]): [number, number][] {
  const [height, width] = [removed.length, added.length];
  if (height * width <= 1 || height * width > PAIRS_MAX) return [];
  const [left, right] = [removed.map(({ text }) => countedWords(text)), added.map(({ text }) => countedWords(text))];
  const score = (i: number, j: number) => likeness(left[i] ?? new Map(), right[j] ?? new Map());
  const best = Array.from({ length: height + 1 }, () => new Float64Array(width + 1));
  for (let i = height - 1; i >= 0; i -= 1) {
    for (let j = width - 1; j >= 0; j -= 1) {
      const pair = score(i, j);
      best[i]![j] = Math.max(best[i + 1]![j]!, best[i]![j + 1]!, pair < ALIKE ? 0 : pair + best[i + 1]![j + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < height && j < width; ) {
    const pair = score(i, j);
    if (pair >= ALIKE && best[i]![j] === pair + best[i + 1]![j + 1]!) pairs.push([i++, j++]);
    else if (best[i]![j] === best[i + 1]![j]) i += 1;
    else j += 1;
  }
  return pairs;
}

function countedWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) if (word.trim() !== "") counts.set(word, (counts.get(word) ?? 0) + word.length);
  return counts;
}

/** Share of the characters of the shorter line that are in common words; 0 to 1. */
function likeness(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): number {
  let [common, leftChars, rightChars] = [0, 0, 0];
  for (const [word, chars] of left) {
    leftChars += chars;
    common += Math.min(chars, right.get(word) ?? 0);
  }
  for (const chars of right.values()) rightChars += chars;
  return common / Math.max(1, Math.min(leftChars, rightChars));
}

export function countChanges(hunks: Hunk[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line.kind === "added") added += 1;
      if (line.kind === "removed") removed += 1;
    }
  }
  return { added, removed };
}

/** Longer lines are not compared word by word. */
const WORDS_MAX = 200;

/** Stretches of each of two lines that the other does not have. */
export interface ChangedWords {
  left: [number, number][];
  right: [number, number][];
}

/** Compares two lines word by word; `undefined` if they have too little in common. */
export function changedWords(left: string, right: string): ChangedWords | undefined {
  const [before, after] = [wordsOf(left), wordsOf(right)];
  if (before.length > WORDS_MAX || after.length > WORDS_MAX) return undefined;
  const found: ChangedWords = { left: [], right: [] };
  let [at, to, common] = [0, 0, 0];
  for (const [kind, word] of shortestEdit(before, after)) {
    if (kind === "same") {
      at += word.length;
      to += word.length;
      if (word.trim() !== "") common += word.length;
    } else if (kind === "removed") {
      extend(found.left, at, word.length, left);
      at += word.length;
    } else {
      extend(found.right, to, word.length, right);
      to += word.length;
    }
  }
  // If most of the line differs, marking words is useless.
  return common < Math.min(left.trim().length, right.trim().length) * 0.3 ? undefined : found;
}

/** Adds a stretch. Two that only white space separates are one, which is easier to read. */
function extend(ranges: [number, number][], from: number, length: number, text: string): void {
  const last = ranges.at(-1);
  if (last !== undefined && text.slice(last[1], from).trim() === "") last[1] = from + length;
  else ranges.push([from, from + length]);
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}
