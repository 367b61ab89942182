import type { VNode } from "preact";

export function MachineCard(): VNode | null {
  return null;
}
