// Ways through a long conversation: the previous and next prompt, and the outline of all prompts.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { jumpTo } from "../app/jumps.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { count } from "../text/format.ts";
import type { Conversation, Item, PromptItem } from "../model/conversation.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { Time } from "./time.tsx";

const LINE_MAX = 160;

/** A conversation with prompts to move between: an open session, or one on disk. */
export interface Talk {
  conversation: Conversation;
  /** True if older events are not loaded yet. */
  more: { readonly value: boolean };
  /** Increases with each change; what changes otherwise draws by itself. */
  drawn?: { readonly value: unknown };
  loadOlder(): Promise<unknown>;
  loadAll(): Promise<unknown>;
  /** Number of events that are not loaded yet, if it is known. */
  readonly eventsLeft?: number | undefined;
  /** Shows an item; by default that of the open session. */
  jump?(key: string): void;
}

function jump(open: Talk, key: string): void {
  if (open.jump === undefined) jumpTo.value = { key };
  else open.jump(key);
}

/** Prompts of the user. */
export function promptsOf(items: readonly Item[]): PromptItem[] {
  return items.filter((item): item is PromptItem => item.kind === "prompt" && (item.origin === undefined || item.origin === "human"));
}

/** The key of the first row in view. */
function firstInView(): string | undefined {
  const scroller = document.querySelector<HTMLElement>(".session .scroller");
  if (scroller === null) return undefined;
  const edge = scroller.getBoundingClientRect().top;
  return [...scroller.querySelectorAll<HTMLElement>(".row")].find((row) => row.getBoundingClientRect().bottom > edge + 8)?.dataset["key"];
}

/** The prompt before or after the upper edge of the screen. */
export function neighbour(items: readonly Item[], inView: string | undefined, by: 1 | -1, isAtPrompt: boolean): PromptItem | undefined {
  const at = items.findIndex(({ key }) => key === inView);
  const here = at === -1 ? items.length : at;
  if (by === 1) return promptsOf(items.slice(here + 1))[0];
  return promptsOf(items.slice(0, isAtPrompt ? here : here + 1)).at(-1);
}

/** Moves to the previous or next prompt; older ones are loaded if there is none. */
export async function stepPrompt(open: Talk, by: 1 | -1): Promise<void> {
  const look = () => {
    const key = firstInView();
    const row = key === undefined ? null : document.querySelector(`.row[data-key="${CSS.escape(key)}"]`);
    const top = row === null ? 0 : row.getBoundingClientRect().top - (row.closest(".scroller")?.getBoundingClientRect().top ?? 0);
    // A prompt that is scrolled out partly is the previous one.
    return neighbour(open.conversation.items, key, by, top > -8);
  };
  let found = look();
  while (found === undefined && by === -1 && open.more.value) {
    await open.loadOlder();
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    found = look();
  }
  if (found !== undefined) jump(open, found.key);
  else if (by === 1) document.querySelector<HTMLElement>(".to-end button")?.click();
}

export function PromptNav({ open, outline }: { open: Talk; outline: () => void }): VNode {
  const step = (by: 1 | -1) => () => void stepPrompt(open, by).catch((error: unknown) => showToast("error", errorText(error)));
  const [busy, setBusy] = useState(false);
  const toStart = () => {
    setBusy(true);
    open
      .loadAll()
      .then(() => {
        const first = open.conversation.items[0];
        if (first !== undefined) jump(open, first.key);
      })
      .catch((error: unknown) => showToast("error", errorText(error)))
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || (event.key !== "PageUp" && event.key !== "PageDown")) return;
      event.preventDefault();
      step(event.key === "PageUp" ? -1 : 1)();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [open]);
  // Draws again with each loaded page.
  void open.drawn?.value;
  return (
    <nav class="prompt-nav" aria-label="Prompts">
      {busy && (
        <p class="nav-status" role="status">
          <Spinner /> Loading earlier messages{open.eventsLeft !== undefined && `, ${count(open.eventsLeft, "event")} to go`}
        </p>
      )}
      <button type="button" class="ghost" aria-label="Start of the session" title="Start of the session" disabled={busy} onClick={toStart}>
        <Icon name="start" />
      </button>
      <button type="button" class="ghost" aria-label="Previous prompt" title="Previous prompt (Alt+Page Up)" onClick={step(-1)}>
        <Icon name="send" />
      </button>
      <button type="button" class="ghost flip-y" aria-label="Next prompt" title="Next prompt (Alt+Page Down)" onClick={step(1)}>
        <Icon name="send" />
      </button>
      <button type="button" class="ghost" aria-label="Outline of prompts" title="Outline of prompts" onClick={outline}>
        <Icon name="outline" />
      </button>
    </nav>
  );
}

/** All prompts of the session, oldest first. Older events are loaded when it opens. */
export function Outline({ open, close }: { open: Talk; close: () => void }): VNode {
  const [busy, setBusy] = useState(open.more.value);
  useEffect(() => {
    open.loadAll().catch((error: unknown) => showToast("error", errorText(error))).finally(() => setBusy(false));
  }, [open.conversation]);
  // Draws again with each loaded page.
  void open.drawn?.value;
  const prompts = promptsOf(open.conversation.items);
  const narrow = matchMedia("(max-width: 900px)").matches;
  const show = (key: string) => {
    jump(open, key);
    if (narrow) close();
  };
  return (
    <>
      {busy && <p class="muted" role="status"><Spinner /> Loading earlier prompts</p>}
      {prompts.length === 0 && !busy && <p class="muted">This session has no prompts yet.</p>}
      <ol class="outline">
        {prompts.map((prompt) => (
          <li key={prompt.key}>
            <button type="button" onClick={() => show(prompt.key)}>
              <span class="outline-text" dir="auto"><InOrder text={(prompt.text.trim().split("\n")[0] ?? "").slice(0, LINE_MAX) || "(attachment)"} /></span>
              <Time at={prompt.at} />
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}
