// Templates of new sessions, stored in this browser.

import { signal } from "@preact/signals";
import type { BudgetText } from "../model/choices.ts";
import { loadJson, saveJson } from "./local-data.ts";

export interface Template {
  name: string;
  prompt: string;
  folder: string;
  model: string;
  mode: string;
  policy: string;
  budget: BudgetText;
}

const NAME = "tidings.templates";

export const templates = signal<readonly Template[]>(loadJson<Template[]>(NAME) ?? []);

/** Saves a template in place of one with the same name. */
export function saveTemplate(template: Template): void {
  set([...templates.value.filter(({ name }) => name !== template.name), template]);
}

export function removeTemplate(name: string): void {
  set(templates.value.filter((one) => one.name !== name));
}

function set(now: readonly Template[]): void {
  templates.value = now;
  saveJson(NAME, now);
}
