// Continuing after a limit of the plan: the menu item that allows it for a session, and the time at which the session goes on.

import type { VNode } from "preact";
import { errorText, hasScope } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { can } from "../model/capabilities.ts";
import { send } from "../net/api.ts";
import { moment } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { Icon } from "./icons.tsx";

/** It lets an agent work unasked, so it needs the same scope as a rule. */
export function mayContinueAfterLimit(session: SessionView): boolean {
  return hasScope("always") && can(session, "stop");
}

async function change(session: SessionView, on: boolean): Promise<void> {
  try {
    await send("PATCH", `sessions/${encodeURIComponent(session.key)}`, { continue_after_limit: on });
    showToast("plain", on ? "When a limit of your plan ends a turn, this session continues once after the reset." : "This session does not continue by itself any more.");
  } catch (error) {
    showToast("error", errorText(error));
  }
}

export function AfterLimitItem({ session, close }: { session: SessionView; close: () => void }): VNode {
  const isOn = session.continue_after_limit === true;
  const toggle = () => {
    close();
    void change(session, !isOn);
  };
  return (
    <button type="button" onClick={toggle}>
      <Icon name="clock" /> {isOn ? "Do not continue after a limit" : "Continue after a limit"}
    </button>
  );
}

/** The time at which a session that a limit has ended goes on. */
export function ContinuesAt({ session }: { session: SessionView }): VNode | null {
  if (session.continues_at === undefined) return null;
  return (
    <p class="muted" role="status">
      Continues by itself: {moment(new Date(session.continues_at), new Date())}
      {mayContinueAfterLimit(session) && (
        <>
          {" · "}
          <button type="button" class="link" onClick={() => void change(session, false)}>
            Do not continue
          </button>
        </>
      )}
    </p>
  );
}
