// Notifications on this device, with the page closed (Web Push).

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { now } from "../app/clock.ts";
import { pushObstacle, pushState, subscribePush, testPush, unsubscribePush } from "../app/push.ts";
import { errorText } from "../app/store.ts";
import { testText } from "../model/push.ts";
import { age } from "../text/format.ts";
import type { NotifyTest, PushState } from "../wire.ts";
import { Spinner } from "./icons.tsx";
import { ServerText } from "./server-text.tsx";

export function PushSection(): VNode {
  const [state, setState] = useState<PushState | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const attempt = (doing: Promise<PushState>) => {
    setBusy(true);
    setProblem("");
    doing.then(setState, (error: unknown) => setProblem(errorText(error))).finally(() => setBusy(false));
  };
  useEffect(() => attempt(pushState()), []);
  const obstacle = pushObstacle() ?? (state?.available === false ? (state.reason ?? "The server cannot send notifications to this device") : undefined);
  return (
    <section class="notify-rows" aria-label="Notifications on this device">
      <h3>Notifications on this device</h3>
      <p class="muted">They arrive while the page is closed. Requests of low and medium risk have the buttons “Allow once” and “Deny”.</p>
      {obstacle !== undefined && <p class="warn-line"><ServerText text={obstacle} />.</p>}
      {obstacle === undefined && state !== undefined && (
        <div class="notify-row">
          {state.subscribed ? (
            <button type="button" disabled={busy} onClick={() => attempt(unsubscribePush())}>
              Turn off
            </button>
          ) : (
            <button type="button" class="main" disabled={busy} onClick={() => attempt(subscribePush(state.key))}>
              Turn on
            </button>
          )}
          <span>{busy ? <Spinner /> : state.subscribed ? "On" : "Off"}</span>
          {state.subscribed && <TestButton run={testPush} label="Send a test" />}
        </div>
      )}
      {state?.subscribed === true && <SubscriptionFacts state={state} />}
      {problem !== "" && (
        <p class="test-bad" role="alert">
          <ServerText text={problem} />.
        </p>
      )}
    </section>
  );
}

function SubscriptionFacts({ state }: { state: PushState }): VNode | null {
  const subscription = state.subscription;
  if (subscription === undefined) return null;
  const sent = subscription.last_sent === undefined ? "nothing sent yet" : `last sent ${age(subscription.last_sent, now.value)} ago`.replace("now ago", "now");
  return (
    <p class={subscription.state === "failing" ? "test-bad" : "muted"}>
      Push service: {subscription.host}, {sent}
      {subscription.state === "failing" && `. The last notification failed: ${subscription.error ?? "unknown reason"}`}
    </p>
  );
}

/** A button that sends a test notification, and shows the result. */
export function TestButton({ run, label }: { run: () => Promise<NotifyTest>; label: string }): VNode {
  const [result, setResult] = useState<NotifyTest | "running" | undefined>(undefined);
  const test = () => {
    setResult("running");
    run().then(setResult, (error: unknown) => setResult({ sent: false, message: errorText(error) }));
  };
  return (
    <>
      <button type="button" disabled={result === "running"} onClick={test} aria-label={label}>
        {result === "running" ? "Sending…" : "Send a test"}
      </button>
      {result !== undefined && result !== "running" && (
        <span class={result.sent ? "test-result test-good" : "test-result test-bad"} role="status">
          <ServerText text={testText(result)} />
        </span>
      )}
    </>
  );
}
