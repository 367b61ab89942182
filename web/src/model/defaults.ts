// Defaults of new sessions, per folder.

import type { FolderDefaults, Policy } from "../wire.ts";

export interface Defaults {
  model?: string;
  mode?: string;
  policy?: Policy;
  /** Folders that they come from, nearest first. */
  from: string[];
}

/** The defaults of a folder: each from the nearest folder above it that has one. */
export function defaultsFor(folder: string, all: readonly FolderDefaults[]): Defaults {
  const above = all.filter((one) => isInside(folder, one.folder)).sort((one, other) => other.folder.length - one.folder.length);
  const nearest = <K extends keyof FolderDefaults>(key: K) => above.find((one) => one[key] !== undefined);
  const [model, mode, policy] = [nearest("model"), nearest("permission_mode"), nearest("policy")];
  return {
    ...(model?.model === undefined ? {} : { model: model.model }),
    ...(mode?.permission_mode === undefined ? {} : { mode: mode.permission_mode }),
    ...(policy?.policy === undefined ? {} : { policy: policy.policy }),
    from: above.filter((one) => one === model || one === mode || one === policy).map((one) => one.folder),
  };
}

function isInside(folder: string, outer: string): boolean {
  return folder === outer || folder.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}
