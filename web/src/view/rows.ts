// Hooks of a conversation: its rows, and jumps to one of them.

import { useEffect, useRef } from "preact/hooks";
import type { Jump } from "../app/jumps.ts";
import { jumpTo } from "../app/jumps.ts";
import { route } from "../app/route.ts";
import { linkedItem } from "../app/scroll-positions.ts";
import type { OpenSession } from "../app/session.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Conversation } from "../model/conversation.ts";
import type { RowItem } from "../model/runs.ts";
import { rowsOf } from "../model/runs.ts";

/** Said if a link names a message that does not exist any more. */
export const NO_MESSAGE = "The message of this link is not in the session";

/** The rows of a conversation; rows that did not change stay the same objects. */
export function useRows(all: Conversation): RowItem[] {
  const before = useRef<RowItem[]>([]);
  before.current = rowsOf(all.items, (id) => all.asks.has(id), before.current);
  return before.current;
}

/** Calls `show` with each requested item. */
export function useJumps(open: OpenSession, show: (jump: Jump) => void): void {
  const wanted = jumpTo.value;
  useEffect(() => {
    if (wanted === undefined) return;
    jumpTo.value = undefined;
    show(wanted);
  }, [wanted, open]);
}

/** Jumps to the message that the address names, which may be among events that are not loaded. */
export function useLinkedMessage(open: OpenSession): void {
  const link = route.value.view === "session" ? route.value.at : undefined;
  useEffect(() => {
    if (link === undefined) return;
    const find = async () => {
      let item = linkedItem(open.conversation.items, link);
      while (item === undefined && open.more.value) {
        await open.loadOlder();
        item = linkedItem(open.conversation.items, link);
      }
      if (item === undefined) showToast("error", NO_MESSAGE);
      else jumpTo.value = { key: item.key, isLinked: true };
    };
    find().catch((error: unknown) => showToast("error", errorText(error)));
  }, [open, link]);
}
