// Runs the browser cases, some files at a time, and retries failed cases on request.
//
// usage: node e2e/browser/run.mjs FILE…
// TRIES=n       a file runs up to n times, until each of its cases has passed once; 1 by default
// RESULTS=FILE  appends one line of JSON per case: {"stage", "case", "tries", "ok", "problem"}
// PARALLEL=n    number of files at a time, two more than there are processors by default

import { appendFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, resolve } from "node:path";
import { run } from "node:test";
import { launchShared } from "./lib/browser.mjs";

const TRIES = Number(process.env.TRIES ?? 1);
const PARALLEL = Number(process.env.PARALLEL ?? availableParallelism() + 2);
/** Limit for a hang of a file; none comes near it. */
const FILE_MS_MAX = 600_000;

const cases = new Map();

function note(file, { name, details }, problem) {
  const key = `${basename(file, ".test.mjs")}: ${name}`;
  const one = cases.get(key) ?? { file, name, tries: 0, ok: false, problem: "" };
  cases.set(key, one);
  // A file runs again as a whole; cases that have passed before are not counted again.
  if (one.ok) return;
  one.tries += 1;
  one.ok = problem === undefined;
  if (problem !== undefined) one.problem = problem;
  const seconds = (details.duration_ms / 1000).toFixed(1);
  console.log(`${one.ok ? "ok" : "FAILED"} ${key} (${seconds} s${one.tries > 1 ? `, try ${one.tries}` : ""})`);
  if (problem !== undefined) console.log(problem.replace(/^/gm, "    "));
}

function problemOf({ error }) {
  const cause = error?.cause ?? error;
  return String(cause?.stack ?? cause?.message ?? cause);
}

const WHOLE_FILE = "the file as a whole";

/** Runs the files once. */
async function runFiles(files) {
  const stream = run({ files, concurrency: PARALLEL, timeout: FILE_MS_MAX });
  const broken = new Set();
  for await (const { type, data } of stream) {
    if (type === "test:stderr") process.stderr.write(data.message);
    if ((type !== "test:pass" && type !== "test:fail") || data.nesting > 0) continue;
    const file = resolve(data.file ?? data.name);
    const problem = type === "test:fail" ? problemOf(data.details) : undefined;
    // A file that ends early fails as a test with the name of the file.
    if (resolve(data.name) !== file) note(file, data, problem);
    else if (problem !== undefined) {
      broken.add(file);
      note(file, { ...data, name: WHOLE_FILE }, problem);
    }
  }
  for (const one of cases.values()) {
    if (one.name === WHOLE_FILE && files.includes(one.file) && !broken.has(one.file)) Object.assign(one, { tries: one.tries + 1, ok: true });
  }
}

/** The longest first, so that the last files do not run alone. */
const LONG = ["screenshots", "reader", "list", "past", "demo", "keeping", "finding", "findings", "outbox"].map((name) => `${name}.test.mjs`);
const files = process.argv.slice(2).map((file) => resolve(file));
const rank = (file) => (LONG.includes(basename(file)) ? LONG.indexOf(basename(file)) : LONG.length);
files.sort((a, b) => rank(a) - rank(b));
const browser = await launchShared();
await runFiles(files);
for (let tried = 1; tried < TRIES; tried += 1) {
  const failed = new Set([...cases.values()].filter((one) => !one.ok).map((one) => one.file));
  if (failed.size > 0) await runFiles([...failed]);
}

await browser.close();

const all = [...cases].map(([name, { tries, ok, problem }]) => ({ stage: "browser", case: name, tries, ok, problem }));
if (process.env.RESULTS) appendFileSync(process.env.RESULTS, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
const failed = all.filter((one) => !one.ok);
for (const one of failed) console.log(`FAILED every time: ${one.case}`);
console.log(`\n${all.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 && all.length > 0 ? 0 : 1);
