// A box that scrolls. It shows that there is more below, and reports when its end was visible.

import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

/** Distance in pixels at which the end counts as seen. */
const NEAR_END_PX = 12;

interface Props {
  class: string;
  label: string;
  /** Another content is read from its start. */
  content: string;
  seen: () => void;
  children: ComponentChildren;
}

export function ScrollBox({ class: name, label, content, seen, children }: Props): VNode {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [left, setLeft] = useState(0);
  const look = () => {
    const element = box.current;
    // Without a size it is not on the screen.
    if (element === null || element.clientHeight === 0) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    setLeft(below <= NEAR_END_PX ? 0 : Math.max(1, Math.ceil(below / Math.max(1, element.clientHeight))));
    if (below <= NEAR_END_PX) seen();
  };
  useLayoutEffect(() => {
    look();
    const element = box.current;
    if (element === null || inner.current === null) return undefined;
    // A wider window may show all of it, and a comment makes it longer.
    const observer = new ResizeObserver(look);
    observer.observe(element);
    observer.observe(inner.current);
    return () => observer.disconnect();
  }, [content]);
  const down = () => box.current?.scrollBy({ top: box.current.clientHeight * 0.85 });
  return (
    <div class="scroll-frame">
      <div class={name} ref={box} tabIndex={0} role="group" aria-label={label} onScroll={look}>
        <div ref={inner}>{children}</div>
      </div>
      {left > 0 && (
        <button type="button" class="plan-more" onClick={down}>
          <Icon name="chevron" /> More below ({left === 1 ? "one screen" : `${left} screens`})
        </button>
      )}
    </div>
  );
}
