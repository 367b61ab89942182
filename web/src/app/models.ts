// Models to choose from: those that the CLI lists, and default names until an agent was started.

import { signal } from "@preact/signals";
import { getJson } from "../net/api.ts";
import { modelName } from "../text/format.ts";
import type { ModelChoice, ModelList } from "../wire.ts";

const USUAL: ModelChoice[] = [
  { value: "opus", name: "Opus", description: "" },
  { value: "sonnet", name: "Sonnet", description: "" },
  { value: "haiku", name: "Haiku", description: "" },
];

/** The value for no choice. */
export const DEFAULT_MODEL = "default";

export const models = signal<readonly ModelChoice[]>(USUAL);
let told = false;

/** Name of a model, with its version if the name has none. */
export function modelLabel({ name, model }: ModelChoice): string {
  const full = model === undefined ? name : modelName(model);
  return full.startsWith(name) ? full : name;
}

/** Fetches the models from the server until an agent has reported them. */
export function learnModels(): void {
  if (told) return;
  getJson<ModelList>("models").then(
    ({ items }) => {
      if (items.length === 0) return;
      told = true;
      models.value = items.filter((model) => model.value !== DEFAULT_MODEL);
    },
    () => undefined,
  );
}
