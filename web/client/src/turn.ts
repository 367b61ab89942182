// The answer to a prompt.

import type { TurnId, TurnResult, UiMessage } from "./wire.ts";

/** End of a prompt. */
export type PromptEnd =
  /** Its turn has ended. */
  | { end: "answered"; answer: TurnAnswer }
  /** It will not be answered: it was cancelled, or refused for a reason that the agent gives. */
  | { end: "dropped"; reason: string | undefined }
  /** The agent has ended before its turn did; the reason is that of an unexpected end. */
  | { end: "agent_ended"; error: string | undefined }
  /** The session was deleted. */
  | { end: "deleted" }
  /** Events of the turn were removed before they were read, so its end is not known. */
  | { end: "unknown" };

/** What an agent said in a turn, and how the turn ended. */
export interface TurnAnswer {
  /** The whole text. */
  text: string;
  /** Blocks of text, which tool calls separate. */
  blocks: string[];
  /** Result with costs and errors; absent if the agent reported none. */
  result: TurnResult | undefined;
  /** Cursor of the end of the turn. */
  cursor: string;
}

/** Follows a prompt through the events of its session. */
export class PromptWatch {
  /** Id of the prompt. */
  #uuid: string | undefined;
  /** The agent's turn. */
  #answered: TurnId | undefined;
  /** True once it has reached the agent. */
  #hasBegun = false;
  readonly #blocks: string[] = [];
  /** True if the next text begins a block. */
  #isBetween = false;
  #result: TurnResult | undefined;

  constructor(
    /** The user's turn. */
    private asked: TurnId | undefined,
  ) {}

  /** Takes the id of the prompt from the event that announced it. */
  announced(event: UiMessage): void {
    if ("PromptQueued" in event) this.#uuid = event.PromptQueued.uuid;
    else if ("UserPrompt" in event) {
      this.#uuid = event.UserPrompt.uuid;
      this.#begin(event.UserPrompt.turn_id);
    }
  }

  /** Takes the next event; returns the end of the prompt with its last one. */
  observe(event: UiMessage, cursor: string): PromptEnd | undefined {
    if ("UserPrompt" in event) {
      const { uuid, turn_id: turn } = event.UserPrompt;
      if (this.#isOurs(uuid, turn)) this.#begin(turn);
    } else if ("PromptDropped" in event) {
      const { uuid, turn_id: turn, reason } = event.PromptDropped;
      if (this.#isOurs(uuid, turn)) return { end: "dropped", reason };
    } else if ("TurnStarted" in event) {
      if (this.#isAnsweredBy(event.TurnStarted.answers)) this.#answered = event.TurnStarted.turn_id;
    } else if ("TurnResult" in event) {
      const result = event.TurnResult;
      if (!isSame(this.#answered, result.turn_id) && !this.#isAnsweredBy(result.answers)) return undefined;
      this.#answered = result.turn_id;
      this.#result = result;
    } else if ("SessionStateChanged" in event) {
      const { state, error } = event.SessionStateChanged;
      if (state === "Ended" && (this.#hasBegun || error !== undefined)) return { end: "agent_ended", error };
    } else if ("Complete" in event) {
      if (isSame(this.#answered, event.Complete.turn_id)) return { end: "answered", answer: this.#answer(cursor) };
    } else this.#observeText(event);
    return undefined;
  }

  #observeText(event: UiMessage): void {
    if ("TextChunk" in event) {
      if (isSame(this.#answered, event.TextChunk.turn_id)) this.#add(event.TextChunk.text);
    } else if ("TextEnded" in event) {
      if (isSame(this.#answered, event.TextEnded.turn_id)) this.#isBetween = true;
    } else if ("ToolExecuting" in event) this.#isBetween = true;
    else if ("Retracted" in event && isSame(this.#answered, event.Retracted.turn_id)) this.#retract(event.Retracted.text);
  }

  #begin(turn: TurnId | undefined): void {
    this.#hasBegun = true;
    this.asked = turn ?? this.asked;
  }

  /** True for the prompt with our id; without ids for the one of our turn. */
  #isOurs(uuid: string | undefined, turn: TurnId | undefined): boolean {
    return this.#uuid !== undefined && uuid !== undefined ? this.#uuid === uuid : isSame(this.asked, turn);
  }

  #isAnsweredBy(turns: TurnId[]): boolean {
    return this.#hasBegun && turns.some((turn) => isSame(this.asked, turn));
  }

  #answer(cursor: string): TurnAnswer {
    return { text: this.#blocks.join("\n\n"), blocks: this.#blocks, result: this.#result, cursor };
  }

  #add(text: string): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || this.#isBetween) this.#blocks.push(text);
    else this.#blocks[this.#blocks.length - 1] = last + text;
    this.#isBetween = false;
  }

  /** Removes the last text that was shown. */
  #retract(text: string): void {
    let left = text;
    while (left !== "") {
      const block = this.#blocks.pop();
      if (block === undefined) return;
      if (left.endsWith(block)) left = left.slice(0, left.length - block.length);
      else {
        const isEnd = block.endsWith(left);
        this.#blocks.push(isEnd ? block.slice(0, block.length - left.length) : block);
        return;
      }
    }
  }
}

function isSame(one: TurnId | undefined, other: TurnId | undefined): boolean {
  return one !== undefined && other !== undefined && one.role === other.role && one.sequence === other.sequence;
}
