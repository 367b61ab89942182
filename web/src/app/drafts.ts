// What was being written, per session, kept over a reload.

const PREFIX = "tidings.draft.";

export function loadDraft(session: string): string {
  return sessionStorage.getItem(PREFIX + session) ?? "";
}

export function saveDraft(session: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + session);
    else sessionStorage.setItem(PREFIX + session, text);
  } catch {
    // A draft that is too large is only kept on the screen.
  }
}
