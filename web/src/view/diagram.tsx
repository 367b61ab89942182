// A diagram in Mermaid's notation: its source, and on request a drawing.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { prefs } from "../app/prefs.ts";
import type { DrawReply, DrawRequest } from "../diagram/messages.ts";
import { inOrder } from "../text/hidden.ts";
import { CopyButton } from "./copy.tsx";
import { Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

/** Address of the frame, relative to the page. */
declare const DIAGRAM_FRAME: string;

const HEIGHT_MAX_PX = 4000;
/** Time between the load of the frame and its first message. */
const READY_MS_MAX = 3000;
const GROUNDS = ["--accent-soft", "--blue-soft", "--amber-soft", "--violet-soft", "--added", "--red-soft"];
const LINES = ["--accent", "--blue", "--amber", "--violet", "--green", "--red"];

export function Diagram({ text }: { text: string }): VNode {
  const [isDrawn, setDrawn] = useState(false);
  const [problem, setProblem] = useState("");
  const toggle = () => {
    setProblem("");
    setDrawn(!isDrawn);
  };
  return (
    <figure class="code diagram">
      <figcaption>
        <span>mermaid</span>
        <span class="diagram-tools">
          <button type="button" class="ghost small" onClick={toggle}>
            {isDrawn ? "Show the source" : "Draw"}
          </button>
          <CopyButton text={text} />
        </span>
      </figcaption>
      {problem !== "" && <p class="diagram-problem" role="status">This cannot be drawn: <InOrder text={problem} /></p>}
      {isDrawn && problem === "" ? <Drawing text={text} fail={(why) => { setProblem(why); setDrawn(false); }} /> : <Source text={text} />}
    </figure>
  );
}

function Source({ text }: { text: string }): VNode {
  return (
    <pre tabIndex={0}>
      <code><InOrder text={text} /></code>
    </pre>
  );
}

/**
 * The frame that draws. It has no origin, and gets nothing but the text and the colours. The source stays until the
 * drawing is there: what follows moves once.
 */
function Drawing({ text, fail }: { text: string; fail: (problem: string) => void }): VNode {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState<number | undefined>(undefined);
  const isReady = useRef(false);
  const { theme, contrast } = prefs.value;
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const send = () => {
      if (frame.current !== null) frame.current.contentWindow?.postMessage(requestOf(text, frame.current), "*");
    };
    const hear = ({ source, data }: MessageEvent<DrawReply>) => {
      if (frame.current === null || source !== frame.current.contentWindow) return;
      isReady.current = true;
      if ("ready" in data) send();
      else if ("height" in data) setHeight(Math.min(HEIGHT_MAX_PX, Math.max(0, Number(data.height) || 0)));
      else fail(String(data.problem));
    };
    // It may be ready already: then this is a change of the text or of the colours.
    send();
    addEventListener("message", hear);
    scheme.addEventListener("change", send);
    return () => {
      removeEventListener("message", hear);
      scheme.removeEventListener("change", send);
    };
  }, [text, theme, contrast]);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  // A frame loads also if it got an error instead of its document.
  const expect = () => {
    timer.current = window.setTimeout(() => isReady.current || fail("the server did not send what draws diagrams"), READY_MS_MAX);
  };
  return (
    <div class="drawing" tabIndex={0} role="group" aria-label="Diagram">
      {height === undefined && <><p class="muted" role="status"><Spinner /> Drawing</p><Source text={text} /></>}
      <iframe ref={frame} title={`Diagram: ${text.trim().split("\n")[0]?.slice(0, 100) ?? ""}`} sandbox="allow-scripts" src={DIAGRAM_FRAME} onLoad={expect} style={{ height: `${height ?? 0}px` }} />
    </div>
  );
}

function requestOf(text: string, element: HTMLElement): DrawRequest {
  const style = getComputedStyle(element);
  const isDark = luminance(style.color) > 0.5;
  // Each colour is given for light and dark.
  const of = (name: string) => style.getPropertyValue(name).match(/#[0-9a-f]+/gi)?.at(isDark ? -1 : 0) ?? "";
  return {
    // Characters that reorder text are shown by their names.
    text: inOrder(text).map((piece) => ("text" in piece ? piece.text : piece.mark)).join(""),
    isDark,
    colours: { text: of("--text"), surface: of("--surface"), raised: of("--raised"), line: of("--muted"), accent: of("--accent"), soft: of("--accent-soft"), grounds: GROUNDS.map(of), lines: LINES.map(of) },
  };
}

/** Brightness of the colour of text, which is light on dark. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}
