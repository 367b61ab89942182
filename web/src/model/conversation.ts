// What a session looks like to a person, as data. Events are folded into it by `fold.ts`, and views only read it.

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
  SubAgentEnded,
  SubAgentProgressed,
  SubAgentStarted,
  TaskChanged,
  TodoItem,
  TurnId,
  TurnResult,
} from "../wire.ts";

/** Something that was said to the agent. */
export interface PromptItem {
  kind: "prompt";
  key: string;
  text: string;
  uuid: string | undefined;
  origin: string | undefined;
  attachments: string[];
  /** Why the agent never read it, such as `cancelled`; nothing for a prompt that it got. */
  dropped: string | undefined;
}

/** A piece of an answer, or of the reasoning before it. */
export interface TextItem {
  kind: "text" | "thinking";
  key: string;
  text: string;
  turn: TurnId;
  /** Whether more may come. */
  open: boolean;
}

export type ToolState = "preparing" | "running" | "done" | "failed";

/** How a permission or a question was settled. */
export interface Settled {
  outcome: Resolution;
  by: string | undefined;
  rule: string | undefined;
  scope: string | undefined;
  reason: string | undefined;
  answer: JsonValue | undefined;
}

/** A decision about a call. */
export interface Decision {
  settled: Settled;
  /** The input that the tool gets instead of the one in the request. */
  updatedInput: JsonValue | undefined;
}

/** A call of a tool. */
export interface ToolItem {
  kind: "tool";
  key: string;
  id: string;
  name: string;
  /** The input that the tool runs with. */
  input: JsonValue;
  /** The input that the model gave, where the answer to the request changed it. */
  modelInput: JsonValue | undefined;
  state: ToolState;
  /** What the model got back. */
  result: string | undefined;
  /** The tool's own account of what it did. */
  account: JsonValue | undefined;
  elapsedSeconds: number | undefined;
  settled: Settled | undefined;
  /** The plan that it asks about. */
  plan: string | undefined;
  retracted: boolean;
}

export type NoteTone = "quiet" | "plain" | "warning" | "error";

/** Something about the session that is no part of the talk. */
export interface NoteItem {
  kind: "note";
  key: string;
  tone: NoteTone;
  /** What kind of note it is, so that the next of its kind can take its place. */
  topic: "error" | "system" | "display" | "compacted" | "retry" | "limit" | "retracted" | "ended" | "turn" | "dropped" | "summary";
  text: string;
}

/** How a turn went. */
export interface ResultItem {
  kind: "result";
  key: string;
  result: TurnResult;
  /** What this turn cost; the agent only tells the sum. */
  costUsd: number | undefined;
  /** Whether the note before it says what went wrong. */
  told: boolean;
}

export type Item = PromptItem | TextItem | ToolItem | NoteItem | ResultItem;

/** A list of items: the main conversation, or what a sub-agent does. */
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
  /** Counts up with each change, so that a view can tell. */
  revision: number;
}

/** A permission that waits for a person. */
export interface PermissionAsk {
  kind: "permission";
  id: string;
  details: PermissionDetails;
  request: PermissionRequest | undefined;
  openedAt: string | undefined;
}

/** Questions that wait for a person. */
export interface QuestionAsk {
  kind: "question";
  id: string;
  details: QuestionDetails;
  request: AskUserQuestionsRequest;
  plan: string | undefined;
  openedAt: string | undefined;
}

export type Ask = PermissionAsk | QuestionAsk;

/** A prompt that waits for its turn. */
export interface Queued {
  uuid: string;
  text: string;
  by: string | undefined;
  attachments: string[];
}

/** Where a call is shown. `position` counts from the first item that was folded, so that older ones may be put before it. */
interface Place {
  track: Track;
  position: number;
}

export interface Conversation extends Track {
  /** Counts up with each change. */
  revision: number;
  /** How many items were put before the first that was folded. */
  older: number;
  made: number;
  lanes: Map<string, Lane>;
  calls: Map<string, Place>;
  asks: Map<string, Ask>;
  /** Decisions about calls that began before the first event here, until the older events come. */
  decisions: Map<string, Decision>;
  /** Prompts that the agent never read, and why. */
  dropped: Map<string, string>;
  queue: Queued[];
  cliSessionId: string | undefined;
  model: string | undefined;
  mode: string | undefined;
  cwd: string | undefined;
  cliVersion: string | undefined;
  slashCommands: string[];
  todos: TodoItem[];
  progress: Progress | undefined;
  tasks: Map<string, TaskChanged>;
  limit: RateLimit | undefined;
  suggestion: string | undefined;
  inputTokens: number;
  contextWindow: number | undefined;
  costUsd: number | undefined;
}

/** Whether somebody has interrupted the turn. */
export function wasInterrupted({ terminal_reason }: TurnResult): boolean {
  return terminal_reason === "aborted_streaming" || terminal_reason === "aborted_tools";
}

export function emptyConversation(): Conversation {
  return {
    items: [],
    revision: 0,
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

/** The words for why something was taken back. */
export function retractWords(reason: RetractReason): string {
  switch (reason) {
    case "Retry":
      return "The answer broke off and began anew.";
    case "Refusal":
      return "The model refused, and another one answers.";
    case "Superseded":
      return "A later message takes the place of this one.";
    case "Corrected":
      return "What was streamed was not what was meant, and was corrected.";
  }
}
