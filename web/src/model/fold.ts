// Events in, conversation out: the only producer of displayed items, for live, replayed and stored events. It
// has no clock and does no I/O. A changed item is a new object, so that a view can compare by identity.

import type { JsonValue, UiMessage } from "../wire.ts";
import type { Conversation, Decision, Item, Lane, ToolItem, Track } from "./conversation.ts";
import { retractWords, wasInterrupted } from "./conversation.ts";
import { isLocal } from "./decision.ts";
import { addText, closeText, note, push, takeBack } from "./items.ts";
import { isSummary, withoutReminders } from "./summary.ts";
import { compactTokens, limitName } from "../text/format.ts";

/** Folds one event. An unknown event changes nothing. `at` is the time of the event. */
export function fold(all: Conversation, event: UiMessage, at?: string): void {
  all.clock = at;
  foldInto(all, all, event);
  all.revision += 1;
}

type EventName = UiMessage extends infer Event ? (Event extends unknown ? keyof Event : never) : never;
type Body<Name extends EventName> = Extract<UiMessage, Record<Name, unknown>>[Name];
type Rows = { [Name in EventName]: (all: Conversation, track: Track, event: Body<Name>) => void };

function foldInto(all: Conversation, track: Track, event: UiMessage): void {
  // An event is an object with one key, its name.
  for (const name in event) {
    if (Object.hasOwn(ROWS, name)) ROWS[name as EventName](all, track, event[name as never]);
  }
}

/** For events that the page does not show. */
function ignore(): void {}

