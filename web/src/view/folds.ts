// What a person has opened or closed, kept while rows come and go.

import { useState } from "preact/hooks";

const KEPT_MAX = 2000;
const opened = new Map<string, boolean>();

/** Opens something before it is drawn. */
export function openFold(name: string): void {
  keep(name, true);
}

/** Whether something is open, and a way to change it. It is remembered under its name. */
export function useFold(name: string, initially: boolean): [boolean, () => void] {
  const [isOpen, setOpen] = useState(opened.get(name) ?? initially);
  const toggle = () => {
    setOpen(!isOpen);
    keep(name, !isOpen);
  };
  return [isOpen, toggle];
}

function keep(name: string, isOpen: boolean): void {
  opened.delete(name);
  opened.set(name, isOpen);
  if (opened.size > KEPT_MAX) opened.delete(opened.keys().next().value ?? "");
}
