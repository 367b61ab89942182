// A virtual list: only visible rows are drawn. Heights are measured after drawing and estimated before.

import type { ComponentChildren, VNode } from "preact";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

interface Keyed {
  key: string;
}

interface Props<T extends Keyed> {
  items: readonly T[];
  /** Estimated height in pixels. */
  estimate(item: T): number;
  render(item: T): ComponentChildren;
  label: string;
  /** Drawn above the first item. */
  before?: ComponentChildren;
  /** Drawn below the last item. */
  after?: ComponentChildren;
  /** A change of it draws every row again. */
  epoch: string;
  /** Initial position; the end by default. */
  begin?: Anchor | undefined;
  /** The highlighted row. */
  marked?: string | undefined;
  /** A change of it scrolls to the end and follows it. */
  latest?: number | undefined;
  /** Reports the position; `undefined` is the end. */
  moved?(anchor: Anchor | undefined): void;
}

/** Pixels drawn beyond the visible area, so that scrolling shows no gaps. */
const MARGIN_PX = 600;

/** Distance in pixels from the end at which the list follows new rows. */
const NEAR_END_PX = 48;

/** Time in milliseconds without scrolling before the position is reported. */
const STILL_MS = 150;

export function VirtualList<T extends Keyed>(props: Props<T>): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const begun = useRef(false);
  const follows = useRef(true);
  const latest = useRef(props.latest);
  if (latest.current !== props.latest) follows.current = true;
  latest.current = props.latest;
  const place = useRef({ top: 0, height: 800 });
  const moved = useRef(props.moved);
  moved.current = props.moved;
  const firstKey = useRef<string | undefined>(undefined);
  /** The visible rows while older ones are prepended. */
  const anchors = useRef<readonly Anchor[]>([]);
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);

  const sizes = props.items.map((item) => heights.current.get(item.key) ?? props.estimate(item));
  if (!begun.current) {
    begun.current = true;
    const at = props.begin === undefined ? -1 : props.items.findIndex((item) => item.key === props.begin?.key);
    if (props.begin !== undefined && at !== -1) {
      follows.current = false;
      anchors.current = [props.begin];
      place.current = { ...place.current, top: sum(sizes, 0, at) - props.begin.top };
    }
  }
  const before = firstKey.current;
  firstKey.current = props.items[0]?.key;
  if (before !== undefined && before !== firstKey.current && !follows.current && scroller.current !== null) {
    const indexes = new Map(props.items.map((item, index) => [item.key, index]));
    anchors.current = rowsInSight(scroller.current).filter(({ key }) => indexes.has(key));
    const [held] = anchors.current;
    if (held !== undefined) place.current = { ...place.current, top: sum(sizes, 0, indexes.get(held.key) ?? 0) - held.top };
  }
  const isPrinted = usePrinting();
  const { first, last, above, below } = isPrinted ? { first: 0, last: sizes.length, above: 0, below: 0 } : windowOf(sizes, place.current.top, place.current.height, follows.current);

  // Only rows are observed; a row that changes height is measured again.
  const observer = useRef<ResizeObserver | undefined>(undefined);
  observer.current ??= new ResizeObserver((entries) => {
    let changed = false;
    for (const entry of entries) {
      const key = (entry.target as HTMLElement).dataset["key"];
      const height = Math.round(entry.borderBoxSize[0]?.blockSize ?? entry.contentRect.height);
      if (key === undefined || heights.current.get(key) === height) continue;
      heights.current.set(key, height);
      changed = true;
    }
    if (!changed) return;
    if (follows.current) toEnd(scroller.current);
    else redraw(undefined);
  });
  useEffect(() => () => observer.current?.disconnect(), []);

  useLayoutEffect(() => {
    if (follows.current) toEnd(scroller.current);
    else if (scroller.current !== null) keep(scroller.current, anchors.current);
    anchors.current = [];
  });

  // A layout effect ends while its rows are still in the document, so that the position can be reported.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let still: ReturnType<typeof setTimeout> | undefined;
    let before = element.scrollTop;
    const report = () => {
      clearTimeout(still);
      still = undefined;
      moved.current?.(follows.current ? undefined : rowsInSight(element)[0]);
    };
    // A reload or another view may come before the scrolling counts as ended.
    const leave = () => still !== undefined && report();
    const look = () => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      const followed = follows.current;
      // Growth at the end moves it out of view; only scrolling up stops following.
      const up = scrollTop < before;
      before = scrollTop;
      follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX || (followed && !up);
      const offset = inner.current?.offsetTop ?? 0;
      const moved = Math.abs(place.current.top - (scrollTop - offset)) > MARGIN_PX / 3 || place.current.height !== clientHeight;
      if (moved || followed !== follows.current) {
        place.current = { top: scrollTop - offset, height: clientHeight };
        redraw(undefined);
      }
    };
    const scrolled = () => {
      look();
      clearTimeout(still);
      still = setTimeout(report, STILL_MS);
    };
    look();
    element.addEventListener("scroll", scrolled, { passive: true });
    addEventListener("pagehide", leave);
    const sizes = new ResizeObserver(() => {
      if (follows.current) toEnd(element);
      look();
    });
    sizes.observe(element);
    return () => {
      leave();
      removeEventListener("pagehide", leave);
      element.removeEventListener("scroll", scrolled);
      sizes.disconnect();
    };
  }, []);

  const watchRow = (element: Element) => observer.current?.observe(element);
  const unwatchRow = (element: Element) => observer.current?.unobserve(element);
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label={props.label}>
      {props.before}
      <div ref={inner} role="feed" aria-label={props.label} aria-busy="false">
        <div style={{ height: `${above}px` }} />
        {props.items.slice(first, last).map((item) => (
          <Row key={item.key} item={item} found={item.key === props.marked} epoch={props.epoch} render={props.render} watch={watchRow} unwatch={unwatchRow} />
        ))}
        <div style={{ height: `${below}px` }} />
      </div>
      {props.after}
      <ToEnd shown={!follows.current} go={() => { follows.current = true; toEnd(scroller.current); redraw(undefined); }} />
    </div>
  );
}

