// Pairing page, for browsers without a credential.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isWide } from "../app/initial-view.ts";
import { pairProblem } from "../app/pairing.ts";
import { pair, errorText } from "../app/store.ts";
import { codeIn } from "../model/code.ts";
import { ServerText } from "./server-text.tsx";
import { Logo } from "./sidebar.tsx";

export function PairingPage(): VNode {
  const [code, setCode] = useState("");
  const said = pairProblem.value;
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // On a phone the keyboard would cover the text.
  useEffect(() => {
    if (isWide()) field.current?.focus();
  }, []);
  const submit = () => {
    setBusy(true);
    pairProblem.value = "";
    pair(codeIn(code))
      .catch((error: unknown) => (pairProblem.value = errorText(error)))
      .finally(() => setBusy(false));
  };
  return (
    <main class="pairing">
      <form
        class="pairing-card"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <h1>
          <Logo /> Tidings
        </h1>
        <p>
          This browser is not paired yet. Run <code>tidings pair</code> where the server runs, and open the link that it prints, or paste the link or its code here.
        </p>
        <label>
          Code or link
          <input type="text" class="mono" autocomplete="one-time-code" autocapitalize="off" spellcheck={false} required ref={field} value={code} onInput={(event) => setCode(event.currentTarget.value)} />
        </label>
        {said !== "" && (
          <p class="warn-line" role="alert">
            <ServerText text={said} />
          </p>
        )}
        <button type="submit" class="yes main" disabled={busy || code.trim() === ""}>
          Pair
        </button>
      </form>
    </main>
  );
}
