// Answers to pending requests. The first answer wins, and the others learn of it.

import { RemoteError } from "./error.ts";
import type { AnswerResult } from "./wire.ts";

/** Result of an answer. */
export type Answered =
  /** This answer was the first. */
  | { came: "first"; result: AnswerResult }
  /** Another answer was first, and this one has no effect. The result is that of the other. */
  | { came: "later"; result: AnswerResult };

/** Tells an answer that came later from a failed one. */
export async function answered(answer: Promise<AnswerResult>): Promise<Answered> {
  try {
    return { came: "first", result: await answer };
  } catch (error) {
    if (error instanceof RemoteError && error.code === "already_answered" && error.winner !== undefined) return { came: "later", result: error.winner };
    throw error;
  }
}
