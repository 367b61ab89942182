// The card of a tool call: one line with the summary, and below it the details of this tool.

import type { ComponentChildren, VNode } from "preact";
import { meta } from "../app/store.ts";
import type { Conversation, Lane, Settled, ToolItem } from "../model/conversation.ts";
import { answersOf } from "../model/answers.ts";
import { decisionText, isLocal } from "../model/decision.ts";
import { persistedBytes } from "../model/full-output.ts";
import { rowsOf } from "../model/runs.ts";
import { changes, fields, list, number, resultText, summary, text } from "../model/tools.ts";
import { compactTokens, count, duration } from "../text/format.ts";
import { languageOfFile } from "../text/language.ts";
import { commentsHere } from "./comments.tsx";
import { CodeText } from "./code.tsx";
import { Diff, DiffCount, DiffSwitch } from "./diff.tsx";
import { useFold } from "./folds.ts";
import { Icon, Spinner } from "./icons.tsx";
import { ItemView } from "./item.tsx";
import { Markdown } from "./markdown.tsx";
import { Output } from "./output.tsx";
import { Pictures } from "./pictures.tsx";
import { InOrder } from "./revealed.tsx";
import { Todos } from "./todos.tsx";
import type { TodoItem } from "../wire.ts";

/** Tools whose cards stay closed after success: their output seldom matters. */
const QUIET = new Set(["Read", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "TaskOutput", "BashOutput", "ToolSearch", "Skill"]);

export function ToolCard({ tool, all }: { tool: ToolItem; all: Conversation }): VNode | null {
  const lane = all.lanes.get(tool.id);
  const about = summary(tool.name, tool.input, all.cwd);
  const hunks = tool.state === "failed" ? undefined : changes(tool.name, tool.input, tool.account);
  const [open, toggle] = useFold(`tool-${tool.id}`, !QUIET.has(tool.name));
  if (tool.retracted) return null;
  const waits = all.asks.has(tool.id);
  const state = lane?.ended === undefined && lane !== undefined && lane.started?.background ? "running" : tool.state;
  return (
    <div role="group" class={`tool ${waits ? "waits" : state}`} data-tool={tool.name} data-state={state} aria-label={`${about.title} ${about.target}`.slice(0, 200)}>
      <div>
        <button type="button" class="tool-head" aria-expanded={open} onClick={toggle}>
          <span class="tool-icon">{waits ? <Icon name="bell" /> : state === "running" || state === "preparing" ? <Spinner /> : <Icon name={state === "failed" ? "alert" : about.icon} />}</span>
          <span class="tool-title"><InOrder text={about.title} /></span>
          <span class={about.mono ? "tool-target mono" : "tool-target"}><bdi><InOrder text={about.target.split("\n")[0] ?? ""} /></bdi></span>
          {waits ? <span class="tool-aside waits">waiting for you</span> : <Aside tool={tool} lane={lane} />}
          {hunks !== undefined && hunks.length > 0 && <DiffCount hunks={hunks} />}
          <span class="tool-chevron">
            <Icon name="chevron" />
          </span>
        </button>
      </div>
      <Decision settled={tool.settled} tool={tool.name} edited={tool.modelInput !== undefined} />
      {tool.modelInput !== undefined && <ModelInput tool={tool} cwd={all.cwd} />}
      <Pictures account={tool.account} about={about.target} />
      {open && !waits && <div class="tool-body">{body(said(tool), all, lane, hunks)}</div>}
    </div>
  );
}

/** Body of the card without repetition: the result of a denied call only repeats the reason. */
function said(tool: ToolItem): ToolItem {
  const { settled, result } = tool;
  const isRepeated = isDecided(tool.name) && settled?.outcome === "Denied" && settled.reason !== undefined && resultText(result ?? "").includes(settled.reason.trim());
  return isRepeated ? { ...tool, result: undefined } : tool;
}

/** True if a decision about the tool is displayed; answers and plans are displayed themselves. */
function isDecided(name: string): boolean {
  return name !== "AskUserQuestion" && name !== "ExitPlanMode";
}

/** Status at the end of the line. */
function Aside({ tool, lane }: { tool: ToolItem; lane: Lane | undefined }): VNode | null {
  if (lane !== undefined) {
    const facts = lane.ended ?? lane.progress;
    const parts = [
      facts?.tool_uses === undefined ? undefined : `${facts.tool_uses} ${facts.tool_uses === 1 ? "call" : "calls"}`,
      facts?.tokens === undefined ? undefined : `${compactTokens(facts.tokens)} tokens`,
      facts?.duration_ms === undefined ? undefined : duration(facts.duration_ms),
    ].filter((part) => part !== undefined);
    return <span class="tool-aside lane-facts">{parts.join(" · ")}</span>;
  }
  if (tool.state === "preparing") return <span class="tool-aside">preparing…</span>;
  if (tool.state === "running" && tool.elapsedSeconds !== undefined) return <span class="tool-aside">{duration(tool.elapsedSeconds * 1000)}</span>;
  if (tool.state === "failed") return <span class="tool-aside bad">{failure(tool.settled?.outcome)}</span>;
  return <span class="tool-aside">{outcome(tool)}</span>;
}

