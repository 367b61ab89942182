// One session of a server.

import type { Answered } from "./answers.ts";
import { answered } from "./answers.ts";
import { RemoteError } from "./error.ts";
import type { EventOptions } from "./events.ts";
import { SessionEvents } from "./events.ts";
import type { Http, Query } from "./http.ts";
import { segment } from "./http.ts";
import { command } from "./ids.ts";
import type { PromptEnd, TurnAnswer } from "./turn.ts";
import { PromptWatch } from "./turn.ts";
import type {
  Accepted,
  AnswerResult,
  BatchAnswer,
  BatchAnswered,
  CommandRequest,
  HistoryPage,
  Input,
  PatchSession,
  PermissionAnswer,
  QuestionAnswer,
  QueueList,
  SessionCommand,
  SessionView,
  Snapshot,
} from "./wire.ts";

/** One session of a server. Nothing is sent until it is used. */
export class RemoteSession {
  constructor(
    private readonly http: Http,
    /** Its number or its key. */
    readonly id: string,
  ) {}

  /** The session as it is now. */
  view(): Promise<SessionView> {
    return this.#get("");
  }

  /** Sends a prompt. It is delivered once, although it is sent again when the connection is lost. */
  send(input: Input): Promise<Accepted> {
    return this.#command("/input", input);
  }

  /** Sends a text as a prompt. */
  prompt(text: string): Promise<Accepted> {
    return this.send({ content: text });
  }

  /**
   * Sends a text as a prompt, and waits for the answer to it. The turn goes on after a cancellation; `prompt`
   * and `answerTo` one after the other can be continued.
   */
  async ask(text: string, signal?: AbortSignal): Promise<TurnAnswer> {
    const end = await this.answerTo(await this.prompt(text), signal);
    switch (end.end) {
      case "answered":
        return end.answer;
      case "dropped":
        throw failed(end.reason === undefined ? "The prompt was dropped" : `The prompt was dropped: ${end.reason}`);
      case "agent_ended":
        throw failed(end.error ?? "The agent has ended");
      case "deleted":
        throw failed("The session was deleted");
      case "unknown":
        throw failed("The events of the turn were removed");
    }
  }

  /**
   * Waits until a prompt was answered, however long it takes and whatever happens to the connection. Called
   * again with the same acknowledgement it finds the same end, also long after it.
   */
  async answerTo(accepted: Accepted, signal?: AbortSignal): Promise<PromptEnd> {
    const watch = new PromptWatch(accepted.turn_id);
    // The event that announced the prompt has its id. Its turn may become a later one.
    const [announced] = (await this.history(String(accepted.seq + 1), 1)).items;
    if (announced?.seq === accepted.seq) watch.announced(announced.event);
    for await (const update of this.events(accepted.cursor, { answers: false, signal })) {
      if (update.type === "subscribed" && update.subscribed.verdict !== "ok") return { end: "unknown" };
      const end = update.type === "event" ? watch.observe(update.event, update.cursor) : undefined;
      if (end !== undefined) return end;
    }
    return { end: "deleted" };
  }

  /**
   * Events after a cursor, for example that of a snapshot or a stored one; without a cursor all stored ones.
   */
  events(after?: string, options: EventOptions = {}): SessionEvents {
    return new SessionEvents(this.http, this.id, after, options);
  }

  /** The conversation as few events, and the cursor to continue after: for those who come late. */
  snapshot(eventsMax?: number): Promise<Snapshot> {
    return this.#get("/snapshot", { limit: eventsMax });
  }

  /** A page of events before a cursor or number, at most 1,000; without one the newest. */
  history(before?: string, eventsMax?: number): Promise<HistoryPage> {
    return this.#get("/history", { before, limit: eventsMax });
  }

  /** Prompts that wait. */
  queue(): Promise<QueueList> {
    return this.#get("/queue");
  }

  /** Changes settings: title, labels, budget, policy. */
  set(patch: PatchSession): Promise<SessionView> {
    return command(this.http, "PATCH", this.#path(""), patch);
  }

  /** Sends a command with its parameters. */
  command(name: SessionCommand, parameters: CommandRequest = {}): Promise<Accepted> {
    return this.#command(`/${name}`, parameters);
  }

  /** Interrupts the current turn. */
  interrupt(): Promise<Accepted> {
    return this.command("interrupt");
  }

  /** Ends the agent. The next prompt starts it again. */
  stop(): Promise<Accepted> {
    return this.command("stop");
  }

  /** Ends the agent unless a turn is under way or prompts wait. */
  stopIfIdle(): Promise<Accepted> {
    return this.command("stop", { if_idle: true });
  }

  /** Compacts the conversation. */
  compact(): Promise<Accepted> {
    return this.command("compact");
  }

  /** Changes the permission mode, in the CLI's spelling. */
  setMode(mode: string): Promise<Accepted> {
    return this.command("mode", { mode });
  }

  /** Changes the model; without one to the default. */
  setModel(model?: string): Promise<Accepted> {
    return this.command("model", model === undefined ? {} : { model });
  }

  /** Answers a permission request. */
  answerPermission(toolUseId: string, answer: PermissionAnswer): Promise<Answered> {
    return answered(this.#command<AnswerResult>(`/permissions/${segment(toolUseId)}`, answer));
  }

  /** Answers several permission requests at once. One that was answered before has the result of that answer. */
  answerBatch(batchId: string, answer: BatchAnswer): Promise<BatchAnswered> {
    return this.#command(`/permission-batches/${segment(batchId)}`, answer);
  }

  /** Answers questions, or declines to. */
  answerQuestion(toolUseId: string, answer: QuestionAnswer): Promise<Answered> {
    return answered(this.#command<AnswerResult>(`/questions/${segment(toolUseId)}`, answer));
  }

  /** Deletes the session and its events, and is sent once. The CLI's session file stays. */
  async delete(): Promise<void> {
    await this.http.text("DELETE", this.#path(""));
  }

  #get<T>(rest: string, query?: Query): Promise<T> {
    return this.http.jsonUntilAnswered("GET", this.#path(rest), { query });
  }

  #command<T>(rest: string, body: { client_id?: string }): Promise<T> {
    return command(this.http, "POST", this.#path(rest), body);
  }

  #path(rest: string): string {
    return `/v1/sessions/${segment(this.id)}${rest}`;
  }
}

function failed(message: string): RemoteError {
  return RemoteError.of("response", message, "look at the session");
}
