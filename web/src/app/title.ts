// Shows pending requests in the tab's title and icon and, if supported, in the app's badge.

import { effect } from "@preact/signals";
import { nameOf } from "../model/name.ts";
import { viewOf, waitingCount } from "./list.ts";
import { open } from "./store.ts";

export function followTitle(): void {
  effect(() => {
    const count = waitingCount.value;
    const name = open.value?.name;
    const session = name === undefined ? undefined : viewOf(name);
    document.title = `${count > 0 ? `(${count}) ` : ""}${session === undefined ? "Tidings" : `${nameOf(session)} · Tidings`}`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null) icon.href = count > 0 ? "icon-waiting.svg" : "icon.svg";
    if ("setAppBadge" in navigator) {
      const done = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
      done.catch(() => undefined);
    }
  });
}
