// The summary that Claude Code writes for itself after a compaction.

/** True if a prompt is the summary that Claude Code writes for itself after a compaction. */
export function isSummary(text: string, origin: string | undefined): boolean {
  return origin !== undefined && text.startsWith("This session is being continued from a previous conversation");
}

export function withoutReminders(text: string): string {
  return text.replaceAll(/<system-reminder>[\s\S]*?(<\/system-reminder>|$)/g, "").replaceAll(/\n{3,}/g, "\n\n").trim();
}
