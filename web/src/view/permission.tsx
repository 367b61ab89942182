// Card of a permission request: the exact input, and every way to answer.

import type { ComponentChildren, RefObject, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { CardField } from "../app/card-text.ts";
import { cardText, keepUnsent, useCard, useCardText } from "../app/card-text.ts";
import { commentsOf, commentsText } from "../app/comments.ts";
import { useEscape } from "../app/dismiss.ts";
import { allowsOften, noteAllowed, ignoreEnter, useAnswerable } from "../app/approval-delay.ts";
import { viewOf } from "../app/list.ts";
import { answer, hasScope } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { PermissionAsk } from "../model/conversation.ts";
import { alwaysRules } from "../model/rules.ts";
import { coverage, longInput, sessionWords } from "../model/scope-words.ts";
import { changes, fields, summary, text } from "../model/tools.ts";
import { count } from "../text/format.ts";
import type { JsonValue, PermissionAnswer } from "../wire.ts";
import { CommentList } from "./comments.tsx";
import { Diff, DiffSwitch } from "./diff.tsx";
import { Icon } from "./icons.tsx";
import { KeySteps, focusOnce } from "./key-steps.tsx";
import { LongText } from "./long-text.tsx";
import { Exact, Revealed } from "./revealed.tsx";
import { Time } from "./time.tsx";

type Step = "choose" | "deny" | "edit" | "always";

/** `may` is true if this device can answer. */
export function PermissionCard({ ask, session, cwd, may }: { ask: PermissionAsk; session: string; cwd: string | undefined; may: boolean }): VNode {
  const card = useCard(session, ask.id);
  const [step, setStep] = useState<Step>("choose");
  const stepBox = useRef<HTMLDivElement>(null);
  const back = useEscape(stepBox, step !== "choose", () => setStep("choose"));
  const [read, setRead] = useState(false);
  const readable = useAnswerable(ask.id) && may && read;
  const { details } = ask;
  const about = summary(details.tool_name, details.input, cwd);
  const rules = alwaysRules(details);
  const only = rules.length === 1 ? details : undefined;
  // Another agent takes neither a changed input nor a reason.
  const isClaude = viewOf(session)?.backend === undefined;

  // `sent` has the parts of the card that the answer contains; other typed text goes to the prompt field.
  const reply = (given: Partial<PermissionAnswer> & Pick<PermissionAnswer, "decision">, ...sent: (CardField | "comments")[]) => {
    if (given.decision === "allow") {
      if (!readable) return;
      noteAllowed(Date.now());
    }
    answer(session, ask.id, {
      permission: { scope: "once", interrupt: false, ...(details.digest === undefined ? {} : { digest: details.digest }), ...given },
    });
    if (keepUnsent(session, ask.id, (field) => sent.includes(field))) showToast("plain", "Your text was not part of the answer: it is in the prompt field.");
  };

  return (
    <section class="ask permission" data-risk={details.risk} aria-label={`Permission: ${about.title}`}>
      {step === "choose" && may && <KeySteps yes={{ o: () => reply({ decision: "allow" }), ...(hasScope("always") ? { s: () => reply({ decision: "allow", scope: "session" }) } : {}) }} no={() => setStep("deny")} />}
      <header class="ask-head">
        <span class="ask-icon">
          <Icon name={about.icon} />
        </span>
        <h3><Revealed text={headline(details.tool_name)} /></h3>
        <Time at={ask.openedAt} />
        <Risk level={details.risk} />
      </header>
      <div class="ask-body">
        <Wanted ask={ask} cwd={cwd} seen={() => setRead(true)} comments={may ? card : undefined} actions={may && <ReaderActions card={card} ready={readable} allow={(scope) => reply({ decision: "allow", scope })} deny={(message) => reply({ decision: "deny", ...(message === "" ? {} : { message }) }, "comments")} />} />
        {may && !read && <p class="ask-fact muted" role="status">Read it to its end to allow it.</p>}
        {details.agent_id !== undefined && <p class="ask-fact">Requested by a sub-agent.</p>}
        {details.blocked_path !== undefined && (
          <p class="ask-fact">
            <span class="muted">Path:</span> <code><Revealed text={details.blocked_path} /></code>
          </p>
        )}
        {details.decision_reason !== undefined && <p class="ask-fact">Reason: <Revealed text={details.decision_reason} /></p>}
        {details.description !== undefined && details.description !== "" && (
          <p class="ask-fact">
            <span class="muted">The model’s description:</span> “<Revealed text={details.description} />”
          </p>
        )}
        {step === "choose" && may && hasScope("always") && (
          <dl class="ask-scopes">
            <dt>For session</dt>
            <dd><Revealed text={sessionWords(details, ask.request)} /></dd>
            <dt>Always</dt>
            {rules.length === 0 ? (
              <dd>{noRule(details)}</dd>
            ) : (
              <>
                {rules.map((rule) => (
                  <dd>
                    Adds <code><Revealed text={rule.rule} /></code>: <Revealed text={coverage(rule, only)} />.
                  </dd>
                ))}
              </>
            )}
          </dl>
        )}
        {allowsOften(Date.now()) && <p class="ask-fact warn-line">You have allowed many calls in a minute. This one waits a moment longer.</p>}
      </div>
      {step === "choose" && may && (
        <div class="ask-actions">
          <Allow ready={readable} label="Allow once" main onAllow={() => reply({ decision: "allow" })} />
          {hasScope("always") && <Allow ready={readable} label="Allow for session" onAllow={() => reply({ decision: "allow", scope: "session" })} />}
          {hasScope("always") && rules.length > 0 && (
            <button type="button" data-opens="always" onClick={() => setStep("always")}>
              Always…
            </button>
          )}
          {hasScope("edit") && isClaude && (
            <button type="button" data-opens="edit" onClick={() => setStep("edit")}>
              Edit…
            </button>
          )}
          <button type="button" class="no" data-opens="deny" onClick={() => setStep("deny")}>
            Deny…
          </button>
        </div>
      )}
      {step === "always" && may && (
        <Confirm
          box={stepBox}
          back={back}
          action={<Allow ready={readable} label={rules.length === 1 ? "Add the rule and allow" : "Add the rules and allow"} main onAllow={() => reply({ decision: "allow", scope: "always" })} />}
        >
          <p>From now on this would run without asking:</p>
          <ul class="rules">
            {rules.map((rule) => (
              <li>
                <Exact text={rule.rule} label="Rule" />
                <span class="muted">This covers <Revealed text={coverage(rule, only)} />. It is kept in {rule.where}.</span>
              </li>
            ))}
          </ul>
        </Confirm>
      )}
      {step === "edit" && may && <Edited box={stepBox} card={card} input={details.input} tool={details.tool_name} ready={readable} back={back} allow={(updated) => reply({ decision: "allow", updated_input: updated }, "edit", "input")} />}
      {step === "deny" && may && <Deny box={stepBox} card={card} takesReason={isClaude} back={back} deny={(message, interrupt) => reply({ decision: "deny", interrupt, ...(message === "" ? {} : { message }) }, "deny", "comments")} />}
    </section>
  );
}

/** The tool's input, not the model's description of it. */
function Wanted({ ask, cwd, ...reading }: { ask: PermissionAsk; cwd: string | undefined; seen: () => void; comments: string | undefined; actions: ComponentChildren }): VNode {
  const { details } = ask;
  const input = <LongText text={longInput(details)} label={details.tool_name === "Bash" ? "Command" : "Input"} title={headline(details.tool_name)} {...(details.tool_name === "Bash" ? { language: "bash" } : { language: "json" })} {...reading} />;
  const given = fields(details.input);
  const hunks = changes(details.tool_name, details.input, undefined);
  if (details.tool_name === "Bash") {
    return (
      <>
        {input}
        <Rest given={given} without={["command", "description"]} />
        {cwd !== undefined && (
          <p class="ask-fact">
            <span class="muted">in</span> <code><Revealed text={cwd} /></code>
          </p>
        )}
      </>
    );
  }
  if (hunks !== undefined) {
    const path = text(given["file_path"]) ?? text(given["notebook_path"]) ?? "";
    return (
      <>
        <Seen seen={reading.seen} />
        <Exact text={path} label="File" />
        <div class="tool-bar">
          {given["replace_all"] === true && <span class="warn-line">all occurrences</span>}
          <DiffSwitch />
        </div>
        <Diff hunks={hunks} path={path} reveal comments={reading.comments} />
        {reading.comments !== undefined && <DiffComments of={reading.comments} actions={reading.actions} />}
        <Rest given={given} without={["file_path", "notebook_path", "old_string", "new_string", "content", "edits", "new_source", "replace_all"]} />
      </>
    );
  }
  if (details.tool_name === "WebFetch") {
    const url = text(given["url"]) ?? "";
    return (
      <>
        <Seen seen={reading.seen} />
        <p class="ask-fact">
          <span class="muted">Host</span> <strong>{hostOf(url)}</strong>
        </p>
        <Exact text={url} label="Address" />
        <Rest given={given} without={["url"]} />
      </>
    );
  }
  return input;
}

/** Parts that need not be scrolled count as seen at once. */
function Seen({ seen }: { seen: () => void }): null {
  useEffect(seen, []);
  return null;
}

/** Comments on the lines of a requested change, with the button that denies with them. */
function DiffComments({ of, actions }: { of: string; actions: ComponentChildren }): VNode {
  return (
    <>
      <CommentList of={of} />
      {commentsOf(of).length > 0 && actions}
    </>
  );
}

/** The buttons of the reader. A denial takes the comments with it, as one message. */
function ReaderActions({ card, ready, allow, deny }: { card: string; ready: boolean; allow: (scope: "once" | "session") => void; deny: (message: string) => void }): VNode {
  const all = commentsOf(card);
  return (
    <div class="ask-actions">
      {all.length === 0 && <Allow ready={ready} label="Allow once" main onAllow={() => allow("once")} />}
      {all.length === 0 && hasScope("always") && <Allow ready={ready} label="Allow for session" onAllow={() => allow("session")} />}
      <button type="button" class={all.length === 0 ? "no" : "no main"} onClick={() => deny(commentsText(all))}>
        {all.length === 0 ? "Deny" : `Deny with ${count(all.length, "comment")}`}
      </button>
    </div>
  );
}

/** The remaining fields of the input, so that all of it is displayed. */
function Rest({ given, without }: { given: ReturnType<typeof fields>; without: string[] }): VNode | null {
  const rest = Object.entries(given).filter(([name, value]) => !without.includes(name) && value !== undefined && value !== false);
  if (rest.length === 0) return null;
  return <Exact text={JSON.stringify(Object.fromEntries(rest), null, 2)} label="Other input" />;
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "invalid address";
  }
}

