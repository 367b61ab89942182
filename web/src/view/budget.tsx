// Limits of a new session: a button that opens three fields.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useDismiss } from "../app/dismiss.ts";
import type { BudgetText } from "../model/choices.ts";
import { budgetLine } from "../model/choices.ts";
import { Icon } from "./icons.tsx";

const FIELDS: [keyof BudgetText, string, string][] = [
  ["dollars", "Cost in dollars", "5"],
  ["turns", "Turns", "20"],
  ["minutes", "Minutes of work", "60"],
];

export function BudgetFields({ value, change }: { value: BudgetText; change: (now: BudgetText) => void }): VNode {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useDismiss(box, open, () => setOpen(false));
  return (
    <div class="budget" ref={box}>
      <button type="button" class="setting-button" aria-expanded={open} title="Budget" onClick={() => setOpen(!open)}>
        <Icon name="chart" /> <span>{budgetLine(value)}</span>
      </button>
      {open && (
        <div class="pop budget-pop" role="group" aria-label="Budget">
          <p class="muted">The session stops at the first limit that it reaches.</p>
          {FIELDS.map(([name, label, example]) => (
            <label>
              {label}
              <input type="text" inputMode="decimal" placeholder={example} value={value[name]} onInput={(event) => change({ ...value, [name]: event.currentTarget.value })} />
            </label>
          ))}
        </div>
      )}
    </div>
  );
}
