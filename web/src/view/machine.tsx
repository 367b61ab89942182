// Summary of the sessions on disk, in three figures.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sorted } from "../app/list.ts";
import { connectionCount } from "../app/store.ts";
import { getJson } from "../net/api.ts";
import { bytes, count, dollars } from "../text/format.ts";
import type { TranscriptSummary } from "../wire.ts";

/** Interval in which the figures are fetched again while the server still counts. */
const AGAIN_MS = 3000;
const TRIES_MAX = 20;

export function MachineCard(): VNode | null {
  const [found, setFound] = useState<TranscriptSummary | undefined>(undefined);
  const [refused, setRefused] = useState(false);
  const [tries, setTries] = useState(0);
  const turns = sorted.value.reduce((sum, session) => sum + session.totals.turns, 0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    getJson<TranscriptSummary>("transcripts/summary").then(
      (summary) => {
        setFound(summary);
        if (summary.month_cost_usd === undefined && tries < TRIES_MAX) timer = setTimeout(() => setTries(tries + 1), AGAIN_MS);
      },
      () => setRefused(true),
    );
    return () => clearTimeout(timer);
    // Each turn of a session here writes to its file.
  }, [tries, connectionCount.value, turns]);
  // Its height is reserved from the start: otherwise the content below would jump when the figures arrive.
  if (found === undefined && refused) return null;
  return (
    <section class="machine" aria-label="Sessions on this machine">
      <dl>
        <div title={found && `${count(found.sessions, "session")} in ${found.projects} ${found.projects === 1 ? "project" : "projects"}, ${bytes(found.bytes)} on disk`}>
          <dt>on disk</dt>
          <dd>{found?.sessions.toLocaleString("en-GB") ?? "…"}</dd>
        </div>
        <div title="At list prices">
          <dt>this month</dt>
          <dd>{found?.month_cost_usd === undefined ? "…" : dollars(found.month_cost_usd)}</dd>
        </div>
        {found !== undefined && found.cleanup_sessions > 0 && (
          <div title={`Within a week. The CLI deletes sessions that were not changed for ${found.cleanup_days} days`}>
            <dt>expire soon</dt>
            <dd class="warn">{found.cleanup_sessions.toLocaleString("en-GB")}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