/** True while the page is printed, with all of its rows. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => setPrinting(true);
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting;
}

function ToEnd({ shown, go }: { shown: boolean; go: () => void }): VNode | null {
  if (!shown) return null;
  return (
    <div class="to-end">
      <button type="button" onClick={go}>
        Latest ↓
      </button>
    </div>
  );
}

function toEnd(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
}

/** A row, and its distance from the upper edge in pixels. */
export interface Anchor {
  key: string;
  top: number;
}

/** The visible rows and their distances from the upper edge. */
function rowsInSight(scroller: HTMLElement): Anchor[] {
  const edge = scroller.getBoundingClientRect().top;
  return [...scroller.querySelectorAll<HTMLElement>(".row")]
    .map((row) => ({ key: row.dataset["key"] ?? "", top: row.getBoundingClientRect().top - edge, height: row.offsetHeight }))
    .filter(({ top, height }) => top + height > 0);
}

/**
 * Scrolls so that the rows stay in place. One of them may have become part of an older one, and has no
 * position then.
 */
function keep(scroller: HTMLElement, anchors: readonly Anchor[]): void {
  for (const { key, top } of anchors) {
    const row = scroller.querySelector(`.row[data-key="${CSS.escape(key)}"]`);
    if (row === null || row.getClientRects().length === 0) continue;
    scroller.scrollTop += row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - top;
    return;
  }
}

function windowOf(sizes: number[], top: number, height: number, fromEnd: boolean) {
  if (fromEnd) {
    let first = sizes.length;
    let drawn = 0;
    while (first > 0 && drawn < height + MARGIN_PX) {
      first -= 1;
      drawn += sizes[first] ?? 0;
    }
    return { first, last: sizes.length, above: sum(sizes, 0, first), below: 0 };
  }
  let first = 0;
  let above = 0;
  while (first < sizes.length && above + (sizes[first] ?? 0) < top - MARGIN_PX) {
    above += sizes[first] ?? 0;
    first += 1;
  }
  let last = first;
  let drawn = above;
  while (last < sizes.length && drawn < top + height + MARGIN_PX) {
    drawn += sizes[last] ?? 0;
    last += 1;
  }
  return { first, last, above, below: sum(sizes, last, sizes.length) };
}

function sum(sizes: number[], from: number, to: number): number {
  let total = 0;
  for (let index = from; index < to; index += 1) total += sizes[index] ?? 0;
  return total;
}

interface RowProps<T extends Keyed> {
  item: T;
  found: boolean;
  epoch: string;
  render(item: T): ComponentChildren;
  watch(element: Element): void;
  unwatch(element: Element): void;
}

/** A row is drawn again only if its item is another object. */
class Row<T extends Keyed> extends Component<RowProps<T>> {
  #element: HTMLElement | null = null;

  override shouldComponentUpdate(next: RowProps<T>): boolean {
    return next.item !== this.props.item || next.epoch !== this.props.epoch;
  }

  override componentDidMount(): void {
    if (this.#element !== null) this.props.watch(this.#element);
  }

  override componentWillUnmount(): void {
    if (this.#element !== null) this.props.unwatch(this.#element);
  }

  override render(): ComponentChildren {
    const { item, found } = this.props;
    return (
      <article class={found ? "row found" : "row"} data-key={item.key} ref={(element: HTMLElement | null) => { if (element !== null) this.#element = element; }}>
        {this.props.render(item)}
      </article>
    );
  }
}
