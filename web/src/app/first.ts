// What is shown first when the address names nothing: what needs somebody, else the newest session.
// A server that only plays a script begins to play it.

import { effect } from "@preact/signals";
import { postJson } from "../net/api.ts";
import type { CreateSession, SessionView } from "../wire.ts";
import { route } from "./route.ts";
import { mayI, meta, open, openSession, sessionsLoaded, sorted, words } from "./store.ts";
import { say } from "./toasts.ts";

const WIDE = "(min-width: 860px)";

export function followFirst(): void {
  let begun = false;
  effect(() => {
    if (route.value.view !== "home" || !sessionsLoaded.value) return;
    const first = sorted.value[0];
    if (first !== undefined) {
      // On a phone the list comes first.
      if (matchMedia(WIDE).matches && open.peek() === undefined) openSession(first.key);
      else if (!matchMedia(WIDE).matches) openSession(undefined);
      return;
    }
    if (meta.value?.demo && !begun && mayI("prompt")) {
      begun = true;
      void playDemo();
    }
  });
}

async function playDemo(): Promise<void> {
  const request: Partial<CreateSession> = { cwd: "/tmp", prompt: "The totals are off by a cent. Please find out why and fix it.", title: "Fix the totals", client_id: "demo" };
  try {
    await postJson<SessionView>("sessions", request);
  } catch (error) {
    say("error", words(error));
  }
}
