// One-line summaries of tool calls. Inputs and outputs are foreign: every field may be missing or of another
// type.

import type { JsonValue } from "../wire.ts";
import type { IconName } from "../view/icons.tsx";
import type { Hunk } from "../text/diff.ts";
import { diffTexts, hunksOf } from "../text/diff.ts";
import { relativePath } from "../text/format.ts";

export type Fields = { readonly [key: string]: JsonValue | undefined };

export function fields(value: JsonValue | undefined): Fields {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

export function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function number(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function list(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export interface Summary {
  icon: IconName;
  /** Display name of the tool. */
  title: string;
  /** The target: the command, the path, the pattern. */
  target: string;
  /** True if the target is code. */
  mono: boolean;
}

/** Summary of a call in one line. */
export function summary(name: string, input: JsonValue, folder: string | undefined): Summary {
  const given = fields(input);
  const path = () => relativePath(text(given["file_path"]) ?? text(given["notebook_path"]) ?? text(given["path"]) ?? "", folder);
  const line = (icon: IconName, title: string, target: string, mono = true): Summary => ({ icon, title, target, mono });
  switch (name) {
    case "Bash":
      return line("terminal", "Bash", text(given["command"]) ?? "");
    case "BashOutput":
    case "TaskOutput":
      return line("terminal", "Output", text(given["bash_id"]) ?? text(given["task_id"]) ?? "");
    case "KillShell":
    case "TaskStop":
      return line("stop", "Stop", text(given["shell_id"]) ?? text(given["task_id"]) ?? "");
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return line("pencil", "Edit", path());
    case "Write":
      return line("pencil", "Write", path());
    case "Read":
      return line("file", "Read", path());
    case "Glob":
      return line("search", "Find files", text(given["pattern"]) ?? "");
    case "Grep":
      return line("search", "Search", [text(given["pattern"]), text(given["glob"]) ?? path()].filter(Boolean).join("  in "));
    case "LS":
      return line("list", "List", path());
    case "WebFetch":
      return line("globe", "Fetch", text(given["url"]) ?? "");
    case "WebSearch":
      return line("globe", "Web search", text(given["query"]) ?? "", false);
    case "TodoWrite":
    case "TaskCreate":
    case "TaskUpdate":
    case "TaskList":
      return line("list", "To do", text(given["subject"]) ?? "", false);
    case "Agent":
    case "Task":
      return line("agent", text(given["subagent_type"]) ?? "Agent", text(given["description"]) ?? "", false);
    case "AskUserQuestion":
      return line("question", "Question", text(fields(list(given["questions"])[0])["question"]) ?? "", false);
    case "ExitPlanMode":
    case "EnterPlanMode":
      return line("plan", "Plan", "", false);
    case "Skill":
      return line("tool", "Skill", text(given["skill"]) ?? text(given["command"]) ?? "");
    default: {
      const mcp = /^mcp__(.+?)__(.+)$/.exec(name);
      const first = Object.values(given).find((value) => typeof value === "string");
      if (mcp !== null) return line("plug", `${mcp[2]} (${mcp[1]})`, text(first) ?? "");
      return line("tool", name, text(first) ?? "");
    }
  }
}

/** Changes of a call to a file: from the tool's output, else from its input. */
export function changes(name: string, input: JsonValue, account: JsonValue | undefined): Hunk[] | undefined {
  const told = list(fields(account)["structuredPatch"]).map(fields);
  if (told.length > 0) {
    return hunksOf(
      told.map((part) => ({
        oldStart: number(part["oldStart"]) ?? 1,
        newStart: number(part["newStart"]) ?? 1,
        lines: list(part["lines"]).map((line) => text(line) ?? ""),
      })),
    );
  }
  const given = fields(input);
  switch (name) {
    case "Edit":
      return diffTexts(text(given["old_string"]) ?? "", text(given["new_string"]) ?? "");
    case "MultiEdit":
      return list(given["edits"])
        .map(fields)
        .flatMap((edit) => diffTexts(text(edit["old_string"]) ?? "", text(edit["new_string"]) ?? ""));
    case "Write":
      return diffTexts(text(fields(account)["originalFile"]) ?? "", text(given["content"]) ?? "");
    case "NotebookEdit":
      return diffTexts("", text(given["new_source"]) ?? "");
    default:
      return undefined;
  }
}

/** A tool's result without the markup that is meant for the model. */
export function resultText(result: string): string {
  return result.replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, "$1");
}
