// The plan of a card. It shows that there is more below, and reports when its end was visible.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Markdown } from "./markdown.tsx";
import { Icon } from "./icons.tsx";

/** Distance in pixels at which the end counts as seen. */
const NEAR_END_PX = 12;

export function PlanText({ text, seen }: { text: string; seen: () => void }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [left, setLeft] = useState(0);
  const look = () => {
    const element = box.current;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    setLeft(below <= NEAR_END_PX ? 0 : Math.max(1, Math.ceil(below / Math.max(1, element.clientHeight))));
    if (below <= NEAR_END_PX) seen();
  };
  useLayoutEffect(() => {
    look();
    const element = box.current;
    if (element === null) return undefined;
    // A wider window may show all of it.
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [text]);
  const down = () => box.current?.scrollBy({ top: box.current.clientHeight * 0.85 });
  return (
    <div class="plan-box">
      <div class="plan-text" ref={box} tabIndex={0} role="group" aria-label="The plan" onScroll={look}>
        <Markdown text={text} />
      </div>
      {left > 0 && (
        <button type="button" class="plan-more" onClick={down}>
          <Icon name="chevron" /> More below ({left === 1 ? "one screen" : `${left} screens`})
        </button>
      )}
    </div>
  );
}
