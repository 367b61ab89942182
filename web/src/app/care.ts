// Care with yes: a card takes one only after it was there to be read, and longer after many of them.

import { useEffect, useState } from "preact/hooks";

const READ_MS = 600;
const TIRED_MS = 2500;
const MANY = 10;
const LATELY_MS = 60_000;

let allowedAt: number[] = [];

export function noteAllowed(now: number): void {
  allowedAt = [...allowedAt.filter((at) => now - at < LATELY_MS), now];
}

/** Whether so much was allowed lately that nobody can have read it all. */
export function isTired(now: number): boolean {
  return allowedAt.filter((at) => now - at < LATELY_MS).length >= MANY;
}

/** Whether the card of this name may be answered by now. */
export function useReadable(name: string): boolean {
  const [ready, setReady] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setReady(name), isTired(Date.now()) ? TIRED_MS : READ_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return ready === name;
}

/** A yes is never given by Enter: it may have been meant for a text that was being written. */
export function refuseEnter(event: KeyboardEvent): void {
  if (event.key === "Enter") event.preventDefault();
}
