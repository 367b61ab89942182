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

/** The lines of one decision, or all, that contain all words. `names` has the names of sessions. */
export function filterAudit(lines: readonly AuditLine[], decision: string, filter: string, names: (session: string) => string): AuditLine[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    if (decision !== "" && line.decision !== decision) return false;
    const text = [line.who, line.device, line.decision, line.rule, line.scope, line.session, line.session == null ? "" : names(line.session)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
