// Sessions on disk for the cases: those of the agent crate's tests, in one configuration folder.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

const FIXTURES = new URL("../../../crates/agent/tests/fixtures/", import.meta.url).pathname;
const DAY_MS = 86_400_000;

/** Creates the folder; the caller removes it. */
export function pastSessions() {
  const root = mkdtempSync(join(tmpdir(), "tidings-past-"));
  for (const name of readdirSync(FIXTURES)) {
    const projects = join(FIXTURES, name, "root", "projects");
    if (existsSync(projects)) cpSync(projects, join(root, "projects"), { recursive: true });
  }
  // They were recorded once; charts show the last days.
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  for (const file of sessionFiles(root)) writeFileSync(file, readFileSync(file, "utf8").replace(/"\d{4}-\d\d-\d\dT/g, `"${yesterday}T`));
  return root;
}

function sessionFiles(root) {
  return readdirSync(root, { recursive: true })
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => join(root, file));
}

const TITLES = [
  "Fix the flaky login test", "Move the settings to TOML", "Why is the index so large?", "Add a dark theme", "Review the pull request",
  "Write the release notes", "Upgrade to Node 22", "Speed up the search", "Explain the retry logic", "Find the memory leak",
  "Rename the modules", "Add pagination to the API", "Translate the error messages", "Draw the architecture", "Remove the old importer",
  "Check the licences", "Make the build reproducible", "Cache the thumbnails", "Parse dates without a library", "Split the large component",
  "Test the backup", "Answer the issue about fonts", "Trim the Docker image", "Log slow queries", "Validate the webhook signature",
];
const PROJECTS = ["store", "store", "api", "docs", "api", "tools", "store"];

/** The same as a month of work: other titles and projects, spread over days, with larger costs. */
export function pastMonth() {
  const root = pastSessions();
  const mains = sessionFiles(root).filter((file) => !file.includes("/subagents/")).sort();
  mains.forEach((file, at) => {
    const project = PROJECTS[at % PROJECTS.length];
    const title = TITLES[at % TITLES.length];
    // Few on some days, many on others; weekends stay empty.
    const when = new Date(Date.now() - (((at * 17) % 30) + 0.13 * (at % 7)) * DAY_MS);
    if (when.getUTCDay() % 6 === 0) when.setTime(when.getTime() - 2 * DAY_MS);
    const id = basename(file, ".jsonl");
    const rewritten = (name) =>
      readFileSync(name, "utf8")
        .replace(/"\d{4}-\d\d-\d\dT/g, `"${when.toISOString().slice(0, 10)}T`)
        .replaceAll("/home/dev/demo", `/home/dev/${project}`)
        .replace(/"(output_tokens|cache_read_input_tokens|cache_creation_input_tokens)":(\d+)/g, (_, field, count) => `"${field}":${Number(count) * (6 + ((at * 7) % 40))}`);
    writeFileSync(file, `${rewritten(file).trimEnd()}\n${JSON.stringify({ type: "custom-title", customTitle: title, sessionId: id })}\n`);
    const folder = join(dirname(dirname(file)), `-home-dev-${project}`);
    mkdirSync(folder, { recursive: true });
    const moved = join(folder, basename(file));
    renameSync(file, moved);
    utimesSync(moved, when, when);
    const beside = join(dirname(file), id);
    if (!existsSync(beside)) return;
    for (const name of sessionFiles(beside)) writeFileSync(name, rewritten(name));
    renameSync(beside, join(folder, id));
  });
  return root;
}
