// Draws a diagram with Mermaid. Its HTML and inline styles are not allowed on the page, so this runs in a frame
// that has no origin and loads nothing: whatever a diagram contains reaches neither the page nor the server.

import mermaid from "mermaid";
import type { DrawReply, DrawRequest } from "./messages.ts";

const PROBLEM_CHARS_MAX = 200;
/** The begin of a tag other than a line break: Mermaid would parse it before it removes it. Arrows and `<<kinds>>` stay. */
const TAG = /(?<!<)<(?!br\s*\/?>)(?=[a-z!/])/gi;

const box = document.createElement("main");
document.body.append(box);

function reply(message: DrawReply): void {
  // The page has an origin that this frame does not know; nothing here is secret.
  parent.postMessage(message, "*");
}

async function draw(request: DrawRequest): Promise<void> {
  try {
    style(request);
    const { svg } = await mermaid.render("diagram", request.text.replaceAll(TAG, "#lt;"));
    box.innerHTML = svg;
    reply({ height: Math.ceil(box.getBoundingClientRect().height) });
  } catch (error) {
    reply({ problem: problemOf(error) });
  }
}

function style({ isDark, colours }: DrawRequest): void {
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
  document.body.style.background = colours.surface;
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    // Labels are text: HTML in them is not made into elements.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    theme: "base",
    fontFamily: "system-ui, sans-serif",
    themeVariables: {
      darkMode: isDark,
      background: colours.surface,
      mainBkg: colours.soft,
      primaryColor: colours.soft,
      primaryTextColor: colours.text,
      primaryBorderColor: colours.accent,
      secondaryColor: colours.grounds[1],
      tertiaryColor: colours.grounds[2],
      pieStrokeColor: colours.line,
      pieOuterStrokeColor: colours.line,
      pieOuterStrokeWidth: "1px",
      pieStrokeWidth: "1px",
      pieOpacity: "1",
      pieSectionTextColor: colours.text,
      ...numbered("pie", 1, colours.grounds),
      ...numbered("cScale", 0, colours.grounds),
      ...numbered("git", 0, colours.lines),
      ...numbered("fillType", 0, colours.grounds),
      lineColor: colours.line,
      textColor: colours.text,
      noteBkgColor: colours.raised,
      noteTextColor: colours.text,
      noteBorderColor: colours.line,
      edgeLabelBackground: colours.surface,
    },
  });
}

/** Mermaid numbers its colours. */
function numbered(name: string, first: number, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(values.map((value, index) => [`${name}${first + index}`, value]));
}

/** The first line, which names the place; the others list everything that could stand there. */
function problemOf(error: unknown): string {
  const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return first.replace(/:$/, "").slice(0, PROBLEM_CHARS_MAX);
}

addEventListener("message", ({ source, data }: MessageEvent<DrawRequest>) => {
  if (source === parent) void draw(data);
});
new ResizeObserver(() => box.childElementCount > 0 && reply({ height: Math.ceil(box.getBoundingClientRect().height) })).observe(box);
reply({ ready: true });
