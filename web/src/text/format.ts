// Formatting of numbers and times. The current time is a parameter.

/** 1234567 as `1.2M`. */
export function compactTokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${trim(count / 1000)}k`;
  return `${trim(count / 1_000_000)}M`;
}

/** Bytes in a suitable unit. */
export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : trim(value)} ${units[unit]}`;
}

/** Dollars, with more decimals for smaller amounts. */
export function dollars(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.01) return "<$0.01";
  if (amount >= 1000) return `$${Math.round(amount).toLocaleString("en-GB")}`;
  return `$${amount.toFixed(2)}`;
}

/** A duration in one or two units. */
export function duration(ms: number): string {
  if (ms < 950) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Time since a moment, in one short word. */
export function age(then: string, now: number): string {
  const ms = now - Date.parse(then);
  if (Number.isNaN(ms)) return "";
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  const days = Math.floor(hours / 24);
  if (days < 31) return `${days} d`;
  return new Date(then).toISOString().slice(0, 10);
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-GB")} ${number === 1 ? one : many}`;
}

/** Name of a plan limit: `five_hour` as `five hours`, `seven_day_opus` as `seven days, opus`. */
export function limitName(kind: string): string {
  return kind.replace(/^([a-z]+)_(hour|day)(?=_|$)/, "$1 $2s").replace("s_", "s, ").replaceAll("_", " ");
}

/** A moment in the future: the time, and the day if it is another one. */
export function moment(at: Date, now: Date): string {
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === now.toDateString() ? time : `${at.toLocaleDateString([], { weekday: "long" })}, ${time}`;
}

/** A moment in the past: the time, and the date if it is another day. */
export function pastMoment(at: Date, now: Date): string {
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === now.toDateString()) return time;
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return `${at.toLocaleDateString([], { day: "numeric", month: "short", ...year })}, ${time}`;
}

/** The last part of a path. */
export function baseName(path: string): string {
  const parts = path.replace(/[/\\]+$/, "").split(/[/\\]/);
  return parts.at(-1) || path;
}

/** The last part of each path, with as many parts before it as distinguish it from the others. */
export function shortNames(paths: readonly string[]): ReadonlyMap<string, string> {
  const end = (path: string, parts: number) => path.replace(/[/\\]+$/, "").split(/[/\\]/).slice(-parts).join("/") || path;
  const name = (path: string): string => {
    for (let parts = 1; ; parts += 1) {
      const short = end(path, parts);
      if (parts >= path.length || !paths.some((other) => other !== path && end(other, parts) === short)) return short;
    }
  };
  return new Map(paths.map((path) => [path, name(path)]));
}

/** The path relative to a folder, if it is inside. */
export function relativePath(path: string, folder: string | undefined): string {
  if (folder === undefined || folder === "") return path;
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

/** `claude-opus-5-5-20260101` as `Opus 5.5`. */
export function modelName(model: string): string {
  const match = /^(?:claude-)?([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?(\[.*\])?$/.exec(model);
  if (match === null) return model;
  const [, family = "", major = "", minor, suffix] = match;
  const version = minor === undefined ? major : `${major}.${minor}`;
  return `${family.charAt(0).toUpperCase()}${family.slice(1)} ${version}${suffix ?? ""}`;
}

function trim(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}

/** A line of Markdown as plain text, for previews. */
export function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ x]\]\s+)?|\d+[.)]\s+)+/, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/(?<![\w/*])(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1(?![\w/*.])/g, "$2")
    .replaceAll(/(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])/g, "$1")
    .replaceAll(/`+([^`]+)`+/g, "$1")
    .replaceAll(/^\||\|\s*$/g, "")
    .trim();
}
