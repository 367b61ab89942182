// Folders as people write them.

/** A folder with `~` in the place of the home folder, which is known from other folders of the server. */
export function expandHome(folder: string, known: readonly string[]): string {
  if (folder !== "~" && !folder.startsWith("~/")) return folder;
  const home = known.map((one) => /^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/.exec(one)?.[1]).find((one) => one !== undefined);
  return home === undefined ? folder : home + folder.slice(1);
}
