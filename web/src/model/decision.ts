// Decisions in words.

import type { Settled } from "./conversation.ts";

/** Author of the answers that are given in the agent's own dialog. */
const LOCAL_DIALOG = "terminal";

export function isLocal({ by }: Pick<Settled, "by">): boolean {
  return by === LOCAL_DIALOG;
}

/** The author of a decision, as the end of a sentence. */
export function byWhom(by: string | undefined): string {
  if (by === undefined) return "";
  return by === LOCAL_DIALOG ? " in the terminal" : ` by ${by}`;
}

/** A decision in one line. `you` is the name of this device. */
export function decisionText(settled: Settled, edited: boolean, you: string | undefined): string {
  const { outcome, by, scope, interrupted } = settled;
  // A grant is an earlier answer for the whole session.
  const isGrant = by === "grant";
  const who = by === "policy" ? "" : isGrant ? " by an earlier answer in this session" : by !== undefined && by === you ? " by you" : byWhom(by);
  const far = isGrant || scope === undefined || scope === "once" ? "" : scope === "always" ? ", always" : ", for this session";
  const words: Record<Settled["outcome"], string> = {
    Allowed: `Allowed${edited ? " with a changed input" : ""}${who}${far}`,
    Denied: `Denied${who}`,
    Answered: `Answered${who}`,
    TimedOut: "No answer in time",
    Disconnected: "The agent ended before an answer",
    Cancelled: interrupted === true ? `Interrupted${who}` : isLocal(settled) ? `Answered${who}` : by === undefined ? "Withdrawn by the agent" : `Interrupted${who}`,
    Lost: "Answered, but the answer may not have arrived",
  };
  return words[outcome];
}

/** Reports that a request was settled elsewhere. */
export function settledText(settled: Settled | undefined): string {
  if (settled === undefined) return "This request is no longer pending.";
  const { outcome, by } = settled;
  if (outcome === "Allowed" || outcome === "Denied" || outcome === "Answered") return `This request was ${outcome.toLowerCase()}${byWhom(by)}.`;
  return isLocal(settled) ? `This request was answered${byWhom(by)}.` : "This request is no longer pending.";
}
