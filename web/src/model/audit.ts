// The audit log: lines of JSON, one per decision.

export interface AuditLine {
  number: number;
  at_us: number;
  who: string;
  device?: string | null;
  session?: string | null;
  ask?: string | null;
  decision: string;
  rule?: string | null;
  scope?: string | null;
  changed?: string | null;
  latency_ms?: number | null;
  /** The request, which the log itself does not contain. */
  request?: { tool: string; target: string; ran?: string };
}

/** Author of a request that the agent withdrew by itself. */
const AGENT = "the agent";

/** The decision in one word. */
export function decisionOf({ decision, who }: AuditLine): string {
  return decision === "cancelled" && who !== AGENT ? "interrupted" : decision;
}

/** The lines that can be read, the newest first, and the number of those that cannot. */
export function parseAudit(text: string): { lines: AuditLine[]; broken: number } {
  const lines: AuditLine[] = [];
  let broken = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    try {
      const value = JSON.parse(line) as Partial<AuditLine> | null;
      if (typeof value?.number === "number" && typeof value.at_us === "number" && typeof value.who === "string" && typeof value.decision === "string") lines.push(value as AuditLine);
      else broken += 1;
    } catch {
      broken += 1;
    }
  }
  return { lines: lines.reverse(), broken };
}