/** A denied call has not failed: it never ran. */
function failure(outcome: Settled["outcome"] | undefined): string {
  if (outcome === undefined || outcome === "Allowed" || outcome === "Answered") return "failed";
  return outcome === "Denied" ? "denied" : "not run";
}

/** The result in a word or two, for closed cards. */
function outcome(tool: ToolItem): string {
  if (tool.state !== "done") return "";
  const account = fields(tool.account);
  const files = number(account["numFiles"]);
  if (tool.name === "Read") {
    const lines = number(fields(account["file"])["numLines"]);
    return lines === undefined ? "" : count(lines, "line");
  }
  if (tool.name === "Grep" || tool.name === "Glob") return files === undefined ? "" : `${files} ${files === 1 ? "file" : "files"}`;
  if (tool.name === "WebSearch") return `${list(account["results"]).length} results`;
  return "";
}

/** The model's input, if another one ran. */
function ModelInput({ tool, cwd }: { tool: ToolItem; cwd: string | undefined }): VNode {
  const { target } = summary(tool.name, tool.modelInput ?? null, cwd);
  return (
    <details class="model-input">
      <summary>Original input</summary>
      <pre tabIndex={0}><code><InOrder text={tool.name === "Bash" ? target : JSON.stringify(tool.modelInput, null, 2)} /></code></pre>
    </details>
  );
}

function Decision({ settled, tool, edited }: { settled: Settled | undefined; tool: string; edited: boolean }): VNode | null {
  if (settled === undefined || !(isDecided(tool) || isLocal(settled))) return null;
  // The rule of a grant is only an id.
  const isGrant = settled.by === "grant";
  const good = settled.outcome === "Allowed" || settled.outcome === "Answered" || (settled.outcome === "Cancelled" && isLocal(settled) && settled.interrupted !== true);
  return (
    <p class={good ? "decision" : "decision bad"}>
      {decisionText(settled, edited, meta.value?.you.name)}
      {settled.rule !== undefined && !isGrant && <> by the rule <code><InOrder text={settled.rule} /></code></>}
      {settled.reason !== undefined && settled.reason !== "" && <>: “<InOrder text={settled.reason} />”</>}
    </p>
  );
}

function body(tool: ToolItem, all: Conversation, lane: Lane | undefined, hunks: ReturnType<typeof changes>): ComponentChildren {
  const given = fields(tool.input);
  const account = fields(tool.account);
  const failed = tool.state === "failed" && tool.result !== undefined;
  const failure = failed ? <Output text={resultText(tool.result ?? "")} name={tool.id} tone="error" /> : null;
  if (lane !== undefined) return <LaneBody lane={lane} all={all} tool={tool} />;
  switch (tool.name) {
    case "Bash": {
      const command = text(given["command"]) ?? "";
      const out = text(account["stdout"]);
      const err = text(account["stderr"]);
      return (
        <>
          {(command.includes("\n") || command.length > 90) && <pre class="command" tabIndex={0}><code><CodeText text={command} language="bash" /></code></pre>}
          {out === undefined && err === undefined ? (
            tool.result !== undefined && <Output text={resultText(tool.result)} name={tool.id} tone={failed ? "error" : "plain"} from="end" />
          ) : (
            <>
              <Output text={out ?? ""} name={tool.id} from="end" size={persistedBytes(tool.account)} />
              <Output text={err ?? ""} name={`${tool.id}-err`} tone="error" from="end" />
              {!out && !err && tool.state === "done" && <p class="nothing">No output</p>}
            </>
          )}
        </>
      );
    }
    case "TodoWrite":
      return failed ? failure : <Todos items={todosOf(list(given["todos"]))} busy={false} />;
    case "AskUserQuestion":
      return <Answers tool={tool} />;
    case "ExitPlanMode":
      return (
        <>
          {(tool.plan ?? text(given["plan"])) !== undefined && <Markdown text={tool.plan ?? text(given["plan"]) ?? ""} />}
          {failure}
        </>
      );
    case "Read":
      return failed ? failure : <FileContent tool={tool} path={pathOf(given)} />;
    case "WebSearch":
      return failed ? failure : <Hits account={tool.account} result={tool.result} name={tool.id} />;
    default:
      break;
  }
  if (hunks !== undefined) {
    return (
      <>
        <div class="tool-bar">
          <DiffSwitch />
        </div>
        <Diff hunks={hunks} path={pathOf(given)} name={tool.id} comments={commentsHere()} />
      </>
    );
  }
  if (failed) {
    return (
      <>
        {failure}
        {hunks}
      </>
    );
  }
  const known = new Set(["Read", "Glob", "Grep", "LS", "WebFetch", "Bash", "Write", "Edit"]);
  return (
    <>
      {!known.has(tool.name) && Object.keys(given).length > 0 && <Output text={JSON.stringify(tool.input, null, 2)} name={`${tool.id}-in`} />}
      {tool.result !== undefined && <Output text={resultText(tool.result)} name={tool.id} />}
    </>
  );
}

