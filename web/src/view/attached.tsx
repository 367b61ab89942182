// Attachments of a prompt: pictures once the server has sent them, and a description of the others.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RemoteError } from "@tidings/client";
import { shownPath } from "../app/store.ts";
import { describeAttachments } from "../model/attached.ts";
import { isPicture } from "../model/pictures.ts";
import { getJson } from "../net/api.ts";
import type { Attachment, WholePrompt } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { Drawn } from "./pictures.tsx";
import { InOrder } from "./revealed.tsx";

/** Number of prompts whose attachments are cached: a scrolled list requests each of them repeatedly. */
const KEPT_MAX = 8;
/**
 * Delay of a retry: after the agent took a prompt, its attachments are unavailable until the session's file
 * has them.
 */
const AGAIN_AFTER_MS = 1500;
const TRIES_MAX = 3;
const kept = new Map<string, Attachment[]>();

export function Attached({ attachments, uuid }: { attachments: readonly string[]; uuid: string | undefined }): VNode | null {
  const place = uuid === undefined ? undefined : shownPath();
  const path = place === undefined ? undefined : `${place}/prompts/${encodeURIComponent(uuid ?? "")}`;
  const found = useAttachments(attachments.length > 0 ? path : undefined);
  if (attachments.length === 0) return null;
  const pictures = found.filter(({ media_type }) => isPicture(media_type));
  // Attachments that the server does not return are still counted.
  const words = attachments.filter((word) => !word.startsWith("image") || pictures.length === 0);
  const names = found.filter((one) => !pictures.includes(one)).flatMap(({ name }) => name ?? []);
  const rest = names.length > 0 && names.length === words.length ? names.join(", ") : describeAttachments(words);
  return (
    <>
      {pictures.length > 0 && (
        <div class="pictures">
          {pictures.map(({ media_type, data, name }, index) => (
            <Drawn key={index} picture={{ type: media_type, base64: data }} about={name ?? "sent with the prompt"} />
          ))}
        </div>
      )}
      {rest !== "" && (
        <p class="attached">
          <Icon name="clip" /> <InOrder text={rest} />
        </p>
      )}
    </>
  );
}

/** Empty until they are loaded, and if the server no longer has them. */
function useAttachments(path: string | undefined): Attachment[] {
  const [, drawAgain] = useState(0);
  useEffect(() => {
    if (path === undefined || kept.has(path)) return undefined;
    const abort = new AbortController();
    let later: ReturnType<typeof setTimeout> | undefined;
    const read = (tries: number): void => {
      getJson<WholePrompt>(path, {}, abort.signal).then(
        ({ attachments }) => {
          keep(path, attachments);
          drawAgain((times) => times + 1);
        },
        (error: unknown) => {
          const isMissing = error instanceof RemoteError && error.status === 404;
          if (isMissing && tries < TRIES_MAX && !abort.signal.aborted) later = setTimeout(() => read(tries + 1), AGAIN_AFTER_MS);
        },
      );
    };
    read(1);
    return () => {
      abort.abort();
      clearTimeout(later);
    };
  }, [path]);
  return (path === undefined ? undefined : kept.get(path)) ?? [];
}

function keep(path: string, attachments: Attachment[]): void {
  kept.set(path, attachments);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}
