// Instructions for installing Claude Code.

import type { VNode } from "preact";
import { CopyButton } from "./copy.tsx";

const COMMAND = "curl -fsSL https://claude.ai/install.sh | bash";

export function InstallHint(): VNode {
  return (
    <section class="install" aria-label="Claude Code is missing">
      <p>
        <strong>Claude Code was not found</strong>, so no real session can be started. Install it, then start Tidings again:
      </p>
      <div class="install-line">
        <pre tabIndex={0}>
          <code>{COMMAND}</code>
        </pre>
        <CopyButton text={COMMAND} label="Copy the command" />
      </div>
    </section>
  );
}
