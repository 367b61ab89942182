// Cost of sessions on disk: by day, by model and by project, at list prices.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useFetched } from "../app/fetched.ts";
import { href } from "../app/route.ts";
import { compactTokens, dollars, modelName, shortNames } from "../text/format.ts";
import type { CostReport, CostRow } from "../wire.ts";
import { Failed } from "./failed.tsx";
import { Icon, Spinner } from "./icons.tsx";

const SPANS: [number, string][] = [
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
];

export function Cost(): VNode {
  const [days, setDays] = useState(30);
  const since = isoDay(Date.now() - (days - 1) * 86_400_000);
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const byDay = useFetched<CostReport>("transcripts/cost", { by: "day", since, tz });
  const byModel = useFetched<CostReport>("transcripts/cost", { by: "model", since, tz });
  const byProject = useFetched<CostReport>("transcripts/cost", { by: "project", since, tz, limit: 12 });
  const folders = shortNames((byProject.value?.rows ?? []).map((row) => row.key));
  const total = byDay.value?.total;
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>Cost</h2>
        <fieldset class="segments push">
          <legend class="sr">Period</legend>
          {SPANS.map(([span, label]) => (
            <label class={days === span ? "on" : undefined}>
              <input type="radio" name="span" checked={days === span} onChange={() => setDays(span)} />
              {label}
            </label>
          ))}
        </fieldset>
      </header>
      <div class="sheet-body">
        {byDay.problem !== "" && <Failed problem={byDay.problem} again={byDay.again} />}
        {total === undefined && byDay.problem === "" && <p class="muted"><Spinner /> Counting</p>}
        {total !== undefined && byDay.value !== undefined && (
          <>
            <dl class="figures">
              <Figure label={`in ${days} days`} value={dollarsOrUnknown(total.cost_usd)} />
              <Figure label="responses" value={total.responses.toLocaleString("en-GB")} />
              <Figure label="tokens out" value={compactTokens(total.output)} />
              <Figure label="tokens in" value={compactTokens(total.input + total.cache_write)} />
              <Figure label="from the cache" value={compactTokens(total.cache_read)} />
            </dl>
            <Days rows={byDay.value.rows} since={since} days={days} />
            <div class="two">
              <Bars title="By model" rows={byModel.value?.rows ?? []} name={modelName} />
              <Bars title="By project" rows={byProject.value?.rows ?? []} name={(folder) => folders.get(folder) ?? folder} />
            </div>
            {byDay.value.unpriced.length > 0 && (
              <p class="muted">Without a known price, and not in the sums: {byDay.value.unpriced.map((one) => `${one.model} (${one.responses} responses)`).join(", ")}.</p>
            )}
            <p class="muted">Counted from the sessions on this machine at list prices; with a subscription you pay something else.</p>
          </>
        )}
      </div>
    </div>
  );
}

/** An amount; models without a known price cost an unknown amount, and not nothing. */
function dollarsOrUnknown(cost: number | null | undefined): string {
  return cost == null ? "unknown" : dollars(cost);
}

function Figure({ label, value }: { label: string; value: string }): VNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** A bar per day; the table has the same data for screen readers. */
function Days({ rows, since, days }: { rows: CostRow[]; since: string; days: number }): VNode {
  const costs = new Map(rows.map((row) => [row.key, row.cost_usd ?? 0]));
  const first = Date.parse(`${since}T00:00:00Z`);
  const all = Array.from({ length: days }, (_, index) => {
    const day = isoDay(first + index * 86_400_000);
    return { day, cost: costs.get(day) ?? 0 };
  });
  const most = Math.max(0, ...all.map((one) => one.cost));
  const word = most === 0 ? "nothing spent" : `most: ${dollars(most)}`;
  return (
    <figure class="days" aria-label={`Cost by day, ${word}`}>
      <div class="days-bars" aria-hidden="true">
        {all.map(({ day, cost }) => (
          <span class="day" title={`${day}: ${dollars(cost)}`}>
            <span class="day-bar" style={{ height: `${cost > 0 ? Math.max(2, (cost / most) * 100) : 0}%` }} />
          </span>
        ))}
      </div>
      <figcaption>
        <span>{all[0]?.day}</span>
        <span>{word}</span>
        <span>{all.at(-1)?.day}</span>
      </figcaption>
      <table class="sr">
        <caption>Cost by day</caption>
        <tbody>
          {all
            .filter((one) => one.cost > 0)
            .map(({ day, cost }) => (
              <tr>
                <th scope="row">{day}</th>
                <td>{dollars(cost)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}

function Bars({ title, rows, name }: { title: string; rows: CostRow[]; name: (key: string) => string }): VNode {
  const sorted = [...rows].sort((one, other) => (other.cost_usd ?? 0) - (one.cost_usd ?? 0));
  const most = Math.max(0.01, ...sorted.map((row) => row.cost_usd ?? 0));
  return (
    <section class="bars">
      <h3>{title}</h3>
      {sorted.length === 0 && <p class="muted">No cost in this period.</p>}
      <ul>
        {sorted.map((row) => (
          <li>
            <span class="cut" title={row.key}>{name(row.key)}</span>
            <span class="bar-value">{dollarsOrUnknown(row.cost_usd)}</span>
            <span class="bar-track">
              <span class="bar" style={{ width: `${((row.cost_usd ?? 0) / most) * 100}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
