// Syntax of code, found by a worker that is started with the first code on the screen.

import type { HighlightReply, HighlightRequest } from "../highlight/worker.ts";
import type { Span } from "../text/spans.ts";
import { workerUrl } from "./trusted.ts";

/** Name of the worker's script. */
declare const HIGHLIGHT_SCRIPT: string;

/** Longer code stays plain. */
const CHARS_MAX = 100_000;
/** Characters of code whose syntax is remembered: rows are drawn again while the user scrolls. */
const KEPT_CHARS_MAX = 1_000_000;
/** Time in milliseconds after which a text counts as too difficult, and the worker is started again. */
const STUCK_MS = 4000;

const kept = new Map<string, Span[]>();
let keptChars = 0;
let worker: Worker | undefined;
let last = 0;
const waiting = new Map<number, { key: string; done(spans: Span[]): void }>();
let stuck: ReturnType<typeof setTimeout> | undefined;

/** The syntax if it is known already. */
export function knownSyntax(text: string, language: string): Span[] | undefined {
  return text.length > CHARS_MAX ? [] : kept.get(keyOf(text, language));
}

/** Finds the syntax. Code that the worker cannot handle has none. */
export function findSyntax(text: string, language: string): Promise<Span[]> {
  const known = knownSyntax(text, language);
  if (known !== undefined) return Promise.resolve(known);
  return new Promise((done) => {
    last += 1;
    waiting.set(last, { key: keyOf(text, language), done });
    running().postMessage({ id: last, language, text } satisfies HighlightRequest);
    watch();
  });
}

function keyOf(text: string, language: string): string {
  return `${language} ${text}`;
}

function running(): Worker {
  if (worker !== undefined) return worker;
  worker = new Worker(workerUrl(HIGHLIGHT_SCRIPT));
  worker.onmessage = ({ data: { id, spans } }: MessageEvent<HighlightReply>) => settle(id, spans);
  worker.onerror = restart;
  return worker;
}

function settle(id: number, spans: Span[]): void {
  const asked = waiting.get(id);
  waiting.delete(id);
  watch();
  if (asked === undefined) return;
  keep(asked.key, spans);
  asked.done(spans);
}

/** Limits the time for the oldest request. */
function watch(): void {
  clearTimeout(stuck);
  stuck = waiting.size === 0 ? undefined : setTimeout(restart, STUCK_MS);
}

/** Gives up the oldest request, and repeats the others. */
function restart(): void {
  worker?.terminate();
  worker = undefined;
  const [oldest, ...others] = waiting;
  waiting.clear();
  if (oldest !== undefined) {
    keep(oldest[1].key, []);
    oldest[1].done([]);
  }
  for (const [id, asked] of others) {
    waiting.set(id, asked);
    const space = asked.key.indexOf(" ");
    running().postMessage({ id, language: asked.key.slice(0, space), text: asked.key.slice(space + 1) } satisfies HighlightRequest);
  }
  watch();
}

function keep(key: string, spans: Span[]): void {
  kept.set(key, spans);
  keptChars += key.length;
  for (const old of kept.keys()) {
    if (keptChars <= KEPT_CHARS_MAX) break;
    kept.delete(old);
    keptChars -= old.length;
  }
}
