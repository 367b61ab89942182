// Sessions on disk to look at: those of the agent crate's tests, in one configuration folder.

import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
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
  // They were recorded once; charts show the last days.
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  for (const name of readdirSync(root, { recursive: true }).filter((file) => file.endsWith(".jsonl"))) {
    const file = join(root, name);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"\d{4}-\d\d-\d\dT/g, `"${yesterday}T`));
  }
  return root;
}
