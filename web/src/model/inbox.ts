// The inbox: shapes of the server's routes, and the words for them.

export type InboxKind = "permission" | "question" | "plan" | "finished" | "failed" | "denied" | "limit" | "agent_gone" | "disk_full";

/** One notification that was sent, or could not be. */
export interface Delivery {
  target: string;
  kind: string;
  name: string;
  state: "sent" | "failed" | "waiting" | "gone";
  at?: string;
  tries?: number;
  error?: string;
  retry_at?: string;
}

export interface InboxItem {
  id: string;
  position: number;
  kind: InboxKind;
  at: string;
  session?: string;
  handle?: number;
  project?: string;
  title?: string;
  line?: string;
  tool?: string;
  risk?: "low" | "medium" | "high";
  tool_use_id?: string;
  resets_at?: string;
  waiting?: boolean;
  outcome?: string;
  settled_at?: string;
  unread?: boolean;
  visible_at?: string;
  next_reminder?: string;
  link: string;
  deliveries?: Delivery[];
}

export interface InboxCounts {
  waiting: number;
  unread: number;
  badge: number;
  position: number;
}

export interface InboxPage extends InboxCounts {
  items: InboxItem[];
  next?: number;
}

export const KINDS: Record<InboxKind, string> = {
  permission: "Permission request",
  question: "Question",
  plan: "Plan",
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
  cancelled: "Cancelled by the agent",
  lost: "Lost with the agent",
};

export function outcomeName(outcome: string): string {
  return OUTCOMES[outcome] ?? outcome;
}

const DELIVERY_STATES: Record<Delivery["state"], string> = { sent: "sent", failed: "failed", waiting: "not sent yet", gone: "subscription ended" };

/** A delivery in one line, such as `phone: failed (timeout)`. */
export function deliveryLine({ name, state, error }: Delivery): string {
  return `${name}: ${DELIVERY_STATES[state] ?? state}${error === undefined ? "" : ` (${error})`}`;
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
