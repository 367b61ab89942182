// The server's archive: what it keeps, how large it is, and a button that archives everything now.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { archive, archiveProblem, copies, hasArchive, refreshArchive } from "../app/archive.ts";
import { refreshDisk } from "../app/disk.ts";
import { go } from "../app/route.ts";
import { listScope } from "../app/sessions.ts";
import { errorText, hasScope, meta } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { postJson } from "../net/api.ts";
import { bytes, count } from "../text/format.ts";
import type { ArchiveRound } from "../wire.ts";
import { Bones } from "./blank.tsx";
import { Failed } from "./failed.tsx";
import { Spinner } from "./icons.tsx";

export function ArchiveSettings(): VNode {
  useEffect(() => void refreshArchive(), []);
  if (!hasArchive.value) {
    return (
      <p class="muted">
        {meta.value?.demo === true ? "The demo keeps no archive." : <>This server keeps no archive, so that sessions are gone once Claude Code has deleted them. Start it with <code>--archive-mib</code> to keep copies.</>}
      </p>
    );
  }
  if (archiveProblem.value !== "") return <Failed problem={archiveProblem.value} again={() => void refreshArchive()} />;
  const known = archive.value;
  if (known === undefined) return <Bones count={2} label="Loading the archive" />;
  return (
    <>
      <p class="muted">
        Claude Code deletes sessions that did not change for {count(known.cleanup_days, "day")}. The server copies them {known.margin_days === 0 ? "shortly" : count(known.margin_days, "day")} before that. Archived sessions are under “Archived” in the list, are searched with all others, and Resume restores them.
      </p>
      <dl class="facts">
        <dt>Copies</dt>
        <dd>{count(known.items.length, "session")}{known.more && " and more"}, {copies.value.length === 0 ? "all of them still on disk" : `${copies.value.length} of them deleted by Claude Code`}</dd>
        <dt>Size</dt>
        <dd>{bytes(known.stored_bytes)} of {bytes(known.bytes_max)}</dd>
      </dl>
      {known.waiting > 0 && (
        <p class="warn-line">{count(known.waiting, "session")} may be deleted soon and {known.waiting === 1 ? "has" : "have"} no copy yet. If the archive is full, raise <code>--archive-mib</code>.</p>
      )}
      <div class="row-actions">
        {hasScope("admin") && <ArchiveNow />}
        <button
          type="button"
          onClick={() => {
            listScope.value = "archived";
            go({ view: "home" });
          }}
        >
          Show archived sessions
        </button>
      </div>
    </>
  );
}

function ArchiveNow(): VNode {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      showToast("plain", words(await postJson<ArchiveRound>("archive", { which: "all" })));
      await Promise.all([refreshArchive(), refreshDisk()]);
    } catch (error) {
      showToast("error", errorText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" disabled={busy} onClick={() => void run()}>
      {busy && <Spinner />} Archive all sessions now
    </button>
  );
}

function words({ archived, left_out, failed }: ArchiveRound): string {
  const parts = [
    archived === 0 && left_out + failed === 0 ? "Every session has a copy already" : `${count(archived, "session")} archived`,
    left_out > 0 && `${left_out} left out, since the archive is full`,
    failed > 0 && `${failed} could not be copied`,
  ];
  return `${parts.filter(Boolean).join("; ")}.`;
}
