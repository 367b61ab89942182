// A card by keys: two of them in a row say yes, so that none that is pressed by habit does.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isWriting } from "../app/keys.ts";

/** The second key has to follow within this time. */
const ARMED_MS = 4000;

interface Props {
  /** What the second key does: once, or for the session where this device may grant that. */
  yes: { o: () => void; s?: () => void };
  no: () => void;
}

/** Listens while the focus is in the card, and says what the next key does. */
export function KeySteps(props: Props): VNode {
  const place = useRef<HTMLParagraphElement>(null);
  const given = useRef(props);
  given.current = props;
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    const card = place.current?.closest<HTMLElement>(".needs-you");
    if (card == null) return undefined;
    let isArmed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arm = (now: boolean) => {
      isArmed = now;
      setArmed(now);
      clearTimeout(timer);
      if (now) timer = setTimeout(() => arm(false), ARMED_MS);
    };
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || isWriting(event.target)) return;
      const key = event.key.toLowerCase();
      const was = isArmed;
      arm(key === "a");
      if (was && (key === "o" || key === "s")) given.current.yes[key]?.();
      else if (!was && key === "d") given.current.no();
      else if (key !== "a") return;
      event.preventDefault();
    };
    card.addEventListener("keydown", press);
    return () => {
      clearTimeout(timer);
      card.removeEventListener("keydown", press);
    };
  }, []);
  return (
    <p class="key-steps" ref={place} role="status">
      {armed && (
        <>
          Allow: <kbd>O</kbd> once, {props.yes.s !== undefined && <><kbd>S</kbd> for the session, </>}any other key not
        </>
      )}
    </p>
  );
}

/** A field that has come up because somebody asked for it gets the focus. */
export function focusOnce(field: HTMLElement | null): void {
  field?.focus();
}
