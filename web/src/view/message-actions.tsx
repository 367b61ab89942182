// Actions of a message: copy, link, fork from here, rewind to here.

import type { VNode } from "preact";
import { rewindTo } from "../app/jumps.ts";
import { viewOf } from "../app/list.ts";
import { href, route } from "../app/route.ts";
import { linkNameOf } from "../app/scroll-positions.ts";
import { hasScope, open } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { can } from "../model/capabilities.ts";
import type { Conversation, PromptItem, TextItem } from "../model/conversation.ts";
import type { SessionView } from "../wire.ts";
import { CopyButton } from "./copy.tsx";
import { Icon } from "./icons.tsx";

/** `item` is a prompt, or a block of an answer. Messages of sub-agents have no place of their own. */
export function MessageActions({ item, all }: { item: PromptItem | TextItem; all: Conversation }): VNode {
  const session = route.value.view === "history" || open.value === undefined ? undefined : viewOf(open.value.name);
  const isMain = all.items.includes(item);
  return (
    <div class="message-actions" role="group" aria-label="Actions on this message">
      <CopyButton text={item.text} label="Copy message" />
      {session !== undefined && isMain && <LinkButton session={session} item={item} all={all} />}
      {session !== undefined && isMain && <ForkLink session={session} item={item} all={all} />}
      {session !== undefined && isMain && item.kind === "prompt" && item.uuid !== undefined && item.origin === undefined && item.dropped === undefined && can(session, "rewind") && hasScope("prompt") && (
        <button type="button" class="ghost small" aria-label="Rewind to here" title="Rewind files to before this prompt" onClick={() => (rewindTo.value = item.uuid)}>
          <Icon name="undo" />
        </button>
      )}
    </div>
  );
}

function LinkButton({ session, item, all }: { session: SessionView; item: PromptItem | TextItem; all: Conversation }): VNode {
  const copy = () => {
    const at = linkNameOf(all.items, item.key);
    const url = new URL(href({ view: "session", id: session.key, at }), location.href).href;
    navigator.clipboard?.writeText(url).then(
      () => showToast("plain", "The link to this message was copied."),
      () => showToast("error", "The browser does not allow copying here."),
    );
  };
  return (
    <button type="button" class="ghost small" aria-label="Copy link" title="Copy a link to this message" onClick={copy}>
      <Icon name="link" />
    </button>
  );
}

/** A fork is a copy of the whole session, so only the end of a finished turn offers it. */
function ForkLink({ session, item, all }: { session: SessionView; item: PromptItem | TextItem; all: Conversation }): VNode | null {
  const file = session.cli_session_ids.at(-1);
  const isLast = all.items.findLast((one) => one.kind === "text" && one.text.trim() !== "") === item;
  if (file === undefined || !isLast || item.kind !== "text" || !hasScope("prompt")) return null;
  return (
    <a class="ghost small" href={href({ view: "new", resume: file, cwd: session.cwd, fork: true })} aria-label="Fork from here" title="Continue a copy of this session">
      <Icon name="branch" />
    </a>
  );
}
