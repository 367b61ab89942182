// What a decision for the session, and a rule for always, cover, in words.

import type { Rule } from "./rules.ts";
import { fields, text } from "./tools.ts";
import type { PermissionDetails, PermissionRequest } from "../wire.ts";

type Target = Pick<PermissionRequest, "target_type" | "target" | "level" | "recursive">;

/** The effect of "for this session" in words: the smallest grant that covers the request. */
export function sessionWords(details: PermissionDetails, request: PermissionRequest | undefined): string {
  const until = "until this session ends, without asking";
  const { target_type, target, level, recursive } = request ?? expected(details);
  switch (target_type) {
    case "Command":
      return `Exactly this command again, ${until}. Other commands still ask.`;
    case "Path": {
      const what = level === "Read" ? "Reading" : "Changing";
      const where = recursive ? "anything in this folder" : "this file";
      return `${what} ${where} again, with any content, ${until}. Other ${recursive ? "folders" : "files"} still ask.`;
    }
    case "Domain":
      return `Every address of ${target}, ${until}. Other hosts still ask.`;
    default:
      return `Every call of ${details.tool_name}, whatever its input, ${until}.`;
  }
}

/** The target by the name of the tool: the request itself comes a moment after its details. */
function expected({ tool_name, input }: PermissionDetails): Target {
  const given = fields(input);
  const address = text(given["url"]);
  if (tool_name === "Bash") return { target_type: "Command", target: "", level: "Execute", recursive: false };
  if (tool_name === "WebFetch" && address !== undefined && URL.canParse(address)) return { target_type: "Domain", target: new URL(address).host, level: "Read", recursive: false };
  if (text(given["file_path"]) !== undefined || text(given["notebook_path"]) !== undefined) return { target_type: "Path", target: "", level: tool_name === "Read" ? "Read" : "Write", recursive: false };
  return { target_type: "Tool", target: tool_name, level: "Execute", recursive: false };
}

/** The calls that one of the rules of "always" covers, in words. */
export function coverage({ rule, byAgent }: Rule, call?: PermissionDetails): string {
  return byAgent ? "what the agent means by this" : ruleWords(rule, call);
}

/** The calls that a permission rule matches, in words. `call` is the request, if the rule is the only one of it. */
export function ruleWords(rule: string, call?: PermissionDetails): string {
  const [, tool = rule, content] = /^([^(]+)(?:\(([\s\S]*)\))?$/.exec(rule) ?? [];
  if (content === undefined || content === "*") return `every call of ${tool}, whatever its input`;
  if (tool === "Bash") {
    const prefix = /^([\s\S]*?):?\*$/.exec(content)?.[1];
    if (prefix === undefined && !content.includes("*")) {
      const command = call === undefined ? undefined : text(fields(call.input)["command"]);
      return command?.trim() === content ? "exactly this command" : `the command “${content}”, also beside others`;
    }
    if (prefix === undefined) return `every command that matches ${content}`;
    return `every command that begins with “${prefix.trim()}”, whatever follows`;
  }
  if (content.startsWith("domain:")) return `every address of ${content.slice("domain:".length)}`;
  if (/\*\*$/.test(content)) return `${doing(tool)} everything below ${content.replace(/\/?\*\*$/, "") || "the folder"}`;
  return content.includes("*") ? `${doing(tool)} every path that matches ${content}` : `${doing(tool)} ${content}`;
}

function doing(tool: string): string {
  if (tool === "Read") return "reading";
  return /Edit|Write/.test(tool) ? "changing" : `${tool} on`;
}

/** The text that the agent wants to run, for the reader. */
export function longInput(details: PermissionDetails): string {
  return details.tool_name === "Bash" ? (text(fields(details.input)["command"]) ?? "") : JSON.stringify(details.input, null, 2);
}
