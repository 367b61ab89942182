// Runs the unit tests: each file of tests/ and client/tests/ is bundled, since Node does not read TypeScript, and run by Node's
// test runner.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = new URL("./", import.meta.url).pathname;
const out = await mkdtemp(join(tmpdir(), "tidings-page-"));
const names = (await Promise.all(["tests", "client/tests"].map(async (folder) => (await readdir(join(here, folder))).map((name) => `${folder}/${name}`)))).flat().filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: names.map((name) => join(here, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
});
const files = names.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit", cwd: here });
await rm(out, { recursive: true });
process.exit(run.status ?? 1);
