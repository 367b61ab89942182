// What a decision for the session, and a rule for always, cover, in words.

import { text } from "./tools.ts";
import { fields } from "./tools.ts";
import type { PermissionDetails, PermissionRequest } from "../wire.ts";

/** What "for this session" allows: the smallest grant that covers the request. */
export function sessionWords(details: PermissionDetails, request: PermissionRequest | undefined): string {
  const until = "until this session ends, without asking";
  const tool = details.tool_name;
  switch (request?.target_type) {
    case "Command":
      return `Exactly this command again, ${until}. Other commands still ask.`;
    case "Path": {
      const what = request.level === "Read" ? "Reading" : "Changing";
      const where = request.recursive ? "anything in this folder" : "this file";
      return `${what} ${where} again, with any content, ${until}. Other ${request.recursive ? "folders" : "files"} still ask.`;
    }
    case "Domain":
      return `Every address of ${request.target}, ${until}. Other hosts still ask.`;
    case "Tool":
      return `Every call of ${tool}, whatever its input, ${until}.`;
    default:
      return tool === "Bash" ? `Exactly this command again, ${until}.` : `The same request again, ${until}.`;
  }
}

/** What a permission rule matches. */
export function ruleWords(rule: string): string {
  const [, tool = rule, content] = /^([^(]+)(?:\(([\s\S]*)\))?$/.exec(rule) ?? [];
  if (content === undefined || content === "*") return `every call of ${tool}, whatever its input`;
  if (tool === "Bash") {
    const prefix = /^([\s\S]*?):?\*$/.exec(content)?.[1];
    return prefix === undefined ? "exactly this command" : `every command that begins with “${prefix.trim()}”, whatever follows`;
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
