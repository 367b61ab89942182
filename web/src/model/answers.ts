// What a person said to the questions of the model.

import type { ToolItem } from "./conversation.ts";
import { fields, list, text } from "./tools.ts";

export interface Answered {
  question: string;
  /** What was said; nothing if nobody did. */
  answer: string | undefined;
}

/** The server tells answers by the number of the question, the CLI's own account by its text. */
export function answersOf(tool: ToolItem): Answered[] {
  const replies = list(tool.settled?.answer).map(fields);
  const account = fields(fields(tool.account)["answers"]);
  return list(fields(tool.input)["questions"]).map((one, index) => {
    const question = text(fields(one)["question"]) ?? "";
    const reply = replies.find((given) => given["question"] === `q${index + 1}` || given["question"] === question);
    const said = reply === undefined ? text(account[question]) : list(reply["answer"]).map(text).join(", ");
    return { question, answer: said === "" ? undefined : said };
  });
}
