// Shows pending requests and unread news in the tab's title and, if supported, in the app's badge. The tab's icon
// changes with pending requests only.

import { effect } from "@preact/signals";
import { nameOf } from "../model/name.ts";
import { inboxCounts } from "./inbox.ts";
import { viewOf, waitingCount } from "./list.ts";
import { open } from "./store.ts";

export function followTitle(): void {
  effect(() => {
    const waits = waitingCount.value;
    const count = waits + (inboxCounts.value?.unread ?? 0);
    const name = open.value?.name;
    const session = name === undefined ? undefined : viewOf(name);
    document.title = `${count > 0 ? `(${count}) ` : ""}${session === undefined ? "Tidings" : `${nameOf(session)} · Tidings`}`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null) icon.href = waits > 0 ? "icon-waiting.svg" : "icon.svg";
    if ("setAppBadge" in navigator) {
      const done = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
      done.catch(() => undefined);
    }
  });
}
