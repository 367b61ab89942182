// Builds the page into dist/: one script, one style sheet, the files of public/, each also compressed.
// Names contain a checksum of the content, so that a browser may cache them for ever.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = new URL("./", import.meta.url);
const dist = new URL("dist/", here);
const SCRIPT_BYTES_MAX = 150_000;

const common = { bundle: true, minify: true, format: "esm", target: ["es2023", "chrome123", "firefox121", "safari17.5"], legalComments: "none", write: false, logLevel: "warning" };

await mkdir(dist, { recursive: true });
for (const name of await readdir(dist)) if (name !== ".gitignore") await rm(new URL(name, dist));

const page = await build({ ...common, entryPoints: [new URL("src/main.tsx", here).pathname], outdir: "/", jsx: "automatic", jsxImportSource: "preact" });
const files = new Map();
const names = {};
for (const output of page.outputFiles) {
  const kind = output.path.endsWith(".css") ? "style" : "script";
  const name = `page-${checksum(output.contents)}.${kind === "style" ? "css" : "js"}`;
  names[kind] = name;
  files.set(name, output.contents);
}
const template = await readFile(new URL("index.html", here), "utf8");
files.set("index.html", Buffer.from(template.replace(/\{\{(\w+)\}\}/g, (_, kind) => names[kind]).replace(/\n\s+/g, "\n")));
for (const name of await readdir(new URL("public/", here))) files.set(name, await readFile(new URL(`public/${name}`, here)));

const shell = ["./", names.style, names.script, "icon.svg", "icon-waiting.svg", "icon-192.png", "manifest.webmanifest"];
const version = `shell-${checksum(Buffer.concat([...files.values()].map((bytes) => Buffer.from(bytes))))}`;
const worker = await build({ ...common, entryPoints: [new URL("src/sw.ts", here).pathname], define: { SHELL: JSON.stringify(shell), VERSION: JSON.stringify(version) } });
files.set("sw.js", worker.outputFiles[0].contents);

let script = 0;
for (const [name, bytes] of files) {
  await writeFile(new URL(name, dist), bytes);
  if (!/\.(html|js|css|svg|webmanifest)$/.test(name)) continue;
  const small = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  await writeFile(new URL(`${name}.br`, dist), small);
  await writeFile(new URL(`${name}.gz`, dist), gzipSync(bytes, { level: 9 }));
  if (name.endsWith(".js")) script += small.length;
}
console.log(`web/dist: ${files.size} files, ${script.toLocaleString("en-GB")} bytes of script compressed`);
if (script > SCRIPT_BYTES_MAX) {
  console.error(`error: the script is larger than ${SCRIPT_BYTES_MAX} bytes`);
  process.exit(1);
}

function checksum(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