/** One row per event: an event of the wire format without a row fails the type check. */
const ROWS: Rows = {
  TextChunk(all, track, event) {
    addText(all, track, "text", event.text, event.turn_id);
  },
  Thinking(all, track, event) {
    addText(all, track, "thinking", event.text, event.turn_id);
  },
  TextEnded(_all, track) {
    closeText(track);
  },
  ToolPreparing(all, track, { tool_use_id, tool_name }) {
    startTool(all, track, tool_use_id, { name: tool_name, state: "preparing" });
  },
  ToolExecuting(all, track, { tool_use_id, tool_name, input }) {
    startTool(all, track, tool_use_id, { name: tool_name, input, state: "running" });
  },
  ToolProgress(all, _track, event) {
    changeTool(all, event.tool_use_id, { elapsedSeconds: event.elapsed_seconds });
  },
  ToolDetails(all, track, { tool_use_id, is_error, tool_use_result, tool_name }) {
    ensureTool(all, track, tool_use_id, tool_name);
    changeTool(all, tool_use_id, { state: is_error ? "failed" : "done", account: tool_use_result });
  },
  ToolCompleted(all, track, { tool_use_id, result }) {
    ensureTool(all, track, tool_use_id, undefined);
    changeTool(all, tool_use_id, (tool) => ({ result, state: tool.state === "failed" ? "failed" : "done" }));
  },
  Lane(all, track, event) {
    const lane = laneOf(all, track, event.agent_id);
    lane.revision += 1;
    foldInto(all, lane, event.event);
    touch(all, event.agent_id);
  },
  UserPrompt(all, track, { text, uuid, origin, attachments }) {
    all.queue = all.queue.filter((queued) => queued.uuid !== uuid);
    if (isSummary(text, origin)) {
      note(all, track, "summary", "quiet", withoutReminders(text));
      return;
    }
    // A prompt that steers a turn does not end the current block.
    push(all, track, { kind: "prompt", text, uuid, origin, attachments, dropped: undefined });
    if (track === all) all.suggestion = undefined;
  },
  PromptQueued(all, _track, { uuid, text, by, attachments }) {
    all.queue = [...all.queue.filter((queued) => queued.uuid !== uuid), { uuid, text, by, attachments }];
  },
  PromptDropped(all, track, { uuid, reason }) {
    const dropped = all.queue.find((queued) => queued.uuid === uuid);
    all.queue = all.queue.filter((queued) => queued.uuid !== uuid);
    all.dropped.set(uuid, reason ?? "cancelled");
    markDropped(all, track.items);
    if (dropped) note(all, track, "dropped", "quiet", `Not sent (${reason ?? "cancelled"}): ${dropped.text}`);
  },
  TurnStarted(all, track, { origin }) {
    if (origin) note(all, track, "turn", "quiet", `The agent started a turn by itself (${origin}).`);
  },
  Complete(all, track, event) {
    closeText(track);
    const reason = event.stop_reason;
    if (reason === "MaxTokens") note(all, track, "turn", "warning", "The answer reached the token limit and stops here.");
  },
  TurnResult: foldResult,
  Retracted: foldRetracted,
  Error(all, track, event) {
    closeText(track);
    note(all, track, "error", "error", event.message);
  },
  System(all, track, event) {
    note(all, track, "system", "quiet", event.message);
  },
  Display(all, track, event) {
    closeText(track);
    note(all, track, "display", "plain", event.content);
  },
  CommandComplete: ignore,
  Compacted: foldCompacted,
  Retrying: foldRetrying,
  PermissionDetails(all, _track, event) {
    all.asks.set(event.tool_use_id, {
      kind: "permission",
      id: event.tool_use_id,
      details: event,
      request: undefined,
      openedAt: all.clock,
    });
    changeTool(all, event.tool_use_id, {});
  },
  PermissionRequired(all, _track, event) {
    const ask = all.asks.get(event.tool_use_id);
    if (ask?.kind === "permission") all.asks.set(ask.id, { ...ask, request: event.request });
  },
  BatchPermissionRequired(all, _track, { batch_id, requests }) {
    const batch = [...all.asks.values()].filter((ask) => ask.kind === "permission" && ask.details.batch_id === batch_id);
    batch.forEach((ask, index) => {
      if (ask.kind === "permission") all.asks.set(ask.id, { ...ask, request: requests[index] });
    });
  },
  PermissionResolved(all, _track, { tool_use_id, outcome, by, rule, scope, reason, updated_input }) {
    all.asks.delete(tool_use_id);
    decide(all, tool_use_id, { settled: { outcome, by, rule, scope, reason, answer: undefined }, updatedInput: updated_input });
  },
  QuestionDetails(all, _track, event) {
    const before = all.asks.get(event.tool_use_id);
    all.asks.set(event.tool_use_id, {
      kind: "question",
      id: event.tool_use_id,
      details: event,
      request: { questions: [] },
      plan: before?.kind === "question" ? before.plan : planOf(all, event.tool_use_id),
      openedAt: all.clock,
    });
    changeTool(all, event.tool_use_id, {});
  },
  UserInteractionRequired(all, _track, { tool_use_id, request }) {
    const ask = all.asks.get(tool_use_id);
    if (ask?.kind === "question") all.asks.set(tool_use_id, { ...ask, request });
  },
  PlanProposed(all, _track, { tool_use_id, plan }) {
    changeTool(all, tool_use_id, { plan });
    const ask = all.asks.get(tool_use_id);
    if (ask?.kind === "question") all.asks.set(tool_use_id, { ...ask, plan });
  },
  InteractionResolved(all, _track, { tool_use_id, outcome, by, answer, reason }) {
    all.asks.delete(tool_use_id);
    decide(all, tool_use_id, { settled: { outcome, by, rule: undefined, scope: undefined, reason, answer }, updatedInput: undefined });
  },
  SubAgentStarted(all, track, event) {
    const lane = laneOf(all, track, event.agent_id);
    lane.started = { ...lane.started, ...event };
    laneChanged(all, lane);
  },
  SubAgentProgressed(all, track, event) {
    const lane = laneOf(all, track, event.agent_id);
    lane.progress = { ...lane.progress, ...event };
    laneChanged(all, lane);
  },
  SubAgentEnded(all, track, event) {
    const lane = laneOf(all, track, event.agent_id);
    lane.ended = event;
    laneChanged(all, lane);
  },
  TokenUpdate(all, track, event) {
    if (track === all) all.inputTokens = event.input_tokens;
  },
  TodoList(all, track, { agent_id, items }) {
    if (agent_id === undefined) all.todos = items;
    else laneOf(all, track, agent_id).todos = items;
  },
  Progress(all, _track, event) {
    if (event.agent_id === undefined) all.progress = event;
  },
  TaskChanged(all, _track, event) {
    all.tasks = new Map(all.tasks).set(event.task_id, event);
  },
  RateLimit(all, track, event) {
    all.limit = event;
    if (event.status === "rejected") note(all, track, "limit", "error", limitWords(event.kind));
  },
  Suggestion(all, _track, event) {
    all.suggestion = event.text;
  },
  SessionStarted(all, _track, event) {
    all.cliSessionId = event.cli_session_id;
    all.model = event.model ?? all.model;
    all.mode = event.permission_mode ?? all.mode;
    all.cwd = event.cwd ?? all.cwd;
    all.cliVersion = event.cli_version ?? all.cliVersion;
    if (event.slash_commands.length > 0) all.slashCommands = event.slash_commands;
  },
  SessionTitle: ignore,
  SettingsChanged(all, _track, event) {
    all.model = event.model ?? all.model;
    all.mode = event.permission_mode ?? all.mode;
    all.slashCommands = event.slash_commands ?? all.slashCommands;
    all.options = event.options ?? all.options;
  },
  SessionStateChanged(all, track, { state, error }) {
    if (state === "Idle" || state === "Ended") all.progress = undefined;
    const last = track.items.at(-1);
    // An agent that ended its turn with the reason of its own end has told it.
    const isTold = last?.kind === "result" && last.result.error === error;
    if (error !== undefined && !isTold) note(all, track, "ended", "error", error);
  },
  RawFrame: ignore,
};

