// Closing of menus: by a press or focus outside of them, and by Escape.

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

export function useDismiss(box: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const leave = (event: Event) => {
      if (box.current !== null && event.target instanceof Node && !box.current.contains(event.target)) close();
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // Escape does nothing else, such as interrupting a turn.
      event.preventDefault();
      event.stopPropagation();
      box.current?.querySelector<HTMLElement>("[aria-expanded]")?.focus();
      close();
    };
    for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, leave);
    addEventListener("keydown", press, { capture: true });
    return () => {
      for (const kind of ["pointerdown", "focusin"]) removeEventListener(kind, leave);
      removeEventListener("keydown", press, { capture: true });
    };
  }, [isOpen]);
}
