// “Continue here”: ends Claude Code in the terminal, and continues the session on the server.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { newClientId } from "@tidings/client";
import { errorText, hasScope } from "../app/store.ts";
import { can } from "../model/capabilities.ts";
import { postJson } from "../net/api.ts";
import type { SessionView } from "../wire.ts";
import { Spinner } from "./icons.tsx";
import { ServerText } from "./server-text.tsx";

export function mayTakeOver(session: SessionView): boolean {
  return can(session, "take_over") && session.capabilities !== undefined && hasScope("always");
}

export function TakeOver({ session }: { session: SessionView }): VNode {
  const [step, setStep] = useState<"offered" | "asked" | "running">("offered");
  const [problem, setProblem] = useState("");
  const takeOver = () => {
    setStep("running");
    setProblem("");
    // The session changes with its next notice, and the prompt field replaces this.
    postJson(`sessions/${encodeURIComponent(session.key)}/take_over`, { dry_run: false, client_id: newClientId() }).catch((error: unknown) => {
      setProblem(errorText(error));
      setStep("offered");
    });
  };
  if (step === "running") {
    return (
      <div class="take-over" role="status">
        <p>
          <Spinner /> Waiting for the end of <code>claude</code> in the terminal
        </p>
      </div>
    );
  }
  if (step === "asked") {
    return (
      <div class="take-over" role="group" aria-label="Continue here">
        <p>
          This ends <code>claude</code> in the terminal and continues the session here. A draft in its input line is lost.
        </p>
        <button type="button" class="main" onClick={takeOver}>
          Continue here
        </button>
        <button type="button" onClick={() => setStep("offered")}>
          Cancel
        </button>
      </div>
    );
  }
  return (
    <>
      <button type="button" onClick={() => setStep("asked")}>
        Continue here…
      </button>
      {problem !== "" && (
        <div class="take-over">
          <p class="bad" role="alert">
            <ServerText text={problem} />.
          </p>
        </div>
      )}
    </>
  );
}
