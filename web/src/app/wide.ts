// Width of the window: side by side, or one view at a time.

import { signal } from "@preact/signals";

const query = matchMedia("(min-width: 861px)");

/** True if the list and a session are side by side. */
export const wide = signal(query.matches);
query.addEventListener("change", () => (wide.value = query.matches));
