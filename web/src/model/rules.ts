// The rules that "always" would add, verbatim and all of them.

import type { JsonValue, PermissionDetails } from "../wire.ts";
import { fields, list, text } from "./tools.ts";

export interface Rule {
  /** The rule as written to the settings. */
  rule: string;
  /** Description of the settings file. */
  where: string;
  /** True if another agent keeps the rule, and its text is the agent's own. */
  byAgent: boolean;
}

const PLACES: Record<string, string> = {
  localSettings: "your local settings of this project (.claude/settings.local.json)",
  projectSettings: "the shared settings of this project (.claude/settings.json)",
  userSettings: "your settings for all projects (~/.claude/settings.json)",
  session: "this session only",
  cliArg: "this run only",
  agent: "the agent itself, which decides what it covers",
};

/** Every rule that the server would add. It offers none at all if one of them would allow any script, or more than its text says. */
export function alwaysRules(details: PermissionDetails): Rule[] {
  return list(details.suggestions)
    .map(fields)
    .filter((update) => update["type"] === "addRules" && update["behavior"] === "allow")
    .flatMap((update) => list(update["rules"]).map((rule) => ({ rule: ruleText(rule), where: place(update["destination"]), byAgent: update["destination"] === "agent" })));
}

function ruleText(rule: JsonValue): string {
  const { toolName, ruleContent } = fields(rule);
  const content = text(ruleContent);
  return content === undefined ? (text(toolName) ?? "") : `${text(toolName) ?? ""}(${content})`;
}

function place(destination: JsonValue | undefined): string {
  const name = text(destination) ?? "";
  return PLACES[name] ?? name;
}
