// Search in the open conversation: from the newest match to older ones, back to the start of the session.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { OpenSession } from "../app/session.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Item } from "../model/conversation.ts";
import { itemsContaining } from "../model/find.ts";
import { Icon } from "./icons.tsx";
import { focusOnce } from "./key-steps.tsx";

interface Props {
  open: OpenSession;
  show(item: Item, text: string): void;
  close(): void;
}

export function FindBar({ open, show, close }: Props): VNode {
  const [text, setText] = useState("");
  const [at, setAt] = useState<{ text: string; item: Item; place: number; of: number } | undefined>(undefined);
  const [state, setState] = useState<"idle" | "busy" | "none">("idle");
  const isSame = at !== undefined && at.text === text;
  const step = async (by: 1 | -1) => {
    if (text.trim() === "") return;
    setState("busy");
    try {
      let found = itemsContaining(open.conversation, text);
      const here = () => found.findIndex((item) => isSame && item.key === at.item.key);
      // Older events are loaded if there is no match, or no older one, in the loaded events.
      while (open.more.value && (found.length === 0 || (by === 1 && isSame && here() === 0))) {
        await open.loadOlder();
        found = itemsContaining(open.conversation, text);
      }
      const from = here();
      const next = from === -1 ? found.length - 1 : Math.min(found.length - 1, Math.max(0, from - by));
      const item = found[next];
      setState(item === undefined ? "none" : "idle");
      setAt(item === undefined ? undefined : { text, item, place: next + 1, of: found.length });
      if (item !== undefined) show(item, text);
    } catch (error) {
      showToast("error", errorText(error));
      setState("idle");
    }
  };
  return (
    <form
      class="find-bar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void step(1);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        close();
      }}
    >
      <input type="search" aria-label="Find in this session" placeholder="Find in this session" value={text} ref={focusOnce} onInput={(event) => setText(event.currentTarget.value)} />
      <span class="muted" role="status">
        {state === "busy" ? "Searching…" : state === "none" ? "Not found" : isSame ? `${at.place} of ${at.of}${open.more.value ? "+" : ""}` : ""}
      </span>
      <button type="submit" class="small" disabled={state === "busy" || text.trim() === ""}>
        Older
      </button>
      <button type="button" class="small" disabled={state === "busy" || !isSame} onClick={() => void step(-1)}>
        Newer
      </button>
      <button type="button" class="ghost small" aria-label="Close search" onClick={close}>
        <Icon name="cross" />
      </button>
    </form>
  );
}
