// A conversation as data. `fold.ts` folds events into it, and views only read it.

import type {
  AskUserQuestionsRequest,
  JsonValue,
  PermissionDetails,
  PermissionRequest,
  Progress,
  QuestionDetails,
  RateLimit,
  Resolution,
  RetractReason,
  SettingsChanged,
  SubAgentEnded,
  SubAgentProgressed,
  SubAgentStarted,
  TaskChanged,
  TodoItem,
  TurnId,
  TurnResult,
} from "../wire.ts";

/** A prompt. */
export interface PromptItem {
  kind: "prompt";
  key: string;
  /** Time of its first event, if it is known. */
  at?: string;
  text: string;
  uuid: string | undefined;
  origin: string | undefined;
  attachments: string[];
  /** Reason why the agent never read it, such as `cancelled`; `undefined` for a prompt that it received. */
  dropped: string | undefined;
}

/** A block of an answer, or of the reasoning before it. */
export interface TextItem {
  kind: "text" | "thinking";
  key: string;
  at?: string;
  text: string;
  turn: TurnId;
  /** True while more deltas may come. */
  open: boolean;
}

export type ToolState = "preparing" | "running" | "done" | "failed";

/** Outcome of a permission request or a question. */
export interface Settled {
  outcome: Resolution;
  by: string | undefined;
  rule: string | undefined;
  scope: string | undefined;
  reason: string | undefined;
  answer: JsonValue | undefined;
  /** True if the turn was interrupted while the request waited. */
  interrupted?: boolean;
}

/** A decision about a tool call. */
export interface Decision {
  settled: Settled;
  /** The input that replaces the requested one. */
  updatedInput: JsonValue | undefined;
}

/** A tool call. */
export interface ToolItem {
  kind: "tool";
  key: string;
  at?: string;
  id: string;
  name: string;
  /** The input that the tool runs with. */
  input: JsonValue;
  /** The model's input, if the answer to the request changed it. */
  modelInput: JsonValue | undefined;
  state: ToolState;
  /** The result for the model. */
  result: string | undefined;
  /** The tool's structured output. */
  account: JsonValue | undefined;
  elapsedSeconds: number | undefined;
  settled: Settled | undefined;
  /** The plan to approve. */
  plan: string | undefined;
  retracted: boolean;
}

export type NoteTone = "quiet" | "plain" | "warning" | "error";

/** A note about the session that is not part of the conversation. */
export interface NoteItem {
  kind: "note";
  key: string;
  at?: string;
  tone: NoteTone;
  /** Kind of the note, so that the next one of its kind can replace it. */
  topic: "error" | "system" | "display" | "compacted" | "retry" | "limit" | "retracted" | "ended" | "turn" | "dropped" | "summary";
  text: string;
}

/** End of a turn. */
export interface ResultItem {
  kind: "result";
  key: string;
  at?: string;
  result: TurnResult;
  /** Cost of this turn; the agent reports only the total. */
  costUsd: number | undefined;
  /** True if the note before it has the error. */
  told: boolean;
}

export type Item = PromptItem | TextItem | ToolItem | NoteItem | ResultItem;

/** A list of items: the main conversation, or that of a sub-agent. */
export interface Track {
  items: Item[];
}

/** A sub-agent. */
export interface Lane extends Track {
  id: string;
  started: SubAgentStarted | undefined;
  progress: SubAgentProgressed | undefined;
  ended: SubAgentEnded | undefined;
  todos: TodoItem[];
  /** Increases with each change, so that a view can compare it. */
  revision: number;
}

/** A pending permission request. */
export interface PermissionAsk {
  kind: "permission";
  id: string;
  details: PermissionDetails;
  request: PermissionRequest | undefined;
  openedAt: string | undefined;
}

/** Pending questions. */
export interface QuestionAsk {
  kind: "question";
  id: string;
  details: QuestionDetails;
  request: AskUserQuestionsRequest;
  plan: string | undefined;
  openedAt: string | undefined;
}

export type Ask = PermissionAsk | QuestionAsk;

/** A queued prompt. */
export interface Queued {
  uuid: string;
  text: string;
  by: string | undefined;
  attachments: string[];
}

/**
 * Location of a tool call. `position` counts from the first folded item, so that older ones can be prepended.
 */
interface Place {
  track: Track;
  position: number;
}

export interface Conversation extends Track {
  /** Increases with each change. */
  revision: number;
  /** Time of the event that is folded, if it is known. */
  clock: string | undefined;
  /** Number of items that were prepended. */
  older: number;
  made: number;
  lanes: Map<string, Lane>;
  calls: Map<string, Place>;
  asks: Map<string, Ask>;
  /** Decisions about calls that began before the first event here, until the older events are loaded. */
  decisions: Map<string, Decision>;
  /** Prompts that the agent never read, with the reason. */
  dropped: Map<string, string>;
  queue: Queued[];
  cliSessionId: string | undefined;
  model: string | undefined;
  mode: string | undefined;
  cwd: string | undefined;
  cliVersion: string | undefined;
  slashCommands: string[];
  /** Options of another agent that were reported last. */
  options: SettingsChanged["options"];
  todos: TodoItem[];
  progress: Progress | undefined;
  tasks: Map<string, TaskChanged>;
  limit: RateLimit | undefined;
  suggestion: string | undefined;
  inputTokens: number;
  contextWindow: number | undefined;
  costUsd: number | undefined;
}

/** True if a user interrupted the turn. */
export function hasFailed(result: ResultItem["result"]): boolean {
  return (result.is_error || result.subtype !== "success") && !wasInterrupted(result);
}

export function wasInterrupted({ terminal_reason }: TurnResult): boolean {
  return terminal_reason === "aborted_streaming" || terminal_reason === "aborted_tools";
}

export function emptyConversation(): Conversation {
  return {
    items: [],
    revision: 0,
    clock: undefined,
    older: 0,
    made: 0,
    lanes: new Map(),
    calls: new Map(),
    asks: new Map(),
    decisions: new Map(),
    dropped: new Map(),
    queue: [],
    cliSessionId: undefined,
    model: undefined,
    mode: undefined,
    cwd: undefined,
    cliVersion: undefined,
    slashCommands: [],
    options: undefined,
    todos: [],
    progress: undefined,
    tasks: new Map(),
    limit: undefined,
    suggestion: undefined,
    inputTokens: 0,
    contextWindow: undefined,
    costUsd: undefined,
  };
}

/** Text for the reason of a retraction. */
export function retractWords(reason: RetractReason): string {
  switch (reason) {
    case "Retry":
      return "The answer failed and was started again.";
    case "Refusal":
      return "The model refused; another model answers.";
    case "Superseded":
      return "A later message replaced this one.";
    case "Corrected":
      return "The streamed text was corrected.";
  }
}
