// Delay of approvals: a card can be allowed only after it was visible for a moment, and later after many
// approvals.

import { useEffect, useState } from "preact/hooks";

const READ_MS = 600;
const TIRED_MS = 2500;
const MANY = 10;
const LATELY_MS = 60_000;

let allowedAt: number[] = [];

export function noteAllowed(now: number): void {
  allowedAt = [...allowedAt.filter((at) => now - at < LATELY_MS), now];
}

/** True if more requests were allowed in the last minute than a person can read. */
export function allowsOften(now: number): boolean {
  return allowedAt.filter((at) => now - at < LATELY_MS).length >= MANY;
}

/** True once the card with this name can be answered. */
export function useAnswerable(name: string): boolean {
  const [ready, setReady] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setReady(name), allowsOften(Date.now()) ? TIRED_MS : READ_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return ready === name;
}

/** Enter never allows a request: it may have been meant for a text that was being typed. */
export function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === "Enter") event.preventDefault();
}
