// Models to choose from: those that the agent lists; for Claude Code default names until one was started.

import { signal } from "@preact/signals";
import { getJson } from "../net/api.ts";
import { modelName } from "../text/format.ts";
import type { ModelChoice, ModelList, SessionView } from "../wire.ts";

const USUAL: ModelChoice[] = [
  { value: "opus", name: "Opus", description: "" },
  { value: "sonnet", name: "Sonnet", description: "" },
  { value: "haiku", name: "Haiku", description: "" },
];

/** The value for no choice. */
export const DEFAULT_MODEL = "default";

export const models = signal<readonly ModelChoice[]>(USUAL);
let told = false;

/** The models and modes of other agents, by the key of a session, or by `agentKey` for the agent of a new one. */
const offered = signal<ReadonlyMap<string, ModelList>>(new Map());

const agentKey = (backend: string): string => `agent ${backend}`;

/** Models and modes of a session with another agent, as far as they are known. */
export function offeredIn(session: Pick<SessionView, "key" | "backend">): ModelList | undefined {
  return session.backend === undefined ? undefined : (offered.value.get(session.key) ?? offeredBy(session.backend));
}

/** Models and modes of another agent for a new session, once one was started. */
export function offeredBy(backend: string): ModelList | undefined {
  return offered.value.get(agentKey(backend));
}

function learnOffer(key: string, path: string, query: Record<string, string>): void {
  getJson<ModelList>(path, query).then(
    (list) => (offered.value = new Map(offered.value).set(key, list)),
    () => undefined,
  );
}

/** Fetches what the agent of a session offers. */
export function learnOfferIn(session: Pick<SessionView, "key" | "backend">): void {
  if (session.backend === undefined) learnModels();
  else learnOffer(session.key, `sessions/${encodeURIComponent(session.key)}/models`, {});
}

/** Fetches what another agent offered when it was started last. */
export function learnOfferBy(backend: string): void {
  learnOffer(agentKey(backend), "models", { backend });
}

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
