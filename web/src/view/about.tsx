// The server: its version, the CLI that it uses, its limits, and this device's access.

import type { VNode } from "preact";
import { claudeName, hasClaude } from "../app/agents.ts";
import { journalDamage } from "../app/storage.ts";
import { link, meta } from "../app/store.ts";
import { besideTested, driftOf } from "../model/drift.ts";
import { bytes } from "../text/format.ts";
import { InOrder } from "./revealed.tsx";

export function About(): VNode {
  const about = meta.value;
  const claude = about?.claude;
  const drift = claude === undefined ? undefined : driftOf(claude.version, claude.tested, claude.compared);
  return (
    <dl class="facts about">
      <dt>Tidings</dt>
      <dd>{about?.version ?? "unknown"}{about?.demo === true && ", with the demo"}</dd>
      <dt>Agent</dt>
      <dd>
        {hasClaude.value ? besideTested(claudeName.value, claude?.tested) : "no Claude Code was found"}
        {drift !== undefined && <span class={drift.tone === "newer" || drift.tone === "older" ? "about-drift warn" : "about-drift"}>{drift.text}</span>}
      </dd>
      {claude !== undefined && claude.tested !== "" && (
        <>
          <dt>Tested with</dt>
          <dd>Claude Code {claude.tested}{claude.compared.length > 0 && `; compared with ${claude.compared.join(", ")}`}</dd>
        </>
      )}
      {journalDamage.value.length > 0 && (
        <>
          <dt>Journal</dt>
          <dd class="warn">
            <p>Damaged. Stop the server and restore a backup, if you need what is missing:</p>
            <ul>{journalDamage.value.map((loss) => <li key={loss}><InOrder text={loss} /></li>)}</ul>
          </dd>
        </>
      )}
      <dt>Connection</dt>
      <dd>{link.value === "open" ? "connected" : "not connected"}, <code>{location.host}</code></dd>
      <dt>You</dt>
      <dd>{about === undefined ? "unknown" : <><InOrder text={about.you.name} /> ({about.you.scopes.join(", ")})</>}</dd>
      {about !== undefined && (
        <>
          <dt>Limits</dt>
          <dd>prompts with attachments up to {bytes(about.limits.input_bytes)}</dd>
          <dt>Wire</dt>
          <dd>{about.websocket_protocol}, events {about.ui_wire_version}</dd>
        </>
      )}
    </dl>
  );
}
