// Short messages about the user's last action.

import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  tone: "plain" | "error";
  text: string;
  /** Address of the session that the message is about. */
  session?: string | undefined;
}

const SHOWN_MS = 6000;
const SHOWN_MAX = 3;

export const toasts = signal<readonly Toast[]>([]);
let made = 0;

export function showToast(tone: Toast["tone"], text: string, session?: string): void {
  made += 1;
  const toast = { id: made, tone, text, session };
  toasts.value = [...toasts.value.filter((other) => other.text !== text), toast].slice(-SHOWN_MAX);
  setTimeout(() => dismiss(toast.id), tone === "error" ? SHOWN_MS * 2 : SHOWN_MS);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
