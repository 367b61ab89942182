// Commands that the server has not acknowledged yet. They are stored across reloads and sent again under the
// same id, which makes them idempotent: none is lost or executed twice.

import type { Problem } from "../wire.ts";
import type { Request } from "./connection.ts";
import { Lost, Refused } from "./connection.ts";

/** Commands with an id of their own; other requests can simply be repeated. */
export type Command = Extract<Request, { type: "input" | "answer" | "command" }>;

export interface Letter {
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
export interface Shelf {
  load(): string[];
  save(clientId: string, text: string): void;
  remove(clientId: string): void;
}

export interface Reader {
  changed(letters: readonly Letter[]): void;
  /** Called for a final rejection; returns whether the command stays visible. */
  refused(letter: Letter, problem: Problem): "keep" | "drop";
}

type Later = (run: () => void, ms: number) => () => void;

/** Limit of unsent commands: beyond it something is wrong, and the user should see it. */
const LETTERS_MAX = 100;
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30_000;

/** An ordered queue of commands, sent one after the other. */
interface Lane {
  sending: boolean;
  tries: number;
  cancel: (() => void) | undefined;
}

export class Outbox {
  #letters: Letter[] = [];
  #lanes = new Map<string, Lane>();

  constructor(
    private readonly shelf: Shelf,
    private readonly post: (command: Command) => Promise<unknown>,
    private readonly later: Later,
    private readonly reader: Reader,
  ) {
    this.#letters = shelf.load().flatMap(read).sort((one, other) => one.at - other.at);
  }

  get letters(): readonly Letter[] {
    return this.#letters;
  }

  /** Stores a command and sends it as soon as possible. */
  put(clientId: string, command: Command): void {
    if (this.#letters.length >= LETTERS_MAX) throw new Error("Too many unsent commands");
    const letter = { clientId, command, at: (this.#letters.at(-1)?.at ?? 0) + 1, problem: undefined };
    this.#letters = [...this.#letters, letter];
    this.#store(letter);
    void this.#send(laneOf(letter));
  }

  drop(clientId: string): void {
    this.shelf.remove(clientId);
    this.forget(clientId);
  }

  /** Removes a command that another tab has sent or withdrawn. */
  forget(clientId: string): void {
    this.#letters = this.#letters.filter((letter) => letter.clientId !== clientId);
    this.reader.changed(this.#letters);
  }

  /** Drops all commands: their user is no longer signed in. */
  clear(): void {
    for (const { clientId } of this.#letters) this.shelf.remove(clientId);
    for (const lane of this.#lanes.values()) lane.cancel?.();
    this.#lanes.clear();
    this.#letters = [];
    this.reader.changed(this.#letters);
  }

  /** Sends all commands now, without waiting for planned retries. */
  async flush(): Promise<void> {
    await Promise.all([...new Set(this.#letters.map(laneOf))].map((name) => this.#send(name)));
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
        const letter = this.#letters.find((candidate) => candidate.problem === undefined && laneOf(candidate) === name);
        if (letter === undefined) {
          this.#lanes.delete(name);
          return;
        }
        try {
          await this.post(letter.command);
          lane.tries = 0;
          this.drop(letter.clientId);
        } catch (error) {
          if (error instanceof Refused && !error.problem.retryable) {
            this.#refuse(letter, error.problem);
            continue;
          }
          if (!(error instanceof Lost || error instanceof Refused)) throw error;
          this.#delay(lane, name, letter, error instanceof Refused ? error.problem : undefined);
          return;
        }
      }
    } finally {
      lane.sending = false;
    }
  }

  /** Retries with growing delays, and not before the server's `retry_after_ms`. */
  #delay(lane: Lane, name: string, letter: Letter, problem: Problem | undefined): void {
    const wait = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** lane.tries);
    lane.tries += 1;
    lane.cancel = this.later(() => void this.#send(name), Math.max(wait, problem?.retry_after_ms ?? 0));
    this.#change({ ...letter, delayed: problem });
  }

  #refuse(letter: Letter, problem: Problem): void {
    if (this.reader.refused(letter, problem) === "drop") this.drop(letter.clientId);
    else this.#change({ ...letter, problem });
  }

  /** Unless it was withdrawn in the meantime. */
  #change(letter: Letter): void {
    if (!this.#letters.some((one) => one.clientId === letter.clientId)) return;
    this.#letters = this.#letters.map((one) => (one.clientId === letter.clientId ? letter : one));
    this.#store(letter);
  }

  #store(letter: Letter): void {
    this.shelf.save(letter.clientId, JSON.stringify(letter));
    this.reader.changed(this.#letters);
  }
}

/** Prompts and settings of a session keep their order. Decisions and interrupts wait for nothing. */
function laneOf({ clientId, command }: Letter): string {
  const isUrgent = command.type === "answer" || (command.type === "command" && (command.command === "interrupt" || command.command === "stop"));
  return isUrgent ? `now ${clientId}` : `session ${command.session}`;
}

function read(text: string): Letter[] {
  try {
    const letter = JSON.parse(text) as Partial<Letter> | null;
    return typeof letter?.clientId === "string" && typeof letter.at === "number" && letter.command !== undefined ? [letter as Letter] : [];
  } catch {
    return [];
  }
}
