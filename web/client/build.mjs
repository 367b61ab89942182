// Builds the client into client/dist/: one script, and the declarations of its types beside it.

import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const client = fileURLToPath(new URL("./", import.meta.url));
const dist = join(client, "dist");

export async function buildClient() {
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  const { outputFiles } = await build({ entryPoints: [join(client, "src/index.ts")], bundle: true, format: "esm", target: ["es2022", "node20"], legalComments: "none", write: false, logLevel: "warning" });
  await writeFile(join(dist, "index.js"), outputFiles[0].contents);

  // The compiler keeps the folders between a source and the types from `schema/`; the package is flat.
  const scratch = await mkdtemp(join(tmpdir(), "tidings-client-"));
  execFileSync(process.execPath, [join(client, "../node_modules/typescript/bin/tsc"), "-p", client, "--outDir", scratch], { stdio: "inherit" });
  for (const folder of ["web/client/src", "schema"]) {
    for (const name of await readdir(join(scratch, folder))) {
      const text = await readFile(join(scratch, folder, name), "utf8");
      await writeFile(join(dist, name), text.replace(/ from "(?:\.\.?\/)+(?:schema\/)?([\w-]+)\.ts"/g, ' from "./$1.js"'));
    }
  }
  await rm(scratch, { recursive: true });
  console.log(`web/client/dist: ${outputFiles[0].contents.length.toLocaleString("en-GB")} bytes of script, and its types`);
}
