// Colours and cursor movements that programs write for terminals. The page shows the text and none of the rest.

// CSI and OSC sequences, other escapes, and what one of them overwrote with a carriage return.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g;

/** Output of a program as lines of text: without escapes, and of lines that were written over only the last. */
export function plainOutput(text: string): string {
  if (!/[\u001b\u009b\r]/.test(text)) return text;
  return text
    .replace(ESCAPES, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1).replaceAll("\r", ""))
    .join("\n");
}
