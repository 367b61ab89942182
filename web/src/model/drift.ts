// Comparison of the installed CLI with the version that Tidings is tested with.

export interface Drift {
  tone: "same" | "newer" | "older";
  text: string;
}

export function driftOf(installed: string | undefined, tested: string): Drift | undefined {
  const [have, want] = [numbers(installed ?? ""), numbers(tested)];
  if (have === undefined || want === undefined) return undefined;
  const at = have.findIndex((part, index) => part !== want[index]);
  if (at === -1) return { tone: "same", text: "the tested version" };
  const isNewer = (have[at] ?? 0) > (want[at] ?? 0);
  return { tone: isNewer ? "newer" : "older", text: `${isNewer ? "newer" : "older"} than ${tested}, which Tidings is tested with` };
}

function numbers(version: string): [number, number, number] | undefined {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3])];
}
