// Jumps in the open conversation, requested by parts of the page that do not draw it.

import { signal } from "@preact/signals";

/** The item to scroll to; each request is a new object. */
export const jumpTo = signal<{ key: string } | undefined>(undefined);

/** The prompt to rewind to, for the panel. */
export const rewindTo = signal<string | undefined>(undefined);
