// Keyboard control of a card: allowing takes two keys in a row, so that a habitual key press does not allow.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isWriting } from "../app/keys.ts";

/** Time limit in milliseconds for the second key. */
const ARMED_MS = 4000;

interface Props {
  /** Actions of the second key: allow once, or for the session if this device may grant that. */
  yes: { o: () => void; s?: () => void };
  no: () => void;
}

/** Listens while the focus is in the card, and shows the action of the next key. */
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
          Allow: <kbd>O</kbd> once, {props.yes.s !== undefined && <><kbd>S</kbd> for the session, </>}any other key cancels
        </>
      )}
    </p>
  );
}

/** Focuses a field that the user has opened. */
export function focusOnce(field: HTMLElement | null): void {
  field?.focus();
}
