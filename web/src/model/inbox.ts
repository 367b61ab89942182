// The inbox in words.

import type { DeliveryState, InboxDelivery, InboxItem, InboxKind } from "../wire.ts";

export const KINDS: Record<InboxKind, string> = {
  permission: "Permission request",
  question: "Question",
  plan: "Plan",
  dialog: "Dialog where it runs",
  finished: "Turn finished",
  failed: "Turn failed",
  denied: "Denied by auto mode",
  limit: "Limit reached",
  agent_gone: "Agent ended",
  disk_full: "Disk full",
};

export function kindName(kind: string): string {
  return (KINDS as Record<string, string | undefined>)[kind] ?? kind;
}

const OUTCOMES: Record<string, string> = {
  allowed: "Allowed",
  denied: "Denied",
  answered: "Answered",
  timed_out: "Timed out",
  disconnected: "The agent disconnected",
  // An interrupt that came from elsewhere, or before the server recorded it, looks the same.
  cancelled: "Withdrawn",
  interrupted: "Interrupted",
  lost: "Lost with the agent",
};

export function outcomeName(outcome: string): string {
  return OUTCOMES[outcome] ?? outcome;
}

const DELIVERY_STATES: Record<DeliveryState, string> = { sent: "sent", failed: "failed", waiting: "not sent yet", gone: "subscription ended" };

/** A delivery in one line, such as `phone: failed (timeout)`. */
export function deliveryLine({ name, target, state, error }: InboxDelivery): string {
  return `${name ?? target}: ${DELIVERY_STATES[state] ?? state}${error === undefined ? "" : ` (${error})`}`;
}

/** Ids of the unread news of a session. Pending requests are not among them. */
export function newsOf(items: readonly InboxItem[], session: string): string[] {
  return items.filter((item) => item.session === session && item.unread === true && item.waiting !== true).map(({ id }) => id);
}

/** A page followed by older ones, each item once. */
export function joined(first: readonly InboxItem[], older: readonly InboxItem[]): InboxItem[] {
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...older.filter(({ id }) => !known.has(id))];
}
