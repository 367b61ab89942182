// Cards of pending questions: of the model, of an MCP server, or the approval of a plan.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { commentsOf, commentsText } from "../app/comments.ts";
import { ignoreEnter, useAnswerable } from "../app/approval-delay.ts";
import { cardText, keepUnsent, saveCardText, useCard, useCardText } from "../app/card-text.ts";
import { viewOf } from "../app/list.ts";
import { answer, hasScope, promptsSent, sendCommand } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { can } from "../model/capabilities.ts";
import type { QuestionAsk } from "../model/conversation.ts";
import { safeHref } from "../text/links.ts";
import type { Question, QuestionNote } from "../wire.ts";
import { count } from "../text/format.ts";
import { CommentList } from "./comments.tsx";
import { Icon } from "./icons.tsx";
import { PlanText, PlanUnits } from "./plan-text.tsx";
import { Reader } from "./reader.tsx";
import { InOrder } from "./revealed.tsx";
import { Time } from "./time.tsx";

type Chosen = Readonly<Record<string, readonly string[]>>;

interface CardProps {
  ask: QuestionAsk;
  session: string;
  /** True if this device can answer. */
  may: boolean;
}

export function QuestionCard(props: CardProps): VNode {
  return props.ask.details.kind === "Plan" ? <PlanCard {...props} /> : <Questions {...props} />;
}

function Questions({ ask, session, may }: CardProps): VNode {
  const card = useCard(session, ask.id);
  const [chosen, setChosen] = useState<Chosen>({});
  const { questions } = ask.request;
  const [own, setOwn] = useState<Readonly<Record<string, string>>>(() => Object.fromEntries(questions.map(({ id }) => [id, cardText(card, `question ${id}`)])));
  const said = (question: Question): string[] => {
    const words = own[question.id]?.trim() ?? "";
    return [...(chosen[question.id] ?? []), ...(words === "" ? [] : [words])];
  };
  const complete = questions.every((question) => !question.required || said(question).length > 0);
  const send = () => {
    const answers = questions.map((question) => ({ question_id: question.id, answer: said(question) })).filter((reply) => reply.answer.length > 0);
    answer(session, ask.id, { question: { answers, cancel: false } });
    keepUnsent(session, ask.id, () => true);
  };
  const cancel = () => {
    answer(session, ask.id, { question: { answers: [], cancel: true } });
    if (keepUnsent(session, ask.id, () => false)) showToast("plain", "Your text is in the prompt field.");
  };
  const url = ask.details.url === undefined ? undefined : safeHref(ask.details.url);
  return (
    <section class="ask question" aria-label="Question">
      <header class="ask-head">
        <span class="ask-icon">
          <Icon name="question" />
        </span>
        <h3>{ask.details.kind === "Elicitation" ? "An MCP server asks you" : "The agent asks you"}</h3>
        <Time at={ask.openedAt} />
      </header>
      <div class="ask-body">
        {ask.details.message !== undefined && <p dir="auto"><InOrder text={ask.details.message} /></p>}
        {url !== undefined && (
          <p>
            <a href={url} target="_blank" rel="noopener noreferrer">
              Open {new URL(url).host}
            </a>
          </p>
        )}
        {questions.map((question) => (
          <OneQuestion
            key={question.id}
            question={question}
            note={ask.details.questions.find((note) => note.id === question.id)}
            chosen={chosen[question.id] ?? []}
            own={ask.details.kind === "Questions" || question.question_type === "FreeText" ? (own[question.id] ?? "") : undefined}
            choose={(options) => {
              setChosen({ ...chosen, [question.id]: options });
              if (question.question_type !== "SingleChoice") return;
              setOwn({ ...own, [question.id]: "" });
              saveCardText(card, `question ${question.id}`, "");
            }}
            write={(words) => {
              setOwn({ ...own, [question.id]: words });
              saveCardText(card, `question ${question.id}`, words);
              if (question.question_type === "SingleChoice" && words !== "") setChosen({ ...chosen, [question.id]: [] });
            }}
          />
        ))}
      </div>
      {may && <div class="ask-actions">
        <button type="button" class="yes main" disabled={!complete} onClick={send}>
          {questions.length === 1 ? "Answer" : "Send answers"}
        </button>
        <button type="button" class="no" onClick={cancel}>
          Do not answer
        </button>
      </div>}
    </section>
  );
}

interface OneProps {
  question: Question;
  note: QuestionNote | undefined;
  chosen: readonly string[];
  own: string | undefined;
  choose(options: string[]): void;
  write(words: string): void;
}

