// Comparison of the installed CLI with the versions that Tidings was tested with.

export interface Drift {
  tone: "same" | "known" | "newer" | "older";
  /** The meaning of the difference, as a sentence. */
  text: string;
}

/** `tested` is the version that all tests run with, `compared` are others that were compared with it. */
export function driftOf(installed: string | undefined, tested: string, compared: readonly string[]): Drift | undefined {
  const [have, want] = [numbers(installed ?? ""), numbers(tested)];
  if (have === undefined || want === undefined) return undefined;
  if (order(have, want) === 0) return { tone: "same", text: "It is the version that all tests of Tidings run with." };
  const others = compared.map(numbers).filter((one) => one !== undefined);
  if (others.some((one) => order(have, one) === 0)) return { tone: "known", text: `It was compared with ${tested}, the version that all tests run with; the differences are known.` };
  const all = [want, ...others];
  if (all.every((one) => order(have, one) > 0)) return { tone: "newer", text: "It is newer than any version that Tidings was tested with. What it sends in addition is kept, and may not be displayed." };
  if (all.every((one) => order(have, one) < 0)) return { tone: "older", text: "It is older than any version that Tidings was tested with. Some features may be missing; claude update gets the newest one." };
  return { tone: "known", text: `It lies between versions that Tidings was tested with: all tests run with ${tested}.` };
}

/** The installed version, followed by the tested one if that is another: `2.1.330, tested with 2.1.327`. */
export function besideTested(installed: string, tested: string | undefined): string {
  const [have, want] = [numbers(installed), numbers(tested ?? "")];
  return have === undefined || want === undefined || order(have, want) === 0 ? installed : `${installed}, tested with ${tested}`;
}

type Version = [number, number, number];

function order(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

function numbers(version: string): Version | undefined {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3])];
}
