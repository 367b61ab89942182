// Folders of the server: the home folder, and suggestions while one is typed.

/** Replaces `~` by the home folder, which is derived from other folders of the server. */
export function expandHome(folder: string, known: readonly string[]): string {
  if (folder !== "~" && !folder.startsWith("~/")) return folder;
  const home = known.map((one) => /^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/.exec(one)?.[1]).find((one) => one !== undefined);
  return home === undefined ? folder : home + folder.slice(1);
}

/** A folder that the server has listed. */
export interface ListedFolder {
  path: string;
  repository: boolean;
}

/** Answer to `GET /v1/folders`. */
export interface FolderPage {
  items: { path: string; git?: boolean }[];
}

export interface FolderSuggestion {
  path: string;
  kind: "recent" | "folder" | "repository";
}

/** The folder to list for a typed path, and the beginning of the names wanted in it. */
export function queryFor(typed: string): { path?: string; q?: string } {
  const text = typed.trim();
  const slash = text.lastIndexOf("/");
  if (text === "~") return { path: "~" };
  if (slash === -1) return text === "" ? {} : { q: text };
  const q = text.slice(slash + 1);
  return { path: text.slice(0, slash) || "/", ...(q === "" ? {} : { q }) };
}

export function listedFolders(page: FolderPage): ListedFolder[] {
  return page.items.map(({ path, git }) => ({ path, repository: git === true }));
}

const SUGGESTIONS_MAX = 12;

/** Folders for a typed text: those that the server lists for it, then recent ones that contain it. */
export function suggestFolders(typed: string, recent: readonly string[], listed: readonly ListedFolder[]): FolderSuggestion[] {
  const text = typed.trim();
  const expanded = expandHome(text, recent);
  const isRecent = recent.includes(expanded);
  // A chosen folder offers the others; a part of a name narrows them down.
  const fitting = recent.filter((folder) => folder !== expanded && (text === "" || isRecent || folder.toLowerCase().includes(expanded.toLowerCase())));
  const found = listed.map((one): FolderSuggestion => ({ path: one.path, kind: one.repository ? "repository" : "folder" }));
  const known = new Set(found.map(({ path }) => path));
  const others = fitting.filter((folder) => !known.has(folder)).map((path): FolderSuggestion => ({ path, kind: "recent" }));
  // What was typed as a path is completed first; a word is searched in the recent ones.
  return (/^[/~]/.test(text) && !isRecent ? [...found, ...others] : [...others, ...found]).slice(0, SUGGESTIONS_MAX);
}
