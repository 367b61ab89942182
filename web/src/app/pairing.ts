// Pairing codes: in the address of the page, and as they are pasted.

import { signal } from "@preact/signals";
import { codeIn, hasCode } from "../model/code.ts";
import { route } from "./route.ts";
import { enter, pair, words } from "./store.ts";

/** Why this browser could not be paired. */
export const pairProblem = signal("");

/** Exchanges the code in the address for a credential. */
export async function pairByAddress(): Promise<void> {
  const code = codeIn(location.hash);
  // Taken out at once: it works once, and nobody should copy it.
  history.replaceState(null, "", `${location.pathname}#/`);
  route.value = { view: "home" };
  pairProblem.value = "";
  try {
    await pair(code);
  } catch (error) {
    pairProblem.value = words(error);
    await enter();
  }
}

/** A link that is pasted into a tab which shows the page already changes only the part after the `#`. */
export function followCodes(): void {
  addEventListener("hashchange", () => {
    if (hasCode(location.hash)) void pairByAddress();
  });
}
