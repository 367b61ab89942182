// Pairing codes: in the address of the page, and pasted ones.

import { signal } from "@preact/signals";
import { codeIn, hasCode } from "../model/code.ts";
import { route } from "./route.ts";
import { authenticate, pair, errorText } from "./store.ts";

/** Reason why this browser could not be paired. */
export const pairProblem = signal("");

/** Exchanges the code in the address for a credential. */
export async function pairByAddress(): Promise<void> {
  const code = codeIn(location.hash);
  // Removed at once: it works once, and should not be copied.
  history.replaceState(null, "", `${location.pathname}#/`);
  route.value = { view: "home" };
  pairProblem.value = "";
  try {
    await pair(code);
  } catch (error) {
    pairProblem.value = errorText(error);
    await authenticate();
  }
}

/** Pasting a pairing link into a tab that already shows the page changes only the part after the `#`. */
export function followCodes(): void {
  addEventListener("hashchange", () => {
    if (hasCode(location.hash)) void pairByAddress();
  });
}
