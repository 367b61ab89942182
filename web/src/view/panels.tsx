// Side panels of a conversation: their frame, and the overview.

import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import { useEscape } from "../app/dismiss.ts";
import { meta } from "../app/store.ts";
import type { Conversation } from "../model/conversation.ts";
import { besideTested } from "../model/drift.ts";
import { compactTokens, duration, limitName, moment } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { ContinuesAt } from "./after-limit.tsx";
import { Icon, Spinner } from "./icons.tsx";
import { Todos } from "./todos.tsx";
import { TrustNote } from "./trust.tsx";
import { WorktreeSection } from "./worktree.tsx";

export function PanelFrame({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }): VNode {
  const box = useRef<HTMLElement>(null);
  const leave = useEscape(box, true, close, { isLocal: true });
  return (
    <aside class="panel" ref={box} aria-label={title}>
      <header>
        <h3>{title}</h3>
        <button type="button" class="ghost" aria-label="Close" onClick={leave}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="panel-body" tabIndex={0} role="group" aria-label={title}>{children}</div>
    </aside>
  );
}

export function Overview({ all, session }: { all: Conversation; drawn: number; session: SessionView }): VNode {
  const lanes = [...all.lanes.values()].filter((lane) => lane.started !== undefined);
  const tasks = [...all.tasks.values()].filter((task) => task.status === "running");
  const limit = all.limit;
  const nothing = all.todos.length === 0 && lanes.length === 0 && tasks.length === 0 && limit === undefined;
  return (
    <>
      {session.untrusted && (
        <section>
          <h4>Without the folder’s settings</h4>
          <p>
            This agent was started without the settings, hooks and MCP servers of its folder, since they are not trusted.
            Trust them here, then stop the agent: the next prompt starts it with them.
          </p>
          <TrustNote folder={session.cwd} />
        </section>
      )}
      {all.progress !== undefined && all.progress.percentage !== undefined && (
        <section>
          <h4>Progress{all.progress.estimated ? " (a guess)" : ""}</h4>
          <progress max={100} value={all.progress.percentage} aria-label="Progress" />
          <p class="muted">{all.progress.step}</p>
        </section>
      )}
      {all.todos.length > 0 && (
        <section>
          <h4>To do</h4>
          <Todos items={all.todos} busy={session.state === "running"} />
        </section>
      )}
      {lanes.length > 0 && (
        <section>
          <h4>Sub-agents</h4>
          <ul class="lanes">
            {lanes.map((lane) => {
              const facts = lane.ended ?? lane.progress;
              return (
                <li>
                  {lane.ended === undefined ? <Spinner /> : <Icon name={lane.ended.outcome === "Completed" ? "check" : "alert"} />}
                  <span>
                    {lane.started?.description ?? lane.started?.agent_type ?? "Agent"}
                    <span class="muted">
                      {lane.ended === undefined ? (lane.progress?.description ?? "starting") : lane.ended.outcome.toLowerCase()}
                      {facts?.tokens !== undefined && ` · ${compactTokens(facts.tokens)} tokens`}
                      {facts?.duration_ms !== undefined && ` · ${duration(facts.duration_ms)}`}
                    </span>
                  </span>
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {tasks.length > 0 && (
        <section>
          <h4>Background tasks</h4>
          <ul class="lanes">
            {tasks.map((task) => (
              <li>
                <Spinner />
                <span>{task.description ?? task.task_id}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {limit !== undefined && limit.utilization !== undefined && (
        <section>
          <h4>Limit of your plan{limit.kind === undefined ? "" : ` (${limitName(limit.kind)})`}</h4>
          <meter min={0} max={1} low={0.7} high={0.9} optimum={0.1} value={limit.utilization} aria-label="Usage of the limit" />
          <p class="muted">
            {Math.round(limit.utilization * 100)}% used
            {limit.resets_at !== undefined && `, resets ${moment(new Date(limit.resets_at * 1000), new Date())}`}
          </p>
        </section>
      )}
      <ContinuesAt session={session} />
      {nothing && <p class="muted">No lists, sub-agents or background work yet.</p>}
      <WorktreeSection session={session} />
      <section>
        <h4>About</h4>
        <dl class="facts">
          <dt>Folder</dt>
          <dd class="mono">{session.cwd}</dd>
          <dt>Turns</dt>
          <dd>{session.totals.turns}</dd>
          {all.cliVersion !== undefined && (
            <>
              <dt>{session.backend === undefined ? "Claude Code" : "Agent"}</dt>
              <dd>{session.backend === undefined ? besideTested(all.cliVersion, meta.value?.claude?.tested) : all.cliVersion}</dd>
            </>
          )}
          {session.budget.budget_usd !== undefined && (
            <>
              <dt>Budget</dt>
              <dd>${session.budget.budget_usd}</dd>
            </>
          )}
        </dl>
      </section>
    </>
  );
}
