// Sessions on disk to look at: those of the agent crate's tests, in one configuration folder.

import { cpSync, existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FIXTURES = new URL("../../../crates/agent/tests/fixtures/", import.meta.url).pathname;

/** The folder; whoever wants it removes it. */
export function pastSessions() {
  const root = mkdtempSync(join(tmpdir(), "tidings-past-"));
  for (const name of readdirSync(FIXTURES)) {
    const projects = join(FIXTURES, name, "root", "projects");
    if (existsSync(projects)) cpSync(projects, join(root, "projects"), { recursive: true });
  }
  return root;
}