function pathOf(given: ReturnType<typeof fields>): string {
  return text(given["file_path"]) ?? text(given["notebook_path"]) ?? "";
}

/** The lines that were read, with their numbers. */
function FileContent({ tool, path }: { tool: ToolItem; path: string }): VNode | null {
  const file = fields(fields(tool.account)["file"]);
  const content = text(file["content"]);
  if (content === undefined) return tool.result === undefined ? null : <Output text={resultText(tool.result)} name={tool.id} />;
  return <Output text={content} name={tool.id} language={languageOfFile(path)} firstLine={number(file["startLine"]) ?? 1} />;
}

function todosOf(items: ReturnType<typeof list>): TodoItem[] {
  const status = { pending: "Pending", in_progress: "InProgress", completed: "Completed" } as const;
  return items.map(fields).map((item) => ({
    content: text(item["content"]) ?? "",
    status: status[(text(item["status"]) ?? "pending") as keyof typeof status] ?? "Pending",
    active_form: text(item["activeForm"]) ?? text(item["content"]) ?? "",
  }));
}

function Answers({ tool }: { tool: ToolItem }): VNode {
  return (
    <dl class="answers">
      {answersOf(tool).map(({ question, answer }) => (
        <>
          <dt dir="auto"><InOrder text={question} /></dt>
          <dd dir="auto">{answer ?? (tool.state === "running" ? "waiting for an answer" : "no answer")}</dd>
        </>
      ))}
    </dl>
  );
}

function Hits({ account, result, name }: { account: ToolItem["account"]; result: string | undefined; name: string }): VNode {
  const hits = list(fields(account)["results"])
    .flatMap((part) => list(fields(part)["content"]))
    .map(fields)
    .filter((hit) => text(hit["url"]) !== undefined);
  if (hits.length === 0) return <>{result !== undefined && <Output text={result} name={name} />}</>;
  return (
    <ul class="hits">
      {hits.map((hit) => (
        <li>
          <Markdown text={`[${(text(hit["title"]) ?? "").replaceAll(/[[\]\\]/g, "")}](${text(hit["url"]) ?? ""})`} />
          <span class="hit-url"><InOrder text={text(hit["url"]) ?? ""} /></span>
        </li>
      ))}
    </ul>
  );
}

/** A sub-agent: its task, its own conversation, and its result. */
function LaneBody({ lane, all, tool }: { lane: Lane; all: Conversation; tool: ToolItem }): VNode {
  const [open, toggle] = useFold(`lane-${lane.id}`, lane.ended === undefined);
  const running = lane.ended === undefined;
  const summary_ = lane.ended?.summary ?? lane.progress?.summary;
  const steps = lane.items.filter((item) => item.kind !== "prompt" && item.kind !== "result");
  const last = steps.at(-1);
  // The last words of a sub-agent are its result, which is displayed below the steps.
  const shown = !running && last?.kind === "text" && last.text.trim() === summary_?.trim() ? steps.slice(0, -1) : steps;
  const prompt = lane.started?.prompt ?? text(fields(tool.input)["prompt"]);
  return (
    <div class={running ? "lane running" : "lane"}>
      {running && (
        <p class="lane-now">
          {lane.progress?.description ?? "Starting"}
          {lane.progress?.last_tool !== undefined && <span class="muted"> · {lane.progress.last_tool}</span>}
        </p>
      )}
      {lane.todos.length > 0 && <Todos items={lane.todos} busy={running} />}
      {(shown.length > 0 || prompt !== undefined) && (
        <button type="button" class="link" aria-expanded={open} onClick={toggle}>
          {open ? "Hide" : "Show"} details ({shown.length} {shown.length === 1 ? "step" : "steps"})
        </button>
      )}
      {open && (
        <div>
          {prompt !== undefined && <p class="lane-prompt" dir="auto"><InOrder text={prompt} /></p>}
          {rowsOf(shown, (id) => all.asks.has(id)).map((item) => (
            <ItemView key={item.key} item={item} all={all} />
          ))}
        </div>
      )}
      {lane.ended?.error !== undefined && <Output text={lane.ended.error} name={`${lane.id}-error`} tone="error" />}
      {!running && summary_ !== undefined && <Markdown text={summary_} />}
      {lane.ended !== undefined && lane.ended.outcome !== "Completed" && <p class="decision bad">{lane.ended.outcome === "Failed" ? "Failed" : "Stopped"}</p>}
    </div>
  );
}
