// The terminal of a session: its connection, and the script that draws it.

import { signal } from "@preact/signals";
import type { Screen } from "../terminal/screen.ts";

/** Address of the script, relative to the page. */
declare const TERMINAL_SCRIPT: string;

export type TerminalState =
  | { is: "connecting" }
  /** `keys` is true if this device may send keys. */
  | { is: "open"; keys: boolean }
  | { is: "ended"; text: string }
  | { is: "lost"; text: string };

type Message =
  | { type: "ack" | "redraw" }
  | { type: "ready"; rows: number; cols: number; keys: boolean }
  | { type: "size"; rows: number; cols: number }
  | { type: "ended"; code?: number | null; signal?: number }
  | { type: "error"; code: string; message: string; hint?: string };

/** Close codes of the server, and what they mean to the user. */
const CLOSED: Record<number, string> = {
  4401: "This browser is not paired any more",
  4403: "This device may not see the terminal",
  4404: "This session has no terminal now",
  4429: "Too many connections are open",
};

const KEYS_BYTES_MAX = 65_536;

/** A connection to a session's terminal, drawn in `box`. */
export class TerminalLink {
  readonly state = signal<TerminalState>({ is: "connecting" });
  readonly #socket: WebSocket;
  #screen: Screen | undefined;
  #keys = false;
  #closed = false;
  /** Messages that arrive before the script is loaded. */
  #early: (Message | Uint8Array)[] = [];

  constructor(session: string, box: HTMLElement, leave: () => void, refused: (text: string) => void) {
    const url = new URL(`v1/sessions/${encodeURIComponent(session)}/terminal`, document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(url, "tidings.v1");
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }) => this.#take(typeof data === "string" ? (JSON.parse(data) as Message) : new Uint8Array(data as ArrayBuffer), refused);
    this.#socket.onclose = ({ code }) => this.#lost(CLOSED[code] ?? "The connection to the terminal was lost");
    this.#load(box, leave).then(
      () => {
        for (const message of this.#early) this.#take(message, refused);
        this.#early = [];
      },
      () => this.close("The script that draws the terminal could not be loaded"),
    );
  }

  async #load(box: HTMLElement, leave: () => void): Promise<void> {
    const { openScreen } = (await import(new URL(TERMINAL_SCRIPT, import.meta.url).href)) as typeof import("../terminal/screen.ts");
    if (!this.#closed) this.#screen = openScreen(box, (bytes) => this.#send(bytes), leave);
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.#keys || this.#socket.readyState !== WebSocket.OPEN) return;
    for (let at = 0; at < bytes.length; at += KEYS_BYTES_MAX) this.#socket.send(bytes.slice(at, at + KEYS_BYTES_MAX));
  }

  #take(message: Message | Uint8Array, refused: (text: string) => void): void {
    const screen = this.#screen;
    if (screen === undefined) {
      this.#early.push(message);
      return;
    }
    if (message instanceof Uint8Array) {
      screen.write(message);
      return;
    }
    switch (message.type) {
      case "ready":
        this.#keys = message.keys;
        screen.reset();
        screen.resize(message.rows, message.cols);
        screen.setKeys(message.keys);
        this.state.value = { is: "open", keys: message.keys };
        break;
      case "size":
        screen.resize(message.rows, message.cols);
        break;
      case "redraw":
        screen.reset();
        break;
      case "ended":
        this.#keys = false;
        screen.setKeys(false);
        this.state.value = { is: "ended", text: endText(message.code ?? undefined, message.signal) };
        break;
      case "error":
        refused(message.hint ? `${message.message} (${message.hint})` : message.message);
        break;
      default:
        break;
    }
  }

  #lost(text: string): void {
    this.#keys = false;
    this.#screen?.setKeys(false);
    if (this.state.value.is !== "ended") this.state.value = { is: "lost", text };
  }

  /** Ends the connection and removes the screen. */
  close(text = "The terminal is closed"): void {
    this.#closed = true;
    this.#lost(text);
    this.#socket.onclose = null;
    this.#socket.onmessage = null;
    this.#socket.close();
    this.#screen?.dispose();
    this.#screen = undefined;
  }
}

function endText(code: number | undefined, killedBy: number | undefined): string {
  if (killedBy !== undefined) return `The program in the terminal was ended by signal ${killedBy}`;
  return code === undefined || code === 0 ? "The program in the terminal has ended" : `The program in the terminal has ended with exit code ${code}`;
}