function foldResult(all: Conversation, track: Track, result: Body<"TurnResult">): void {
  closeText(track);
  const before = all.costUsd ?? 0;
  // The total cost starts again after /clear.
  const sinceBefore = result.cost_usd === undefined || result.cost_usd < before ? result.cost_usd : result.cost_usd - before;
  const counted = result.turn_cost_usd ?? sinceBefore;
  const costUsd = result.interrupted_cost_usd === undefined ? counted : (counted ?? 0) + result.interrupted_cost_usd;
  if (result.cost_usd !== undefined) all.costUsd = result.cost_usd;
  all.contextWindow = windowOf(result.model_usage, all.model) ?? all.contextWindow;
  const last = track.items.at(-1);
  const told = last?.kind === "note" && last.tone === "error" && last.text === result.error;
  if (wasInterrupted(result)) markInterrupted(all, track);
  // An interrupt is an error to the agent, but not to the user who pressed the button.
  if (told && wasInterrupted(result)) track.items[track.items.length - 1] = { ...last, tone: "plain" };
  push(all, track, { kind: "result", result, costUsd, told });
}

/**
 * An interrupt makes the agent withdraw the requests of the last calls. Their events do not say so if the
 * server does not know of it, such as one that came with a prompt, or by Esc in a terminal.
 */
function markInterrupted(all: Conversation, track: Track): void {
  for (let at = track.items.length - 1; at >= 0; at -= 1) {
    const item = track.items[at];
    if (item === undefined || item.kind === "text" || item.kind === "thinking" || item.kind === "result") return;
    if (item.kind !== "tool" || item.state === "done" || item.settled?.outcome !== "Cancelled") continue;
    if (item.settled.by !== undefined && !isLocal(item.settled)) continue;
    changeTool(all, item.id, { settled: { ...item.settled, interrupted: true } });
  }
}

function foldRetracted(all: Conversation, track: Track, { text, thinking, turn_id, tool_use_ids, reason }: Body<"Retracted">): void {
  takeBack(track, "text", text, turn_id);
  takeBack(track, "thinking", thinking, turn_id);
  for (const id of tool_use_ids) changeTool(all, id, { retracted: true });
  note(all, track, "retracted", "quiet", retractWords(reason));
}

function foldCompacted(all: Conversation, track: Track, { trigger, tokens_before, tokens_after }: Body<"Compacted">): void {
  closeText(track);
  const how = trigger === "auto" ? "automatically" : "on request";
  const sizes =
    tokens_before !== undefined && tokens_after !== undefined
      ? `: ${compactTokens(tokens_before)} tokens became ${compactTokens(tokens_after)}`
      : "";
  note(all, track, "compacted", "plain", `The conversation was compacted ${how}${sizes}.`);
}

function foldRetrying(all: Conversation, track: Track, { attempt, max_attempts, delay_ms, status, error, agent_id }: Body<"Retrying">): void {
  const at = agent_id === undefined ? track : laneOf(all, track, agent_id);
  const what = status === 529 ? "The service is overloaded" : status === 429 ? "The rate limit is reached" : "The service did not respond";
  const detail = status === undefined ? (error ?? "no connection") : `status ${status}`;
  const when = delay_ms === undefined ? "" : `, next try in ${Math.max(1, Math.round(delay_ms / 1000))} s`;
  const of = max_attempts === undefined ? "" : ` of ${max_attempts}`;
  const text = `${what} (${detail}). Try ${attempt}${of}${when}.`;
  const last = at.items.at(-1);
  if (last?.kind === "note" && last.topic === "retry") {
    at.items[at.items.length - 1] = { ...last, text };
  } else {
    note(all, at, "retry", "warning", text);
  }
  if (agent_id !== undefined) touch(all, agent_id);
}

function limitWords(kind: string | undefined): string {
  return `The limit of your plan is reached${kind ? ` (${limitName(kind)})` : ""}.`;
}

/** Marks the prompts that the agent never read. */
export function markDropped(all: Conversation, items: Item[]): void {
  items.forEach((item, at) => {
    if (item.kind !== "prompt" || item.uuid === undefined || item.dropped !== undefined) return;
    const reason = all.dropped.get(item.uuid);
    if (reason !== undefined) items[at] = { ...item, dropped: reason };
  });
}

