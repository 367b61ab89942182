// Comments on lines: the button at a line, the field for one, and the bar that sends all of them.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { CommentPlace } from "../app/comments.ts";
import { useEscape } from "../app/dismiss.ts";
import { commentAt, commenting, commentsOf, commentsText, forgetComments, writeComment } from "../app/comments.ts";
import { viewOf } from "../app/list.ts";
import { route } from "../app/route.ts";
import { hasScope, open, promptsSent, sendCommand } from "../app/store.ts";
import { can } from "../model/capabilities.ts";
import { count } from "../text/format.ts";
import { Icon } from "./icons.tsx";
import { focusOnce } from "./key-steps.tsx";
import { InOrder } from "./revealed.tsx";

/** Place of comments on diffs of the shown session; `undefined` if it takes no prompts. */
export function commentsHere(): string | undefined {
  const session = route.value.view === "history" || open.value === undefined ? undefined : viewOf(open.value.name);
  return session !== undefined && hasScope("prompt") && can(session, "prompt") ? session.key : undefined;
}

/** Moves the focus between the lines of a text with the arrow keys: only its first line is a stop of the Tab key. */
export function lineKeys(event: KeyboardEvent): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (by === 0 || !(event.target instanceof HTMLElement) || !event.target.matches(".comment-button") || !(event.currentTarget instanceof HTMLElement)) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(".comment-button")];
  all[all.indexOf(event.target) + by]?.focus();
  event.preventDefault();
}

/** The button of a line. It shows the line's own sign until the pointer or the focus is on it. */
export function CommentButton({ place, sign, isFirst }: { place: CommentPlace; sign: string; isFirst: boolean }): VNode {
  const has = commentAt(place) !== undefined;
  return (
    <button type="button" class={has ? "comment-button has" : "comment-button"} tabIndex={isFirst ? 0 : -1} aria-label={`Comment on line ${place.line}`} onClick={() => (commenting.value = place)}>
      <span class="comment-sign">{sign}</span>
      <Icon name={has ? "comment" : "plus"} />
    </button>
  );
}

/** The comments of one place, and the field for the next one. */
export function CommentList({ of }: { of: string }): VNode | null {
  const all = commentsOf(of);
  const place = commenting.value?.of === of ? commenting.value : undefined;
  if (all.length === 0 && place === undefined) return null;
  return (
    <div class="comments" role="group" aria-label="Comments">
      <ul>
        {all.filter((one) => place === undefined || one !== commentAt(place)).map((one) => (
          <li key={one.id}>
            <button type="button" class="link comment-place" onClick={() => (commenting.value = one)}>
              {one.path === "" ? `Line ${one.line}` : `${one.path.split("/").at(-1) ?? ""}:${one.line}`}
            </button>
            <span dir="auto"><InOrder text={one.text} /></span>
            <button type="button" class="ghost small" aria-label={`Remove the comment on line ${one.line}`} onClick={() => writeComment(one, "")}>
              <Icon name="cross" />
            </button>
          </li>
        ))}
      </ul>
      {place !== undefined && <CommentField key={`${place.path} ${place.line} ${place.quote}`} place={place} />}
    </div>
  );
}

/** The field for the comment on a line. What is typed is the comment at once, so that it is sent with the others. */
function CommentField({ place }: { place: CommentPlace }): VNode {
  const [before] = useState(commentAt(place)?.text ?? "");
  const [text, setText] = useState(before);
  const box = useRef<HTMLDivElement>(null);
  const write = (now: string) => {
    setText(now);
    writeComment(place, now);
  };
  const close = useEscape(box, true, () => (commenting.value = undefined));
  const cancel = () => {
    writeComment(place, before);
    close();
  };
  return (
    <div class="comment-field" ref={box} onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && close()}>
      <label>
        Comment on line {place.line} <code><InOrder text={place.quote.split("\n")[0] ?? ""} /></code>
        <textarea rows={2} value={text} ref={focusOnce} onInput={(event) => write(event.currentTarget.value)} />
      </label>
      <div class="comment-actions">
        <button type="button" class="main" disabled={text.trim() === ""} onClick={close}>
          Add comment
        </button>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

/** Comments on the diffs of a session, above the prompt field. They are sent as one prompt. */
export function CommentBar({ session, may }: { session: string; may: boolean }): VNode | null {
  const all = commentsOf(session);
  if (all.length === 0 && commenting.value?.of !== session) return null;
  const send = () => {
    const content = `Comments on the changes:\n\n${commentsText(all)}`;
    sendCommand((clientId) => ({ type: "input", session, input: { content, client_id: clientId } }));
    promptsSent.value += 1;
    forgetComments(session);
  };
  return (
    <section class="comment-bar" aria-label="Comments on changes">
      <CommentList of={session} />
      {all.length > 0 && (
        <div class="comment-actions">
          <button type="button" class="main" disabled={!may} onClick={send}>
            Send {count(all.length, "comment")} as one prompt
          </button>
          <button type="button" onClick={() => forgetComments(session)}>
            Discard
          </button>
        </div>
      )}
    </section>
  );
}
