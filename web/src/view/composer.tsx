// The prompt field.

import type { RefObject, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useEscape } from "../app/dismiss.ts";
import { draftOf } from "../app/drafts.ts";
import { isWide } from "../app/initial-view.ts";
import type { Picked } from "../app/pictures.ts";
import { ACCEPTED, forget, pick, pickedOf } from "../app/pictures.ts";
import { command, hasScope, promptsSent, sendCommand } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Limits } from "../model/capabilities.ts";
import { can, possibleCommands } from "../model/capabilities.ts";
import type { Conversation } from "../model/conversation.ts";
import { earlierPrompts, recall } from "../model/recall.ts";
import type { Delivery, SessionView } from "../wire.ts";
import { CompletionList, useCompletions, useDescriptions, wantedAt } from "./completion.tsx";
import { Icon } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { ServerText } from "./server-text.tsx";
import { TakeOver, mayTakeOver } from "./take-over.tsx";

interface Props extends Limits {
  session: string;
  all: Conversation;
  drawn: number;
  busy: boolean;
}

/** The reason why the session takes no prompts, in place of the prompt field. */
export function Limited({ session, busy }: { session: SessionView; busy: boolean }): VNode {
  const box = useRef<HTMLDivElement>(null);
  useFocusOfComposer(box);
  return (
    <div class="composer limited" ref={box} tabIndex={-1}>
      <div class="composer-row">
        <p role="status">
          <ServerText text={session.limited ?? "This session takes no prompts now"} />.
        </p>
        {busy && can(session, "interrupt") && <InterruptButton session={session.key} />}
        {mayTakeOver(session) && <TakeOver key={session.key} session={session} />}
      </div>
    </div>
  );
}

function InterruptButton({ session }: { session: string }): VNode {
  return (
    <button type="button" class="stop" aria-label="Interrupt" title="Interrupt (Esc)" disabled={!hasScope("prompt")} onClick={() => command(session, "interrupt")}>
      <Icon name="stop" />
    </button>
  );
}

/** Takes over the focus of the composer that this one replaces. */
function useFocusOfComposer(field: RefObject<HTMLElement | null>): void {
  // The replaced one is removed after the first call.
  const [hadFocus] = useState(() => document.activeElement?.closest(".composer") != null);
  useLayoutEffect(() => {
    // On a phone the prompt field would open the keyboard.
    if (hadFocus && document.activeElement === document.body && (isWide() || field.current?.matches(".limited"))) field.current?.focus();
  }, []);
}

/** An opened session takes the next words, unless a pending request or another field has the user's attention. */
function useFocusOnOpen(field: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const at = document.activeElement;
    const isFree = at === null || at === document.body || at.matches(".session-card, .view");
    if (isWide() && matchMedia("(pointer: fine)").matches && isFree && document.querySelector(".needs-you, dialog[open]") === null) field.current?.focus({ preventScroll: true });
  }, []);
}

