// Answers of a person to the model's questions.

import type { ToolItem } from "./conversation.ts";
import { fields, list, text } from "./tools.ts";

export interface Answered {
  question: string;
  /** The answer, if there is one. */
  answer: string | undefined;
}

/** The server identifies answers by the question's number, the CLI's own record by its text. */
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
