// Jumps in the open conversation, requested by parts of the page that do not draw it.

import { signal } from "@preact/signals";

/** The item to scroll to; each request is a new object. */
export const jumpTo = signal<Jump | undefined>(undefined);

export interface Jump {
  key: string;
  /** True if a link led there: the item is marked. */
  isLinked?: boolean;
}

/** The prompt to rewind to, for the panel. */
export const rewindTo = signal<string | undefined>(undefined);

/** The call whose full output is wanted, because a search found the text in the part that was left out. */
export const wholeWanted = signal<{ id: string; text: string } | undefined>(undefined);
