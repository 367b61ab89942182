// Pending requests of the open session: one card at a time, near the thumb.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { cardShown } from "../app/keys.ts";
import { useVisibleRequest } from "../app/inbox.ts";
import { route } from "../app/route.ts";
import { answered, unsentCommands, hasScope, problemText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { keepUnsent, settledUnseen } from "../app/card-text.ts";
import { can, placeOf } from "../model/capabilities.ts";
import type { Conversation, Settled } from "../model/conversation.ts";
import { settledText } from "../model/decision.ts";
import { toolOf } from "../model/fold.ts";
import type { SessionView } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { PermissionCard } from "./permission.tsx";
import { QuestionCard } from "./question.tsx";

/** Reports who answered a card, and saves the text that was typed into it. */
function answeredElsewhere(session: SessionView, id: string, settled: Settled | undefined): void {
  const kept = !keepUnsent(session.key, id, () => false) ? "" : can(session, "prompt") ? " Your text is in the prompt field." : " Your text is kept as a draft.";
  showToast("plain", `${settledText(settled)}${kept}`);
}

function settledOf(all: Conversation, id: string): Settled | undefined {
  return toolOf(all, id)?.settled ?? all.decisions.get(id)?.settled;
}

/** Index of the request that the address names, else 0. `changed` is called with another address. */
function useLinkedRequest(ids: readonly string[], changed: () => void): number {
  const where = route.value;
  const wanted = where.view === "session" ? where.ask : undefined;
  useLayoutEffect(changed, [wanted]);
  return wanted === undefined ? 0 : Math.max(0, ids.indexOf(wanted));
}

export function NeedsYou({ all, session }: { all: Conversation; drawn: number; session: SessionView }): VNode | null {
  const open = [...all.asks.values()].filter((ask) => !answered.value.has(ask.id) && (ask.kind === "permission" || ask.request.questions.length > 0));
  const underWay = [...all.asks.values()].some((ask) => answered.value.has(ask.id));
  const delayed = unsentCommands.value.find(({ command, delayed }) => command.type === "answer" && command.session === session.key && delayed !== undefined)?.delayed;
  const [chosen, setAt] = useState<number | undefined>(undefined);
  const linked = useLinkedRequest(open.map(({ id }) => id), () => setAt(undefined));
  const at = chosen ?? linked;
  const ask = open[Math.min(at, open.length - 1)];
  const canAnswer = can(session, "answer");
  const may = canAnswer && hasScope("decide");
  const box = useRef<HTMLDivElement>(null);
  // The focused element may be removed by this update. The focus then moves to the new content, but to no
  // button of it.
  const hadFocus = box.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (!hadFocus || (document.activeElement !== null && document.activeElement !== document.body)) return;
    (box.current ?? document.querySelector<HTMLElement>(".session .scroller"))?.focus();
  });
  // Another device may answer the displayed card, also while the user types a reason into it.
  const shown = useRef<{ session: string; id: string } | undefined>(undefined);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = ask === undefined ? undefined : { session: session.key, id: ask.id };
    if (before === undefined || before.session !== session.key || before.id === ask?.id || all.asks.has(before.id) || answered.value.has(before.id)) return;
    answeredElsewhere(session, before.id, settledOf(all, before.id));
  });
  // Others were answered while no page showed them, such as between closing this one and opening it again.
  useLayoutEffect(() => {
    const waits = (id: string) => all.asks.has(id) || answered.value.has(id);
    for (const id of settledUnseen(session.key, waits)) answeredElsewhere(session, id, settledOf(all, id));
  }, [session.key, all]);
  useVisibleRequest(box, ask === undefined || !may ? undefined : { requests: [{ session: session.key, tool_use_id: ask.id }] });
  const drawn = (element: HTMLDivElement | null) => {
    box.current = element;
    if (ask !== undefined) cardShown(element);
  };
  if (ask === undefined) {
    if (!underWay && session.waits_for !== undefined) {
      return (
        <div class="needs-you" role="region" aria-label="Needs you" tabIndex={-1} ref={drawn}>
          <p class="muted watching">It waits {placeOf(session.origin)}: {session.waits_for}. Answer it there.</p>
        </div>
      );
    }
    if (!underWay) return null;
    return (
      <div class="needs-you sending" role="status" tabIndex={-1} ref={drawn}>
        <Spinner /> Sending your answer{delayed !== undefined && `; the server has not accepted it yet: ${problemText(delayed)}`}
      </div>
    );
  }
  return (
    <div class="needs-you" role="region" aria-label="Needs you" tabIndex={-1} ref={drawn}>
      {open.length > 1 && (
        <nav class="pager" aria-label="Pending requests">
          <button type="button" class="ghost" disabled={at <= 0} onClick={() => setAt(Math.max(0, at - 1))} aria-label="Previous request">
            <Icon name="back" />
          </button>
          <span role="status">
            {Math.min(at, open.length - 1) + 1} of {open.length} that wait
          </span>
          <button type="button" class="ghost flip" disabled={at >= open.length - 1} onClick={() => setAt(Math.min(open.length - 1, at + 1))} aria-label="Next request">
            <Icon name="back" />
          </button>
        </nav>
      )}
      {!canAnswer && <p class="muted watching">Answer this request {placeOf(session.origin)}.</p>}
      {canAnswer && !may && <p class="muted watching">This device is read-only. Pair it again with the scope “decide” to answer.</p>}
      <fieldset class="asked" disabled={!may && ask.kind === "question" && ask.details.kind !== "Plan"}>
        {ask.kind === "permission" ? <PermissionCard key={ask.id} ask={ask} session={session.key} cwd={all.cwd} may={may} /> : <QuestionCard key={ask.id} ask={ask} session={session.key} may={may} />}
      </fieldset>
    </div>
  );
}
