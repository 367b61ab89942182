// Export of a conversation to a file.

import type { Conversation, Item } from "../model/conversation.ts";
import { resultText, summary } from "../model/tools.ts";

/** The conversation as Markdown: prompts, answers, and each tool call with its result. */
export function toMarkdown(all: Conversation, title: string): string {
  return [`# ${title}`, ...all.items.flatMap((item) => section(item, all))].join("\n\n") + "\n";
}

function section(item: Item, all: Conversation): string[] {
  switch (item.kind) {
    case "prompt":
      return [`## ${item.origin === undefined ? "You" : item.origin}${item.dropped === undefined ? "" : " (never read by the agent)"}`, item.text];
    case "text":
      return item.text.trim() === "" ? [] : [item.text.trim()];
    case "thinking":
      return item.text.trim() === "" ? [] : [quoted(item.text)];
    case "tool": {
      if (item.retracted) return [];
      const { title, target } = summary(item.name, item.input, all.cwd);
      const lane = all.lanes.get(item.id)?.items.flatMap((one) => section(one, all)) ?? [];
      const edited = item.modelInput === undefined ? [] : [`*The input was changed before it ran. Original input:* ${inCode(summary(item.name, item.modelInput, all.cwd).target.split("\n")[0] ?? "")}`];
      return [`### ${title} ${inCode(target.split("\n")[0] ?? "")}`, ...edited, ...lane.map(quoted), ...(item.result === undefined ? [] : [fenced(resultText(item.result))])];
    }
    case "note":
      if (item.topic === "summary") return ["### Summary of the earlier conversation", quoted(item.text)];
      return item.topic === "system" ? [] : [`*${item.text}*`];
    case "result":
      return ["---"];
  }
}

function quoted(text: string): string {
  return text.trim().replace(/^/gm, "> ");
}

function inCode(text: string): string {
  return text === "" ? "" : `\`${text.replaceAll("`", "'")}\``;
}

/** A code fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
