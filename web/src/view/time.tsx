// The time of a message: short, with the full date on demand.

import type { VNode } from "preact";
import { pastMoment } from "../text/format.ts";

export function Time({ at }: { at: string | undefined }): VNode | null {
  if (at === undefined) return null;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return null;
  return (
    <time class="time" dateTime={at} title={date.toLocaleString()}>
      {pastMoment(date, new Date())}
    </time>
  );
}
