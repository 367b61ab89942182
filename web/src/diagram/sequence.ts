// Sequence diagrams in Mermaid's notation, as participants and steps.

import { clean } from "./flow.ts";

export type Step =
  | { kind: "message"; from: string; to: string; text: string; isDashed: boolean; hasArrow: boolean }
  | { kind: "note"; over: string[]; text: string }
  | { kind: "open" | "else"; text: string }
  | { kind: "close" };

export interface Sequence {
  participants: Map<string, string>;
  steps: Step[];
}

const MESSAGE = /^(.+?)\s*(<<)?(-{1,2})(>>|>|x|\))\s*[+-]?\s*(.+?)\s*:\s*(.*)$/;

/** `undefined` if the text is not understood as a whole. */
export function sequenceOf(lines: readonly string[]): Sequence | undefined {
  const [head = "", ...rest] = lines;
  if (!/^sequenceDiagram\s*$/.test(head)) return undefined;
  const found: Sequence = { participants: new Map(), steps: [] };
  const know = (id: string) => {
    if (!found.participants.has(id)) found.participants.set(id, clean(id));
    return id;
  };
  for (const line of rest) {
    const participant = /^(?:create\s+)?(?:participant|actor)\s+(\S+)(?:\s+as\s+(.+))?$/.exec(line);
    const note = /^note\s+(?:over|left of|right of)\s+([^:]+):\s*(.*)$/i.exec(line);
    const block = /^(loop|alt|opt|par|critical|break|rect|box)\b\s*(.*)$/.exec(line);
    const other = /^(else|and|option)\b\s*(.*)$/.exec(line);
    const message = MESSAGE.exec(line);
    if (participant !== null) found.participants.set(participant[1] ?? "", clean(participant[2] ?? participant[1] ?? ""));
    else if (note !== null) found.steps.push({ kind: "note", over: (note[1] ?? "").split(",").map((id) => know(id.trim())), text: clean(note[2] ?? "") });
    else if (block !== null) found.steps.push({ kind: "open", text: block[1] === "rect" || block[1] === "box" ? "" : `${block[1]} ${clean(block[2] ?? "")}`.trim() });
    else if (other !== null) found.steps.push({ kind: "else", text: clean(other[2] ?? "") || (other[1] ?? "") });
    else if (line === "end") found.steps.push({ kind: "close" });
    else if (message !== null) {
      const [, from = "", , dashes = "", tip = "", to = "", text = ""] = message;
      found.steps.push({ kind: "message", from: know(from), to: know(to), text: clean(text), isDashed: dashes === "--", hasArrow: tip !== ">" });
    } else if (!/^(autonumber|activate|deactivate|destroy|title|accTitle|accDescr|links?)\b/.test(line)) return undefined;
  }
  return found.participants.size === 0 ? undefined : found;
}
