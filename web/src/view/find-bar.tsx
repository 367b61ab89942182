// Search in the open conversation: all of its events are searched, also those that are not loaded yet, and
// the parts of long outputs that were left out.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useEscape } from "../app/dismiss.ts";
import { wholeWanted } from "../app/jumps.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import type { Conversation, Item } from "../model/conversation.ts";
import { itemsContaining } from "../model/find.ts";
import { cutCalls, says } from "../model/full-output.ts";
import { getJson } from "../net/api.ts";
import type { WholeCall } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { focusOnce } from "./key-steps.tsx";

/** The conversation that is searched. */
export interface Searched {
  readonly conversation: Conversation;
  /** Path of the session in the API. */
  readonly path: string;
  /** Loads everything up to the first event. */
  loadAll(): Promise<void>;
}

interface Props {
  open: Searched;
  show(item: Item, text: string): void;
  close(): void;
}

/** Number of cut calls whose full version is fetched for a search. */
const CUT_CALLS_MAX = 200;
/** Number of requests at a time. */
const AT_ONCE = 6;

interface Place {
  text: string;
  item: Item;
  at: number;
  of: number;
  /** True if the match is in a part that was left out. */
  isCut: boolean;
}

export function FindBar({ open, show, close }: Props): VNode {
  const [text, setText] = useState("");
  const [place, setPlace] = useState<Place | undefined>(undefined);
  const [state, setState] = useState<"idle" | "busy" | "none">("idle");
  /** Calls with the text in a part that was left out, by the text. */
  const hidden = useRef({ text: "", ids: new Set<string>() });
  const box = useRef<HTMLFormElement>(null);
  const leave = useEscape(box, true, close);
  const isSame = place !== undefined && place.text === text;
  const step = async (by: 1 | -1) => {
    if (text.trim() === "") return;
    setState("busy");
    try {
      await open.loadAll();
      if (hidden.current.text !== text) hidden.current = { text, ids: await hiddenMatches(open, text) };
      const plain = new Set(itemsContaining(open.conversation, text));
      const found = open.conversation.items.filter((item) => plain.has(item) || (item.kind === "tool" && hidden.current.ids.has(item.id)));
      const from = found.findIndex((item) => isSame && item.key === place.item.key);
      const next = from === -1 ? found.length - 1 : Math.min(found.length - 1, Math.max(0, from - by));
      const item = found[next];
      setState(item === undefined ? "none" : "idle");
      setPlace(item === undefined ? undefined : { text, item, at: next + 1, of: found.length, isCut: !plain.has(item) });
      if (item?.kind === "tool" && !plain.has(item)) wholeWanted.value = { id: item.id, text };
      if (item !== undefined) show(item, text);
    } catch (error) {
      showToast("error", errorText(error));
      setState("idle");
    }
  };
  const status = state === "busy" ? "Searching…" : state === "none" ? "Not found" : isSame ? `${place.at} of ${place.of}${place.isCut ? ", in the part that was left out" : ""}` : "";
  return (
    <form
      class="find-bar"
      role="search"
      ref={box}
      onSubmit={(event) => {
        event.preventDefault();
        void step(1);
      }}
    >
      <input type="search" aria-label="Find in this session" placeholder="Find in this session" value={text} ref={focusOnce} onInput={(event) => setText(event.currentTarget.value)} />
      <span class="muted" role="status">
        {status}
      </span>
      <button type="submit" class="small" disabled={state === "busy" || text.trim() === ""}>
        Older
      </button>
      <button type="button" class="small" disabled={state === "busy" || !isSame} onClick={() => void step(-1)}>
        Newer
      </button>
      <button type="button" class="ghost small" aria-label="Close search" onClick={leave}>
        <Icon name="cross" />
      </button>
    </form>
  );
}

/** Ids of the calls that have the text in a part that was left out. */
async function hiddenMatches(open: Searched, text: string): Promise<Set<string>> {
  const found = new Set<string>();
  const left = cutCalls(open.conversation.items).slice(-CUT_CALLS_MAX);
  const look = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const whole = await getJson<WholeCall>(`${open.path}/calls/${encodeURIComponent(id)}`).catch(() => undefined);
      if (whole !== undefined && says(whole.events, text)) found.add(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
  return found;
}
