// Output of tools: plain text, its end or its beginning first, the rest on demand.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { download } from "../app/export.ts";
import { shownPath, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { bytesBefore, fullText } from "../model/full-output.ts";
import { getJson } from "../net/api.ts";
import { plainOutput } from "../text/ansi.ts";
import { bytes, count } from "../text/format.ts";
import type { WholeCall } from "../wire.ts";
import { CopyButton } from "./copy.tsx";
import { useFold } from "./folds.ts";
import { InOrder } from "./revealed.tsx";

const SHOWN_LINES = 12;
/** Maximum that is drawn even on demand: more would freeze the browser. */
const DRAWN_MAX = 200_000;

export function Output({ text, name, tone = "plain", from = "start" }: { text: string; name: string; tone?: "plain" | "error"; from?: "start" | "end" }): VNode | null {
  const [open, toggle] = useFold(`output-${name}`, false);
  const [loaded, setLoaded] = useState<{ of: string; text: string } | undefined>(undefined);
  const whole = loaded?.of === text ? loaded.text : text;
  const plain = plainOutput(whole).replace(/\n+$/, "");
  if (plain === "") return null;
  const lines = plain.split("\n");
  const hidden = lines.length - SHOWN_LINES;
  const kept = open || hidden <= 2 ? plain : (from === "end" ? lines.slice(-SHOWN_LINES) : lines.slice(0, SHOWN_LINES)).join("\n");
  const drawn = from === "end" ? kept.slice(-DRAWN_MAX) : kept.slice(0, DRAWN_MAX);
  return (
    <div class={`output ${tone}`}>
      {from === "end" && !open && hidden > 2 && <More hidden={hidden} toggle={toggle} />}
      <pre tabIndex={0}>
        <code><InOrder text={drawn} /></code>
      </pre>
      {drawn.length < kept.length && (
        <p class="output-cut" role="status">
          Only the {from === "end" ? "last" : "first"} {count(drawn.split("\n").length, "line")} of {lines.length.toLocaleString("en-GB")} are shown.{" "}
          <button type="button" class="link" onClick={() => download("output.txt", plain, "text/plain")}>
            Download all
          </button>
        </p>
      )}
      {from === "start" && !open && hidden > 2 && <More hidden={hidden} toggle={toggle} />}
      {open && hidden > 2 && (
        <button type="button" class="link" onClick={toggle}>
          Show less
        </button>
      )}
      {whole === text && (
        <LoadAll
          cut={text}
          name={name}
          show={(all) => {
            setLoaded({ of: text, text: all });
            if (!open) toggle();
          }}
        />
      )}
      <span class="output-copy">
        <CopyButton text={plain} label="Copy output" />
      </span>
    </div>
  );
}

function More({ hidden, toggle }: { hidden: number; toggle: () => void }): VNode {
  return (
    <button type="button" class="link" onClick={toggle}>
      {hidden.toLocaleString("en-GB")} more lines
    </button>
  );
}

/** Button that loads the full version of a cut output. */
function LoadAll({ cut, name, show }: { cut: string; name: string; show: (whole: string) => void }): VNode | null {
  const [busy, setBusy] = useState(false);
  const size = bytesBefore(cut);
  const path = callPath(name.replace(/-(err|error|in)$/, ""));
  if (size === undefined || path === undefined) return null;
  const load = async () => {
    setBusy(true);
    try {
      const whole = fullText(cut, (await getJson<WholeCall>(path)).events);
      if (whole === undefined) showToast("error", "The server does not have the full output");
      else show(whole);
    } catch (error) {
      showToast("error", errorText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class="link" disabled={busy} onClick={() => void load()}>
      {busy ? "Loading…" : `Load all ${bytes(size)}`}
    </button>
  );
}

/** API path of a call in full. */
function callPath(id: string): string | undefined {
  const place = shownPath();
  return place === undefined ? undefined : `${place}/calls/${encodeURIComponent(id)}`;
}
