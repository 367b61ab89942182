// Rules of notifications for all devices: reminders, quiet hours, kinds.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText, hasScope } from "../app/store.ts";
import { KINDS } from "../model/inbox.ts";
import { parseReminders, remindersText } from "../model/notify.ts";
import { getJson, send } from "../net/api.ts";
import type { InboxKind, NotifySettings } from "../wire.ts";
import { ServerText } from "./server-text.tsx";

const QUIET = { from: "22:00", to: "07:00" };

export function NotifyRules(): VNode | null {
  const [saved, setSaved] = useState<NotifySettings | undefined>(undefined);
  const [result, setResult] = useState<{ ok: boolean; text: string } | undefined>(undefined);
  useEffect(() => {
    getJson<NotifySettings>("notify/settings").then(setSaved, (error: unknown) => setResult({ ok: false, text: errorText(error) }));
  }, []);
  const save = (next: NotifySettings) => {
    setResult(undefined);
    send<NotifySettings>("PUT", "notify/settings", next).then(
      (now) => {
        setSaved(now);
        setResult({ ok: true, text: "Saved" });
      },
      (error: unknown) => setResult({ ok: false, text: errorText(error) }),
    );
  };
  return (
    <section class="notify-rows" aria-label="Rules for notifications">
      <h3>Rules for notifications</h3>
      {saved !== undefined && <RuleForm key={JSON.stringify(saved)} saved={saved} save={save} refuse={(text) => setResult({ ok: false, text })} />}
      {result !== undefined && (
        <p class={result.ok ? "test-good" : "test-bad"} role="status">
          <ServerText text={result.text} />.
        </p>
      )}
    </section>
  );
}

function RuleForm({ saved, save, refuse }: { saved: NotifySettings; save: (next: NotifySettings) => void; refuse: (text: string) => void }): VNode {
  const [draft, setDraft] = useState(saved);
  const [reminders, setReminders] = useState(remindersText(saved.reminders_s));
  const may = hasScope("admin");
  const { quiet } = draft;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const submit = (event: Event) => {
    event.preventDefault();
    const reminders_s = parseReminders(reminders);
    if (reminders_s === undefined) refuse("Reminders are a list of minutes, such as 1, 5, 30");
    else save({ ...draft, reminders_s });
  };
  const setQuiet = (next: Partial<NonNullable<NotifySettings["quiet"]>>) => setDraft({ ...draft, quiet: { ...QUIET, zone, ...quiet, ...next } });
  const withoutQuiet = () => {
    const { quiet: _, ...rest } = draft;
    setDraft(rest);
  };
  const toggle = (kind: InboxKind, on: boolean) => setDraft({ ...draft, off_kinds: on ? draft.off_kinds.filter((one) => one !== kind) : [...draft.off_kinds, kind] });
  return (
    <form onSubmit={submit}>
      <fieldset class="plain-fields notify-rows" disabled={!may}>
        <legend class="sr">Rules for notifications</legend>
        {!may && <p class="muted">Changing them needs the scope “admin”.</p>}
        <label>
          Remind me after (minutes)
          <input type="text" inputMode="decimal" value={reminders} onInput={(event) => setReminders(event.currentTarget.value)} />
        </label>
        <div class="notify-row">
          <label class="check">
            <input type="checkbox" checked={quiet !== undefined} onChange={(event) => (event.currentTarget.checked ? setQuiet({}) : withoutQuiet())} /> Quiet hours
          </label>
          {quiet !== undefined && (
            <>
              <label>
                from
                <input type="time" value={quiet.from} onInput={(event) => setQuiet({ from: event.currentTarget.value })} />
              </label>
              <label>
                to
                <input type="time" value={quiet.to} onInput={(event) => setQuiet({ to: event.currentTarget.value })} />
              </label>
              <span class="muted">{quiet.zone}; notifications wait until they end</span>
            </>
          )}
        </div>
        <label class="check">
          <input type="checkbox" checked={draft.details} onChange={(event) => setDraft({ ...draft, details: event.currentTarget.checked })} /> Show commands and paths in notifications
        </label>
        <details>
          <summary>Kinds of notifications</summary>
          {(Object.entries(KINDS) as [InboxKind, string][]).map(([kind, label]) => (
            <label class="check" key={kind}>
              <input type="checkbox" checked={!draft.off_kinds.includes(kind)} onChange={(event) => toggle(kind, event.currentTarget.checked)} /> {label}
            </label>
          ))}
        </details>
        {may && (
          <div class="notify-row">
            <button type="submit">Save rules</button>
          </div>
        )}
      </fieldset>
    </form>
  );
}
