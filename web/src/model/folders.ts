// Folders for display.

/** Replaces the home folder, which is derived from other folders of the server, by `~`. */
export function expandHome(folder: string, known: readonly string[]): string {
  if (folder !== "~" && !folder.startsWith("~/")) return folder;
  const home = known.map((one) => /^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/.exec(one)?.[1]).find((one) => one !== undefined);
  return home === undefined ? folder : home + folder.slice(1);
}