export function Composer({ session, capabilities, all, busy }: Props): VNode {
  const draft = draftOf(session);
  const text = draft.value;
  const [cursor, setCursor] = useState(0);
  const [active, setActive] = useState(0);
  const [delivery, setDelivery] = useState<Delivery>("queue");
  const pictures = pickedOf(session);
  const picked = pictures.value;
  const setPicked = (now: readonly Picked[]) => (pictures.value = now);
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const wanted = wantedAt(text, cursor);
  const items = useCompletions(session, wanted, all.slashCommands);
  const about = useDescriptions(session, wanted?.kind === "command", all.slashCommands);
  const shown = wanted === undefined ? [] : wanted.kind === "command" ? possibleCommands({ capabilities }, items) : items;

  // Hints about Tab and Shift are useless without a keyboard.
  const isPhone = matchMedia("(pointer: coarse)").matches;

  useEffect(() => grow(field.current), [text]);
  useFocusOfComposer(field);
  useFocusOnOpen(field);
  useEscape(field, shown.length > 0, () => setCursor(-1), { isLocal: true });

  const write = (value: string, at: number) => {
    draft.value = value;
    setCursor(at);
    setActive(0);
  };
  const complete = (item: string) => {
    if (wanted === undefined) return;
    const sign = wanted.kind === "command" ? "/" : "@";
    const before = `${text.slice(0, wanted.from)}${sign}${item} `;
    write(before + text.slice(cursor), before.length);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(before.length, before.length);
    });
  };
  const attach = (files: Iterable<File>) => {
    void pick(files, picked).then(({ picked: more, refused }) => {
      setPicked([...pictures.value, ...more]);
      for (const reason of refused) showToast("error", reason);
    });
  };
  const submit = () => {
    if (text.trim() === "" && picked.length === 0) return;
    const attachments = picked.map((one) => one.attachment);
    try {
      sendCommand((clientId) => ({
        type: "input",
        session,
        input: { content: text, delivery: busy && deliveries.includes(delivery) ? delivery : "queue", ...(attachments.length === 0 ? {} : { attachments }), client_id: clientId } as never,
      }));
    } catch (error) {
      showToast("error", error instanceof Error ? error.message : String(error));
      return;
    }
    promptsSent.value += 1;
    forget(picked);
    setPicked([]);
    // The delivery is reset to "after this turn" for each prompt.
    setDelivery("queue");
    write("", 0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (shown.length > 0) {
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (step !== 0) {
        event.preventDefault();
        setActive((active + step + shown.length) % shown.length);
        return;
      }
      const item = shown[active];
      if ((event.key === "Tab" || event.key === "Enter") && item !== undefined) {
        event.preventDefault();
        complete(item);
        return;
      }
    }
    if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const earlier = recall(earlierPrompts(all.items), text, event.key);
      if (earlier !== undefined) {
        event.preventDefault();
        // With the cursor at the start no completion is offered for a recalled command.
        write(earlier, 0);
        requestAnimationFrame(() => field.current?.setSelectionRange(earlier.length, earlier.length));
        return;
      }
    }
    if (event.key === "Tab" && text === "" && all.suggestion !== undefined && !event.shiftKey) {
      event.preventDefault();
      write(all.suggestion, all.suggestion.length);
      return;
    }
    // On a phone Enter inserts a line break, as in other apps; the button sends.
    if (event.key === "Enter" && !event.shiftKey && !isPhone) {
      event.preventDefault();
      submit();
    }
  };
  const readOnly = !hasScope("prompt");
  const mayInterrupt = can({ capabilities }, "interrupt");
  const deliveries: Delivery[] = mayInterrupt ? ["queue", "steer", "interrupt"] : ["queue", "steer"];
  const suggestion = all.suggestion ?? "";
  const asked = isWide() ? "Write to the agent: / commands, @ files" : "Write to the agent";
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        attach(event.dataTransfer?.files ?? []);
      }}
    >
      {wanted !== undefined && <CompletionList items={shown} active={active} wanted={wanted} about={about} choose={complete} />}
      {picked.length > 0 && (
        <ul class="picked">
          {picked.map((one, index) => (
            <li>
              {one.preview === undefined ? <Icon name="file" /> : <img src={one.preview} alt="" width="40" height="40" />}
              <span>{one.attachment.name}</span>
              <button type="button" class="ghost small" aria-label={`Remove ${one.attachment.name ?? "attachment"}`} onClick={() => setPicked(picked.filter((_, at) => at !== index))}>
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isPhone && suggestion !== "" && text === "" && !busy && !readOnly && (
        <button type="button" class="suggested" dir="auto" aria-label={`Write: ${suggestion}`} onClick={() => write(suggestion, suggestion.length)}>
          <InOrder text={suggestion} />
        </button>
      )}
      <div class="composer-row">
        <input ref={chooser} type="file" accept={ACCEPTED} multiple hidden onChange={(event) => { attach(event.currentTarget.files ?? []); event.currentTarget.value = ""; }} />
        <button type="button" class="ghost" aria-label="Attach pictures or files" title="Attach pictures or files" disabled={readOnly} onClick={() => chooser.current?.click()}>
          <Icon name="clip" />
        </button>
        <textarea
          ref={field}
          rows={1}
          value={text}
          disabled={readOnly}
          aria-label="Message to the agent"
          aria-autocomplete="list"
          aria-controls={shown.length > 0 ? "completions" : undefined}
          aria-activedescendant={shown.length > 0 ? `completion-${active}` : undefined}
          placeholder={readOnly ? "This device is read-only" : busy ? "Send another prompt…" : isPhone ? asked : suggestion || asked}
          onInput={(event) => write(event.currentTarget.value, event.currentTarget.selectionStart)}
          onClick={(event) => setCursor(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = event.clipboardData?.files;
            if (files !== undefined && files.length > 0) {
              event.preventDefault();
              attach(files);
            }
          }}
        />
        {busy && mayInterrupt && <InterruptButton session={session} />}
        <button type="submit" class="send" aria-label="Send" title="Send (Enter)" disabled={readOnly || (text.trim() === "" && picked.length === 0)}>
          <Icon name="send" />
        </button>
      </div>
      {busy && text !== "" && (
        <fieldset class="delivery">
          <legend class="sr">Delivery</legend>
          {deliveries.map((one) => (
            <label class={delivery === one ? "on" : undefined}>
              <input type="radio" name="delivery" checked={delivery === one} onChange={() => setDelivery(one)} />
              {one === "queue" ? "After this turn" : one === "steer" ? "Steer this turn" : "Interrupt now"}
            </label>
          ))}
        </fieldset>
      )}
    </form>
  );
}

function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, 220)}px`;
}
