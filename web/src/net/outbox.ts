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
  /** Why it could not be carried out; it waits for the person then. */
  problem: Problem | undefined;
}

export interface Shelf {
  load(): string | null;
  save(text: string): void;
}

/** More than this does not wait: something is wrong, and the person should know. */
const LETTERS_MAX = 100;

export class Outbox {
  #letters: Letter[] = [];
  #sending = false;

  constructor(
    private readonly shelf: Shelf,
    private readonly post: (command: Command) => Promise<unknown>,
    private readonly changed: (letters: readonly Letter[]) => void,
    /** The server said no for good; whether the letter stays in sight. */
    private readonly refused: (letter: Letter, problem: Problem) => "keep" | "drop",
  ) {
    this.#letters = read(shelf.load());
  }

  get letters(): readonly Letter[] {
    return this.#letters;
  }

  /** Takes a command and sends it as soon as it can be sent. */
  put(clientId: string, command: Command): void {
    if (this.#letters.length >= LETTERS_MAX) throw new Error("Too much waits to be sent already");
    this.#letters = [...this.#letters, { clientId, command, problem: undefined }];
    this.#store();
    void this.flush();
  }

  drop(clientId: string): void {
    this.#letters = this.#letters.filter((letter) => letter.clientId !== clientId);
    this.#store();
  }

  /** Sends what waits, in order, until something cannot be sent. */
  async flush(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (;;) {
        const letter = this.#letters.find((candidate) => candidate.problem === undefined);
        if (letter === undefined) return;
        try {
          await this.post(letter.command);
          this.drop(letter.clientId);
        } catch (error) {
          if (error instanceof Refused && !error.problem.retryable) {
            this.#refuse(letter, error.problem);
            continue;
          }
          if (error instanceof Lost || error instanceof Refused) return;
          throw error;
        }
      }
    } finally {
      this.#sending = false;
    }
  }

  #refuse(letter: Letter, problem: Problem): void {
    if (this.refused(letter, problem) === "drop") {
      this.drop(letter.clientId);
      return;
    }
    this.#letters = this.#letters.map((one) => (one === letter ? { ...letter, problem } : one));
    this.#store();
  }

  #store(): void {
    this.shelf.save(JSON.stringify(this.#letters));
    this.changed(this.#letters);
  }
}

function read(text: string | null): Letter[] {
  if (text === null) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as Letter[]) : [];
  } catch {
    return [];
  }
}
