// The terminal of a session, for menus and dialogs that the page does not show in another way.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { connectionCount } from "../app/store.ts";
import { TerminalLink } from "../app/terminal.ts";
import { showToast } from "../app/toasts.ts";
import type { SessionView } from "../wire.ts";
import { Spinner } from "./icons.tsx";

/** Views of a session that has a terminal. */
export type SessionTab = "conversation" | "terminal";

const TABS: [SessionTab, string][] = [
  ["conversation", "Conversation"],
  ["terminal", "Terminal"],
];

export function SessionTabs({ tab, setTab }: { tab: SessionTab; setTab: (tab: SessionTab) => void }): VNode {
  return (
    <div class="session-tabs" role="group" aria-label="View of the session">
      {TABS.map(([name, label]) => (
        <button type="button" class={tab === name ? "on" : undefined} aria-pressed={tab === name} onClick={() => setTab(name)}>
          {label}
        </button>
      ))}
    </div>
  );
}

export function TerminalView({ session }: { session: SessionView }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [link, setLink] = useState<TerminalLink | undefined>(undefined);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (box.current === null) return undefined;
    const leave = () => document.querySelector<HTMLElement>(".session-tabs .on")?.focus();
    const opened = new TerminalLink(session.key, box.current, leave, (text) => showToast("error", text));
    setLink(opened);
    return () => opened.close();
    // A lost connection is opened again with that of the page.
  }, [session.key, tries, connectionCount.value]);
  return (
    <div class="terminal-view">
      <div class="terminal-screen" ref={box} role="region" aria-label="Terminal" tabIndex={-1} />
      <TerminalStatus link={link} again={() => setTries(tries + 1)} />
    </div>
  );
}

function TerminalStatus({ link, again }: { link: TerminalLink | undefined; again: () => void }): VNode {
  const state = link?.state.value ?? { is: "connecting" };
  return (
    <div class="terminal-status" role="status">
      {state.is === "connecting" && (
        <p>
          <Spinner /> Connecting to the terminal
        </p>
      )}
      {state.is === "open" && <p>{state.keys ? "Keys that you press here go to the terminal. F6 leaves it." : "View only. Pair this device with the scope “admin” to send keys."}</p>}
      {(state.is === "ended" || state.is === "lost") && <p>{state.text}.</p>}
      {state.is === "lost" && (
        <button type="button" class="small" onClick={again}>
          Connect again
        </button>
      )}
    </div>
  );
}
