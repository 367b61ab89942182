// Terminal escape sequences. The page shows the text without them.

// CSI and OSC sequences, other escapes, and text that a carriage return overwrites.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g;

/**
 * A program's output as lines of text: without escapes, and with only the last version of overwritten lines.
 */
export function plainOutput(text: string): string {
  if (!/[\u001b\u009b\r]/.test(text)) return text;
  return text
    .replace(ESCAPES, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1).replaceAll("\r", ""))
    .join("\n");
}