function headline(tool: string): string {
  switch (tool) {
    case "Bash":
      return "Run this command?";
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return "Change this file?";
    case "Write":
      return "Write this file?";
    case "Read":
      return "Read this file?";
    case "WebFetch":
      return "Fetch this page?";
    case "WebSearch":
      return "Search the web?";
    default:
      return `Use ${tool}?`;
  }
}

function Risk({ level }: { level: PermissionAsk["details"]["risk"] }): VNode {
  const isHigh = level !== "LOW" && level !== "MEDIUM";
  return (
    <span class={`risk ${level}`}>
      {isHigh && <Icon name="alert" />} {level.toLowerCase()} risk
    </span>
  );
}

function Allow({ ready, label, main, onAllow }: { ready: boolean; label: string; main?: boolean; onAllow: () => void }): VNode {
  return (
    <button type="button" class={main ? "yes main" : "yes"} aria-disabled={!ready} onKeyDown={ignoreEnter} onClick={() => ready && onAllow()}>
      {label}
    </button>
  );
}

/** Reason why "always" is not available. */
function noRule({ tool_name, suggestions }: PermissionAsk["details"]): string {
  if (suggestions === undefined) return "Not offered: the agent supports no rule for this: it asks every time.";
  if (tool_name === "Bash") return "Not offered: this command could run any script, or its effect is only known when it runs, or a rule would cover a part of it only, or more than it.";
  return "Not offered: a rule would allow more than this.";
}