function OneQuestion({ question, note, chosen, own, choose, write }: OneProps): VNode {
  const many = question.question_type === "MultiChoice";
  const options = question.options ?? [];
  const toggle = (option: string) => {
    if (!many) choose([option]);
    else choose(chosen.includes(option) ? chosen.filter((other) => other !== option) : [...chosen, option]);
  };
  return (
    <fieldset class="one-question">
      <legend>
        {note?.header !== undefined && <span class="chip"><InOrder text={note.header} /></span>} <bdi><InOrder text={question.text} /></bdi>
        {!question.required && <span class="muted"> (optional)</span>}
      </legend>
      {options.map((option, index) => {
        const more = note?.options[index];
        return (
          <label class="option">
            <input type={many ? "checkbox" : "radio"} name={`q-${question.id}`} checked={chosen.includes(option)} onChange={() => toggle(option)} />
            <span>
              <span class="option-label" dir="auto"><InOrder text={option} /></span>
              {more?.description !== undefined && <span class="option-more" dir="auto"><InOrder text={more.description} /></span>}
              {more?.preview !== undefined && chosen.includes(option) && <pre class="option-preview" tabIndex={0}><InOrder text={more.preview} /></pre>}
            </span>
          </label>
        );
      })}
      {own !== undefined && (
        <label class="option own">
          <span class={options.length === 0 ? "sr" : "option-label"}>{options.length === 0 ? "Answer" : "Other answer"}</span>
          <input type="text" value={own} onInput={(event) => write(event.currentTarget.value)} />
        </label>
      )}
    </fieldset>
  );
}

function PlanCard({ ask, session, may }: CardProps): VNode {
  const card = useCard(session, ask.id);
  const [feedback, setFeedback] = useCardText(card, "feedback");
  const [read, setRead] = useState(false);
  const readable = useAnswerable(ask.id) && read;
  const [decide, words] = ask.request.questions;
  const options = decide?.options ?? [];
  const notes = ask.details.questions[0]?.options ?? [];
  const [reading, setReading] = useState(false);
  const comments = commentsOf(card);
  const text = ask.plan ?? (decide?.text ?? "").replace(/^Approve this plan\?\s*\n/, "");
  const isNo = (option: string) => /keep planning/i.test(option);
  const view = viewOf(session);
  const mayPrompt = hasScope("prompt") && (view === undefined || can(view, "prompt"));
  const hasFeedback = feedback.trim() !== "";
  const reply = (option: string) => {
    const answers = [{ question_id: decide?.id ?? "plan", answer: [option] }];
    const said = [feedback.trim(), commentsText(comments)].filter((part) => part !== "").join("\n\n");
    if (said !== "" && isNo(option)) answers.push({ question_id: words?.id ?? "feedback", answer: [said] });
    answer(session, ask.id, { question: { answers, cancel: false } });
    // An approval carries no text, so it follows as a prompt.
    if (said !== "" && !isNo(option)) {
      sendCommand((clientId) => ({ type: "input", session, input: { content: said, delivery: "steer", client_id: clientId } }));
      promptsSent.value += 1;
    }
    keepUnsent(session, ask.id, () => true);
  };
  const runsUnasked = (option: string) => /accept edits/i.test(option);
  const actions = () => (
    <div class="ask-actions">
      {options.map((option, index) => (!runsUnasked(option) || hasScope("always")) && (isNo(option) || (comments.length === 0 && (!hasFeedback || mayPrompt))) && (
        <button
          type="button"
          class={isNo(option) ? (comments.length > 0 ? "main" : "no") : index === 0 ? "yes main" : "yes"}
          aria-disabled={!isNo(option) && !readable}
          title={notes[index]?.description}
          onKeyDown={isNo(option) ? undefined : ignoreEnter}
          onClick={() => (isNo(option) || readable) && reply(option)}
        >
          <InOrder text={option} />{isNo(option) && comments.length > 0 && ` with ${count(comments.length, "comment")}`}{!isNo(option) && hasFeedback && ", and send your text"}
        </button>
      ))}
    </div>
  );
  return (
    <section class="ask plan" aria-label="Plan">
      <header class="ask-head">
        <span class="ask-icon">
          <Icon name="plan" />
        </span>
        <h3>Approve this plan?</h3>
        <Time at={ask.openedAt} />
      </header>
      <div class="ask-body">
        <PlanText text={text} seen={() => setRead(true)} />
        <p class="plan-tools">
          <button type="button" class="link" onClick={() => setReading(true)}>
            <Icon name="expand" /> {may ? "Open in the reader, and comment on lines" : "Open in the reader"}
          </button>
        </p>
        {!reading && <CommentList of={card} />}
        {may && !read && <p class="ask-fact muted" role="status">Read the plan to its end to approve it.</p>}
        {words !== undefined && may && (
          <label class="plan-feedback">
            {words.text}
            <textarea rows={2} value={feedback} onInput={(event) => setFeedback(event.currentTarget.value)} />
          </label>
        )}
      </div>
      {may && actions()}
      {reading && (
        <Reader title="Plan" content={text} seen={() => setRead(true)} close={() => setReading(false)} foot={may && <><CommentList of={card} />{actions()}</>}>
          <PlanUnits text={text} of={may && words !== undefined ? card : undefined} />
        </Reader>
      )}
    </section>
  );
}
