// Commands that the server has not acknowledged yet. They are stored across reloads and sent again under the
// same id, which makes them idempotent: none is lost or executed twice.

import type { Request } from "./connection.ts";
import { RemoteError } from "./error.ts";
import type { Problem } from "./wire.ts";

/** Commands with an id of their own; other requests can simply be repeated. */
export type Command = Extract<Request, { type: "input" | "answer" | "command" }>;

export interface UnsentCommand {
  clientId: string;
  command: Command;
  /** Position in the order of creation. */
  at: number;
  /** Reason of a final rejection; the user has to act. */
  problem: Problem | undefined;
  /** Reason of a temporary rejection; it is sent again automatically. */
  delayed?: Problem | undefined;
}

/** Storage of commands, one entry each: several tabs may write to it. */
export interface CommandStore {
  load(): string[];
  save(clientId: string, text: string): void;
  remove(clientId: string): void;
}

export interface OutboxListener {
  changed(unsentCommands: readonly UnsentCommand[]): void;
  /** Called for a final rejection; returns whether the command stays visible. */
  refused(unsent: UnsentCommand, problem: Problem): "keep" | "drop";
}

type Later = (run: () => void, ms: number) => () => void;

/** Limit of unsent commands: beyond it something is wrong, and the user should see it. */
const UNSENT_MAX = 100;
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30_000;

/** An ordered queue of commands, sent one after the other. */
interface Lane {
  sending: boolean;
  tries: number;
  cancel: (() => void) | undefined;
}

export class Outbox {
  #unsentCommands: UnsentCommand[] = [];
  #lanes = new Map<string, Lane>();

  constructor(
    private readonly store: CommandStore,
    private readonly post: (command: Command) => Promise<unknown>,
    private readonly later: Later,
    private readonly listener: OutboxListener,
  ) {
    this.#unsentCommands = store.load().flatMap(read).sort((one, other) => one.at - other.at);
  }

  get unsentCommands(): readonly UnsentCommand[] {
    return this.#unsentCommands;
  }

  /** Stores a command and sends it as soon as possible. */
  put(clientId: string, command: Command): void {
    if (this.#unsentCommands.length >= UNSENT_MAX) throw new Error("Too many unsent commands");
    const unsent = { clientId, command, at: (this.#unsentCommands.at(-1)?.at ?? 0) + 1, problem: undefined };
    this.#unsentCommands = [...this.#unsentCommands, unsent];
    this.#store(unsent);
    void this.#send(laneOf(unsent));
  }

  drop(clientId: string): void {
    this.store.remove(clientId);
    this.forget(clientId);
  }

  /** Removes a command that another tab has sent or withdrawn. */
  forget(clientId: string): void {
    this.#unsentCommands = this.#unsentCommands.filter((unsent) => unsent.clientId !== clientId);
    this.listener.changed(this.#unsentCommands);
  }

  /** Drops all commands: their user is no longer signed in. */
  clear(): void {
    for (const { clientId } of this.#unsentCommands) this.store.remove(clientId);
    for (const lane of this.#lanes.values()) lane.cancel?.();
    this.#lanes.clear();
    this.#unsentCommands = [];
    this.listener.changed(this.#unsentCommands);
  }

  /** Sends all commands now, without waiting for planned retries. */
  async flush(): Promise<void> {
    await Promise.all([...new Set(this.#unsentCommands.map(laneOf))].map((name) => this.#send(name)));
  }

  /** Sends the commands of a lane in order, until one fails. */
  async #send(name: string): Promise<void> {
    const lane = this.#lanes.get(name) ?? { sending: false, tries: 0, cancel: undefined };
    if (lane.sending) return;
    this.#lanes.set(name, lane);
    lane.cancel?.();
    lane.cancel = undefined;
    lane.sending = true;
    try {
      for (;;) {
        const unsent = this.#unsentCommands.find((candidate) => candidate.problem === undefined && laneOf(candidate) === name);
        if (unsent === undefined) {
          this.#lanes.delete(name);
          return;
        }
        try {
          await this.post(unsent.command);
          lane.tries = 0;
          this.drop(unsent.clientId);
        } catch (error) {
          if (!(error instanceof RemoteError)) throw error;
          if (!error.isUnanswered && !error.problem.retryable) {
            this.#refuse(unsent, error.problem);
            continue;
          }
          this.#delay(lane, name, unsent, error.isUnanswered ? undefined : error.problem);
          return;
        }
      }
    } finally {
      lane.sending = false;
    }
  }

  /** Retries with growing delays, and not before the server's `retry_after_ms`. */
  #delay(lane: Lane, name: string, unsent: UnsentCommand, problem: Problem | undefined): void {
    const wait = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** lane.tries);
    lane.tries += 1;
    lane.cancel = this.later(() => void this.#send(name), Math.max(wait, problem?.retry_after_ms ?? 0));
    this.#change({ ...unsent, delayed: problem });
  }

  #refuse(unsent: UnsentCommand, problem: Problem): void {
    if (this.listener.refused(unsent, problem) === "drop") this.drop(unsent.clientId);
    else this.#change({ ...unsent, problem });
  }

  /** Unless it was withdrawn in the meantime. */
  #change(unsent: UnsentCommand): void {
    if (!this.#unsentCommands.some((one) => one.clientId === unsent.clientId)) return;
    this.#unsentCommands = this.#unsentCommands.map((one) => (one.clientId === unsent.clientId ? unsent : one));
    this.#store(unsent);
  }

  #store(unsent: UnsentCommand): void {
    this.store.save(unsent.clientId, JSON.stringify(unsent));
    this.listener.changed(this.#unsentCommands);
  }
}

/** Prompts and settings of a session keep their order. Decisions and interrupts wait for nothing. */
function laneOf({ clientId, command }: UnsentCommand): string {
  const isUrgent = command.type === "answer" || (command.type === "command" && (command.command === "interrupt" || command.command === "stop"));
  return isUrgent ? `now ${clientId}` : `session ${command.session}`;
}

function read(text: string): UnsentCommand[] {
  try {
    const unsent = JSON.parse(text) as Partial<UnsentCommand> | null;
    return typeof unsent?.clientId === "string" && typeof unsent.at === "number" && unsent.command !== undefined ? [unsent as UnsentCommand] : [];
  } catch {
    return [];
  }
}
