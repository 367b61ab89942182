// Actions of a message: copy, link, fork from here, rewind to here.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ForkSource } from "../app/fork.ts";
import { forkAt, shownTranscript } from "../app/fork.ts";
import { hasClaude } from "../app/agents.ts";
import { copyText } from "../app/clipboard.ts";
import { rewindTo } from "../app/jumps.ts";
import { viewOf } from "../app/list.ts";
import type { Route } from "../app/route.ts";
import { href, route } from "../app/route.ts";
import { linkNameOf } from "../app/scroll-positions.ts";
import { hasScope, open } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { can } from "../model/capabilities.ts";
import type { Conversation, PromptItem, TextItem } from "../model/conversation.ts";
import { forkPointOf } from "../model/fork-point.ts";
import { fileOf } from "../model/groups.ts";
import { nameOf } from "../model/name.ts";
import type { SessionView } from "../wire.ts";
import { CopyButton } from "./copy.tsx";
import { Icon } from "./icons.tsx";
import { Time } from "./time.tsx";

/** `item` is a prompt, or a block of an answer. Messages of sub-agents have no place of their own. */
export function MessageActions({ item, all }: { item: PromptItem | TextItem; all: Conversation }): VNode {
  const session = route.value.view === "history" || open.value === undefined ? undefined : viewOf(open.value.name);
  const isMain = all.items.includes(item);
  return (
    <div class="message-actions" role="group" aria-label="Actions on this message">
      {/* A prompt has its time beside its author. */}
      {item.kind === "text" && <Time at={item.at} />}
      <CopyButton text={item.text} label="Copy message" />
      {isMain && <LinkButton session={session} item={item} all={all} />}
      {isMain && <ForkButton source={session === undefined ? shownTranscript.value : sourceOf(session)} item={item} all={all} />}
      {session !== undefined && isMain && item.kind === "prompt" && item.uuid !== undefined && item.origin === undefined && item.dropped === undefined && can(session, "rewind") && hasScope("prompt") && (
        <button type="button" class="ghost small" aria-label="Rewind to here" title="Rewind files to before this prompt" onClick={() => (rewindTo.value = item.uuid)}>
          <Icon name="undo" />
        </button>
      )}
    </div>
  );
}

/** Without a session of the server the link leads to the displayed transcript. */
function LinkButton({ session, item, all }: { session: SessionView | undefined; item: PromptItem | TextItem; all: Conversation }): VNode | null {
  const shown = route.value;
  if (session === undefined && shown.view !== "history") return null;
  const copy = () => {
    const name = linkNameOf(all.items, item.key);
    const to: Route = shown.view === "history" ? { view: "history", id: shown.id, wanted: { leaf: shown.wanted?.leaf, message: name } } : { view: "session", id: session?.key ?? "", at: name };
    copyText(new URL(href(to), location.href).href).then(
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

/** A session of the server that can be forked; the demo's have no files. */
function sourceOf(session: SessionView): ForkSource | undefined {
  const file = fileOf(session);
  return file === undefined || session.demo ? undefined : { file, cwd: session.cwd, name: nameOf(session) };
}

function ForkButton({ source, item, all }: { source: ForkSource | undefined; item: PromptItem | TextItem; all: Conversation }): VNode | null {
  const [busy, setBusy] = useState(false);
  if (source === undefined || !hasScope("prompt") || !hasClaude.value) return null;
  if (item.kind === "prompt" && (item.uuid === undefined || item.dropped !== undefined)) return null;
  const fork = () => {
    const at = forkPointOf(all.items, item);
    if (at === undefined) {
      showToast("error", "The prompt of this answer is not loaded. Show the earlier messages first.");
      return;
    }
    setBusy(true);
    void forkAt(source, item, at).finally(() => setBusy(false));
  };
  const title = item.kind === "prompt" ? "Continue in a copy that ends before this prompt, and change the prompt there" : "Continue in a copy that ends with this message";
  return (
    <button type="button" class="ghost small" aria-label="Fork from here" title={title} disabled={busy} onClick={fork}>
      <Icon name="branch" />
    </button>
  );
}
