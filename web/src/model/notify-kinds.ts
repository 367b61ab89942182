// @generated from `crates/bridge/src/notify/kinds` by `make generate`.

import type { NotifyKind } from "../wire.ts";

/** A kind of target with a URL. */
export interface UrlKind {
  title: string;
  /** The form of a URL. */
  example: string;
  /** The credential that a target may have, with its label. */
  credential?: { field: "secret" | "token"; label: string };
  /** True if notifications can have buttons. */
  buttons: boolean;
}

export const URL_KINDS: Record<Exclude<NotifyKind, "web_push">, UrlKind> = {
  webhook: { title: "Webhook", example: "https://example.org/hook", credential: { field: "secret", label: "Secret that signs the messages" }, buttons: false },
  slack: { title: "Slack", example: "https://hooks.slack.com/services/…", buttons: false },
  discord: { title: "Discord", example: "https://discord.com/api/webhooks/…", buttons: false },
  ntfy: { title: "ntfy", example: "https://ntfy.sh/your-topic", credential: { field: "token", label: "Access token of the topic" }, buttons: true },
};