interface StepProps {
  box: RefObject<HTMLDivElement | null>;
  /** Returns to the buttons of the card, and the focus to the one that opened the step. */
  back: () => void;
}

function Confirm({ box, back, action, children }: StepProps & { action: VNode; children: ComponentChildren }): VNode {
  useEffect(() => box.current?.focus(), []);
  return (
    <div class="ask-step" ref={box} tabIndex={-1}>
      {children}
      <div class="ask-actions">
        {action}
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

function Deny({ box, card, takesReason, back, deny }: StepProps & { card: string; takesReason: boolean; deny: (message: string, interrupt: boolean) => void }): VNode {
  const [message, setMessage] = useCardText(card, "deny");
  const comments = commentsOf(card);
  const all = [message.trim(), commentsText(comments)].filter((part) => part !== "").join("\n\n");
  return (
    <div class="ask-step" ref={box}>
      <label>
        {takesReason ? "What should it do instead?" : "Why not?"} <span class="muted">{takesReason ? "(the model reads this)" : "(kept with the answer: this agent takes no reasons)"}</span>
        <textarea rows={2} value={message} ref={focusOnce} onInput={(event) => setMessage(event.currentTarget.value)} />
      </label>
      <div class="ask-actions">
        <button type="button" class="no main" onClick={() => deny(all, false)}>
          {comments.length === 0 ? "Deny" : `Deny with ${count(comments.length, "comment")}`}
        </button>
        <button type="button" class="no" onClick={() => deny(all, true)}>
          Deny and stop the turn
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

/** The field of the input that "Edit…" shows as it is, and its name on the card. */
const EDITED: Readonly<Record<string, { field: string; label: string }>> = {
  Bash: { field: "command", label: "Command to run instead" },
  Write: { field: "content", label: "Content to write instead" },
  Edit: { field: "new_string", label: "Text to put in instead" },
  NotebookEdit: { field: "new_source", label: "Source to put in instead" },
};

function Edited({ box, card, input, tool, ready, back, allow }: StepProps & { card: string; input: JsonValue; tool: string; ready: boolean; allow: (input: JsonValue) => void }): VNode {
  const given = fields(input);
  const part = EDITED[tool];
  const original = part === undefined ? undefined : text(given[part.field]);
  // A field of the page would drop carriage returns; JSON keeps them.
  const canShowText = original !== undefined && !original.includes("\r");
  const [asJson, setAsJson] = useState(!canShowText || cardText(card, "input") !== "");
  const [words, setWords] = useCardText(card, "edit", original ?? "");
  const [whole, setWhole] = useCardText(card, "input", JSON.stringify(input, null, 2));
  const withWords = (): JsonValue => ({ ...(input as { [key in string]: JsonValue }), ...(part === undefined ? {} : { [part.field]: words }) });
  const send = () => {
    if (!asJson) {
      allow(withWords());
      return;
    }
    try {
      allow(JSON.parse(whole) as JsonValue);
    } catch {
      showToast("error", "This is not JSON: look for a missing quote or comma.");
    }
  };
  const toJson = () => {
    setWhole(JSON.stringify(withWords(), null, 2));
    setAsJson(true);
  };
  return (
    <div class="ask-step" ref={box}>
      <label>
        {asJson || part === undefined ? "Input to use instead, as JSON" : part.label}
        <textarea class="mono" rows={tool === "Bash" && !asJson ? 3 : 10} value={asJson ? whole : words} spellcheck={false} autocapitalize="off" ref={focusOnce} onInput={(event) => (asJson ? setWhole : setWords)(event.currentTarget.value)} />
      </label>
      {!asJson && (
        <button type="button" class="link" onClick={toJson}>
          Edit the whole input, as JSON
        </button>
      )}
      <div class="ask-actions">
        <Allow ready={ready} label="Allow this instead" main onAllow={send} />
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}
