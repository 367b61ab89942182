// Export of a conversation to a file.

import type { Conversation, Item } from "../model/conversation.ts";
import { changes, fields, resultText, summary, text } from "../model/tools.ts";
import type { Hunk } from "../text/diff.ts";
import type { JsonValue } from "../wire.ts";

/** The conversation as Markdown: prompts, answers, and each tool call with its whole input and its result. */
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
      const given = inputOf(item.name, item.input, target);
      return [`### ${title} ${inCode(target.split("\n")[0] ?? "")}`, ...edited, ...given, ...lane.map(quoted), ...(item.result === undefined ? [] : [fenced(resultText(item.result))])];
    }
    case "note":
      if (item.topic === "summary") return ["### Summary of the earlier conversation", quoted(item.text)];
      return item.topic === "system" ? [] : [`*${item.text}*`];
    case "result":
      return ["---"];
  }
}

/** Parts of an input that the heading lacks: a command of several lines, the text of a file, changed lines. */
function inputOf(name: string, input: JsonValue, target: string): string[] {
  if (name === "Write") return [fenced(text(fields(input)["content"]) ?? "")];
  const hunks = changes(name, input, undefined);
  if (hunks !== undefined) return hunks.length === 0 ? [] : [fenced(hunks.map(unified).join("\n"), "diff")];
  return target.includes("\n") ? [fenced(target)] : [];
}

function unified(hunk: Hunk): string {
  const mark = { same: " ", added: "+", removed: "-" } as const;
  return hunk.lines.map((line) => `${mark[line.kind]}${line.text}`).join("\n");
}

function quoted(text: string): string {
  return text.trim().replace(/^/gm, "> ");
}

function inCode(text: string): string {
  return text === "" ? "" : `\`${text.replaceAll("`", "'")}\``;
}

/** A code fence that is longer than any in the text. */
function fenced(content: string, language = ""): string {
  const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content.trimEnd()}\n${fence}`;
}

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
