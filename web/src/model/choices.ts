// Permission modes and policies, with what they mean.

export interface ChoiceOption {
  value: string;
  label: string;
  about: string;
}

export const MODES: readonly ChoiceOption[] = [
  { value: "default", label: "Ask first", about: "You are asked before files change and commands run." },
  { value: "acceptEdits", label: "Accept edits", about: "Files may change; you are asked before commands run." },
  { value: "auto", label: "Auto mode", about: "Claude Code judges each action itself, and asks you about few or none." },
  { value: "plan", label: "Plan mode", about: "Nothing changes until you approve a plan." },
  { value: "dontAsk", label: "Deny instead of asking", about: "What would be asked is denied." },
  { value: "bypassPermissions", label: "Bypass permissions", about: "Everything runs without a request." },
];

export const POLICIES: readonly (ChoiceOption & { scope?: string })[] = [
  { value: "ask", label: "You decide", about: "Every request goes to you." },
  { value: "standard", label: "Standard rules", about: "Reading, building and testing in the project are allowed; you decide the rest.", scope: "always" },
  { value: "unattended", label: "Unattended", about: "Like the standard rules; while nobody is present, the rest is denied.", scope: "always" },
  { value: "deny", label: "Deny all", about: "Every request is denied." },
  { value: "allow", label: "Allow all", about: "Every request is allowed.", scope: "admin" },
];

/** Limits of a session as they are written in the form; empty texts set none. */
export interface BudgetText {
  dollars: string;
  turns: string;
  minutes: string;
}

export const NO_BUDGET: BudgetText = { dollars: "", turns: "", minutes: "" };

/** The limits for the server, or the name of the field that has no positive number. */
export function budgetOf(text: BudgetText): { budget_usd?: number; max_turns?: number; max_seconds?: number } | keyof BudgetText {
  const made: { budget_usd?: number; max_turns?: number; max_seconds?: number } = {};
  for (const name of ["dollars", "turns", "minutes"] as const) {
    const given = text[name].trim().replace(",", ".");
    if (given === "") continue;
    const number = Number(given);
    if (!(number > 0) || !Number.isFinite(number) || (name === "turns" && !Number.isInteger(number))) return name;
    if (name === "dollars") made.budget_usd = number;
    else if (name === "turns") made.max_turns = number;
    else made.max_seconds = Math.ceil(number * 60);
  }
  return made;
}

/** The limits in one line. */
export function budgetLine({ dollars, turns, minutes }: BudgetText): string {
  const parts = [dollars.trim() && `$${dollars.trim()}`, turns.trim() && `${turns.trim()} turns`, minutes.trim() && `${minutes.trim()} min`].filter(Boolean);
  return parts.length === 0 ? "No budget" : parts.join(", ");
}
