// Open and closed state of foldable parts, kept while rows are unmounted.

import { useState } from "preact/hooks";

const KEPT_MAX = 2000;
const opened = new Map<string, boolean>();

/** Opens a part before it is drawn. */
export function openFold(name: string): void {
  keep(name, true);
}

/** Open state of a part and its setter, stored under a name. */
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
