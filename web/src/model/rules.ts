// The rules that "always" would add, verbatim.

import type { JsonValue, PermissionDetails } from "../wire.ts";
import { fields, list, text } from "./tools.ts";

export interface Rule {
  /** The rule as written to the settings. */
  rule: string;
  /** Description of the settings file. */
  where: string;
}

const PLACES: Record<string, string> = {
  localSettings: "your local settings of this project (.claude/settings.local.json)",
  projectSettings: "the shared settings of this project (.claude/settings.json)",
  userSettings: "your settings for all projects (~/.claude/settings.json)",
  session: "this session only",
  cliArg: "this run only",
};

/** Rules that the agent suggests and the server would add; other suggestions allow more than the request. */
export function alwaysRules(details: PermissionDetails): Rule[] {
  return list(details.suggestions)
    .map(fields)
    .filter((update) => update["type"] === "addRules" && update["behavior"] === "allow")
    .flatMap((update) => list(update["rules"]).map((rule) => ({ rule: ruleText(rule), where: place(update["destination"]) })));
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