/** Shows a decision with its call, or stores it until the call arrives. */
function decide(all: Conversation, id: string, decision: Decision): void {
  if (toolOf(all, id) === undefined) all.decisions.set(id, decision);
  else changeTool(all, id, decided(decision));
}

/** Applies a decision to its call. */
export function decided({ settled, updatedInput }: Decision): (tool: ToolItem) => Partial<ToolItem> {
  return (tool) => {
    const changed = updatedInput !== undefined && settled.outcome === "Allowed" && JSON.stringify(updatedInput) !== JSON.stringify(tool.input);
    return changed ? { settled, input: updatedInput, modelInput: tool.modelInput ?? tool.input } : { settled };
  };
}

/** Location of a call. */
export function toolOf(all: Conversation, id: string): ToolItem | undefined {
  const place = all.calls.get(id);
  if (place === undefined) return undefined;
  const item = place.track.items[indexOf(all, place)];
  return item?.kind === "tool" && item.id === id ? item : undefined;
}

function indexOf(all: Conversation, place: { track: Track; position: number }): number {
  return place.track === all ? place.position + all.older : place.position;
}

function startTool(all: Conversation, track: Track, id: string, begin: Partial<ToolItem> & { name: string }): void {
  if (all.calls.has(id)) {
    // If the answer changed the input, the model's input is not the one that runs.
    const input = (tool: ToolItem) => (tool.modelInput === undefined ? (begin.input ?? tool.input) : tool.input);
    changeTool(all, id, (tool) => (tool.state === "done" || tool.state === "failed" ? { name: begin.name, input: input(tool) } : { ...begin, input: input(tool) }));
    return;
  }
  closeText(track);
  all.calls.set(id, { track, position: track.items.length - (track === all ? all.older : 0) });
  push(all, track, {
    kind: "tool",
    id,
    input: null,
    modelInput: undefined,
    state: "running",
    result: undefined,
    account: undefined,
    elapsedSeconds: undefined,
    settled: undefined,
    plan: undefined,
    retracted: false,
    ...begin,
  });
  const decision = all.decisions.get(id);
  if (decision !== undefined && all.decisions.delete(id)) changeTool(all, id, decided(decision));
}

/** Shows a call even if its start was not received. */
function ensureTool(all: Conversation, track: Track, id: string, name: string | undefined): void {
  if (!all.calls.has(id)) startTool(all, track, id, { name: name ?? "Tool", state: "running" });
}

function changeTool(
  all: Conversation,
  id: string,
  change: Partial<ToolItem> | ((tool: ToolItem) => Partial<ToolItem>),
): void {
  const place = all.calls.get(id);
  const tool = toolOf(all, id);
  if (place === undefined || tool === undefined) return;
  place.track.items[indexOf(all, place)] = { ...tool, ...(typeof change === "function" ? change(tool) : change) };
  // A sub-agent is displayed inside the call that started it, so that call changes too.
  if (place.track !== all) touch(all, (place.track as Lane).id);
}

function laneChanged(all: Conversation, lane: Lane): void {
  lane.revision += 1;
  touch(all, lane.id);
}

/** Replaces the items that contain a lane, up to the main conversation. */
function touch(all: Conversation, laneId: string): void {
  // As deep as sub-agents are nested; the set ends a cycle.
  const seen = new Set<string>();
  let id: string | undefined = laneId;
  while (id !== undefined && !seen.has(id)) {
    seen.add(id);
    const place = all.calls.get(id);
    const tool = toolOf(all, id);
    if (place === undefined || tool === undefined) return;
    place.track.items[indexOf(all, place)] = { ...tool };
    id = place.track === all ? undefined : (place.track as Lane).id;
  }
}

function laneOf(all: Conversation, track: Track, id: string): Lane {
  const known = all.lanes.get(id);
  if (known !== undefined) return known;
  const lane: Lane = { id, items: [], started: undefined, progress: undefined, ended: undefined, todos: [], revision: 0 };
  all.lanes.set(id, lane);
  if (!all.calls.has(id)) startTool(all, track, id, { name: "Agent", state: "running" });
  return lane;
}

function planOf(all: Conversation, id: string): string | undefined {
  return toolOf(all, id)?.plan;
}

function windowOf(usage: JsonValue | undefined, model: string | undefined): number | undefined {
  if (usage === null || typeof usage !== "object" || Array.isArray(usage)) return undefined;
  const entries = Object.entries(usage);
  const entry = entries.find(([name]) => name === model) ?? entries[0];
  const facts = entry?.[1];
  if (facts === null || typeof facts !== "object" || Array.isArray(facts)) return undefined;
  const size = facts?.["contextWindow"];
  return typeof size === "number" ? size : undefined;
}
