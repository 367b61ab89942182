// The screen of a terminal, drawn by xterm.js. This is a script of its own: the page loads it when the user
// opens a terminal.

import { Terminal } from "@xterm/xterm";
import style from "@xterm/xterm/css/xterm.css";

export interface Screen {
  write(bytes: Uint8Array): void;
  resize(rows: number, cols: number): void;
  /** Empties the screen. */
  reset(): void;
  /** Accepts keys, or ignores them. */
  setKeys(accepted: boolean): void;
  dispose(): void;
}

const FONT_PX_MAX = 14;
const FONT_PX_MIN = 7;
/** Width of a character, as a share of the font size. */
const CHARACTER_WIDTH = 0.61;
/** Reports of the focus, which are not keys. */
const FOCUS_REPORT = /^\x1b\[[IO]$/;
/** A program draws in the colours of a dark terminal, in both themes of the page. */
const COLOURS = { background: "#131514", foreground: "#e8ebe9", cursor: "#5fcac3", selectionBackground: "#45605d" };

let styled = false;

/** Draws a screen in `box`; `sent` gets the keys, and `leave` is called when the user leaves it by keyboard. */
export function openScreen(box: HTMLElement, sent: (bytes: Uint8Array<ArrayBuffer>) => void, leave: () => void): Screen {
  addStyle();
  const terminal = new Terminal({
    fontFamily: getComputedStyle(box).getPropertyValue("--mono") || "monospace",
    fontSize: FONT_PX_MAX,
    theme: COLOURS,
    disableStdin: true,
    cursorInactiveStyle: "outline",
    scrollback: 1000,
  });
  terminal.open(box);
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== "F6") return true;
    if (event.type === "keydown") leave();
    return false;
  });
  terminal.onData((text) => {
    if (!FOCUS_REPORT.test(text)) sent(new TextEncoder().encode(text));
  });
  // Some reports of the mouse are bytes, one in each character.
  terminal.onBinary((text) => sent(Uint8Array.from(text, (character) => character.charCodeAt(0))));
  const fit = () => {
    const wanted = Math.floor((box.clientWidth / (terminal.cols * CHARACTER_WIDTH)) * 2) / 2;
    terminal.options.fontSize = Math.max(FONT_PX_MIN, Math.min(FONT_PX_MAX, wanted));
  };
  const sizes = new ResizeObserver(fit);
  sizes.observe(box);
  return {
    write: (bytes) => terminal.write(bytes),
    resize(rows, cols) {
      terminal.resize(cols, rows);
      fit();
    },
    reset: () => terminal.reset(),
    setKeys(accepted) {
      terminal.options.disableStdin = !accepted;
    },
    dispose() {
      sizes.disconnect();
      terminal.dispose();
    },
  };
}

function addStyle(): void {
  if (styled) return;
  styled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets.push(sheet);
}
