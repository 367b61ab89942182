// Everything that Escape closes: one stack, in the order in which it was opened. Escape closes the innermost
// entry; only if there is none it means something else, such as interrupting the turn.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Entry {
  /** The element to which the entry belongs, once it is drawn. */
  box(): Element | null;
  close(): void;
  /** The element that had the focus when the entry was opened. */
  opener: Element | null;
  /** True if Escape closes the entry only with the focus inside of it. */
  isLocal: boolean;
}

interface Options {
  isLocal?: boolean;
}

const entries: Entry[] = [];

/** Field in which Escape interrupts the turn, whatever else is open. */
const PROMPT = ".composer";

/** The modal dialog in front; the browser itself closes it on Escape. */
function modalInFront(): Element | undefined {
  return [...document.querySelectorAll("dialog:modal")].at(-1);
}

/** True while a select shows its options; the browser itself closes it on Escape. */
function isSelectOpen(): boolean {
  return CSS.supports("selector(:open)") && document.querySelector("select:open") !== null;
}

/** The entry that Escape closes with the focus on an element. */
function innermost(target: Node): Entry | undefined {
  const modal = modalInFront();
  const isInPrompt = target instanceof Element && target.closest(PROMPT) !== null;
  return entries.findLast((entry) => {
    const box = entry.box();
    if (box === null || (modal !== undefined && !modal.contains(box))) return false;
    return box.contains(target) || (!entry.isLocal && !isInPrompt);
  });
}

/** The element to which the focus returns. A button that was replaced in the meantime is found by `data-opens`. */
function returnTarget(opener: Element | null): HTMLElement | null {
  if (!(opener instanceof HTMLElement) || opener === document.body) return null;
  if (opener.isConnected) return opener;
  const opens = opener.dataset["opens"];
  return opens === undefined ? null : document.querySelector<HTMLElement>(`[data-opens="${opens}"]`);
}

function closeEntry(entry: Entry): void {
  entry.close();
  // After the page was drawn without the entry.
  queueMicrotask(() => {
    const target = returnTarget(entry.opener) ?? document.querySelector<HTMLElement>(".session .scroller");
    target?.focus({ preventScroll: true });
  });
}

/** Closes the innermost entry on Escape; called once, before other listeners. */
export function followEscape(): void {
  addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      const entry = isSelectOpen() ? undefined : innermost(event.target instanceof Node ? event.target : document.body);
      if (entry === undefined && !isSelectOpen() && modalInFront() === undefined) return;
      event.stopImmediatePropagation();
      if (entry === undefined) return;
      event.preventDefault();
      closeEntry(entry);
    },
    { capture: true },
  );
}

/** Puts something on the stack while it is open. Returns the function that closes it like Escape. */
export function useEscape(box: RefObject<Element | null>, isOpen: boolean, close: () => void, { isLocal = false }: Options = {}): () => void {
  const latest = useRef(close);
  latest.current = close;
  const entry = useRef<Entry | undefined>(undefined);
  // While it is drawn, since its own field takes the focus before effects run.
  if (isOpen && entry.current === undefined) entry.current = { box: () => box.current, close: () => latest.current(), opener: document.activeElement, isLocal };
  if (!isOpen) entry.current = undefined;
  useEffect(() => {
    const opened = entry.current;
    if (opened === undefined) return undefined;
    entries.push(opened);
    return () => void entries.splice(entries.indexOf(opened), 1);
  }, [isOpen]);
  return () => (entry.current === undefined ? latest.current() : closeEntry(entry.current));
}

/** Closes a menu by a press or focus outside of it, and by Escape. */
export function useDismiss(box: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  useEscape(box, isOpen, close);
  useEffect(() => {
    if (!isOpen) return undefined;
    const leave = (event: Event) => {
      if (box.current !== null && event.target instanceof Node && !box.current.contains(event.target)) close();
    };
    for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, leave);
    return () => {
      for (const kind of ["pointerdown", "focusin"]) removeEventListener(kind, leave);
    };
  }, [isOpen]);
}
