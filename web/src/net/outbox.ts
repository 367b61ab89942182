// What a person has said and the server has not acknowledged yet. It is kept over a reload and sent again under the
// same id, which the server takes for the same command: nothing is lost, and nothing is done twice.

import type { Problem } from "../wire.ts";
import type { Request } from "./connection.ts";
import { Lost, Refused } from "./connection.ts";

/** Commands with an id of their own; the rest of the requests may simply be made again. */
export type Command = Extract<Request, { type: "input" | "answer" | "command" }>;

export interface Letter {
  clientId: string;
  command: Command;
  /** Its place in the order in which letters were written. */
  at: number;
  /** Why it could not be carried out; it waits for the person then. */
  problem: Problem | undefined;
  /** Why it was not taken yet; it is sent again by itself. */
  delayed?: Problem | undefined;
}

/** Where letters lie, each by itself: several tabs may write there. */
export interface Shelf {
  load(): string[];
  save(clientId: string, text: string): void;
  remove(clientId: string): void;
}

export interface Reader {
  changed(letters: readonly Letter[]): void;
  /** The server said no for good; whether the letter stays in sight. */
  refused(letter: Letter, problem: Problem): "keep" | "drop";
}

type Later = (run: () => void, ms: number) => () => void;

/** More than this does not wait: something is wrong, and the person should know. */
const LETTERS_MAX = 100;
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30_000;

/** One way to the server, on which letters go one after the other. */
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

  /** Takes a command and sends it as soon as it can be sent. */
  put(clientId: string, command: Command): void {
    if (this.#letters.length >= LETTERS_MAX) throw new Error("Too much waits to be sent already");
    const letter = { clientId, command, at: (this.#letters.at(-1)?.at ?? 0) + 1, problem: undefined };
    this.#letters = [...this.#letters, letter];
    this.#store(letter);
    void this.#send(laneOf(letter));
  }

  drop(clientId: string): void {
    this.shelf.remove(clientId);
    this.forget(clientId);
  }

  /** It is kept no longer: another tab has sent it or taken it back. */
  forget(clientId: string): void {
    this.#letters = this.#letters.filter((letter) => letter.clientId !== clientId);
    this.reader.changed(this.#letters);
  }

  /** Drops everything: what waits was said by somebody who has gone. */
  clear(): void {
    for (const { clientId } of this.#letters) this.shelf.remove(clientId);
    for (const lane of this.#lanes.values()) lane.cancel?.();
    this.#lanes.clear();
    this.#letters = [];
    this.reader.changed(this.#letters);
  }

  /** Sends what waits, whatever time was planned for it. */
  async flush(): Promise<void> {
    await Promise.all([...new Set(this.#letters.map(laneOf))].map((name) => this.#send(name)));
  }

  /** Sends the letters of a lane in order, until one cannot be sent. */
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

  /** Tries again later each time, and not before the server wants it. */
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

  /** Unless it was taken back meanwhile. */
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

/** Prompts and settings of a session keep their order. What somebody decides, and what ends a turn, waits for nothing. */
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
