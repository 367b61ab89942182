// Builds the client into client/dist/, and the page into dist/: one script, the scripts that are loaded on demand (terminal, syntax, maths, diagrams), one style
// sheet, the files of public/. The program contains all of it, so a large file is kept compressed only, which every browser takes;
// and what draws diagrams, by far the largest, only in the form that browsers take without a secure connection too.
// Names contain a checksum of the content, so that a browser may cache them for ever.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { buildClient } from "./client/build.mjs";

const here = new URL("./", import.meta.url);
const dist = new URL("dist/", here);
/** Limits for the compressed scripts: those that every page loads, and those that are loaded on demand. */
const LIMITS = { page: 150_000, terminal: 90_000, highlight: 60_000, maths: 90_000, diagram: 1_000_000 };

/** Texts of more bytes are kept compressed only. */
const UNCOMPRESSED_MAX = 32_768;

const common = { bundle: true, minify: true, format: "esm", target: ["es2023", "chrome123", "firefox121", "safari17.5"], legalComments: "none", write: false, logLevel: "warning" };

await mkdir(dist, { recursive: true });
for (const name of await readdir(dist)) if (name !== ".gitignore") await rm(new URL(name, dist));

/** xterm.js sets styles in ways that the content security policy does not allow; the number of places is checked. */
const REWRITES = [
  [/\b[\w.]+\.createElement\("style"\)/g, "styleElement()", 3],
  [/(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g, "$1.style.cssText+=$2+';'", 1],
];
const allowedStyles = {
  name: "allowed-styles",
  setup: ({ onLoad }) =>
    onLoad({ filter: /xterm\.mjs$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const [from, to, count] of REWRITES) {
        const found = contents.match(from)?.length ?? 0;
        if (found !== count) throw new Error(`xterm.js sets styles in ${found} places that match ${from}, not in ${count}`);
        contents = contents.replace(from, to);
      }
      return { contents: `import { styleElement } from ${JSON.stringify(new URL("src/terminal/style-element.ts", here).pathname)};\n${contents}` };
    }),
};
const terminal = await build({ ...common, entryPoints: [new URL("src/terminal/screen.ts", here).pathname], loader: { ".css": "text" }, plugins: [allowedStyles] });
const highlight = await build({ ...common, format: "iife", entryPoints: [new URL("src/highlight/worker.ts", here).pathname] });
const diagram = await build({ ...common, format: "iife", entryPoints: [new URL("src/diagram/frame.ts", here).pathname] });
const maths = await build({ ...common, entryPoints: [new URL("src/maths/maths.ts", here).pathname] });
/** Scripts that are loaded on demand, by their kind. */
const onDemand = Object.fromEntries(Object.entries({ terminal, highlight, maths }).map(([kind, { outputFiles }]) => [kind, { name: `page-${kind}-${checksum(outputFiles[0].contents)}.js`, bytes: outputFiles[0].contents }]));
const frame = frameOf(diagram.outputFiles[0].text);
onDemand.diagram = frame;

const define = {
  TERMINAL_SCRIPT: JSON.stringify(`./${onDemand.terminal.name}`),
  HIGHLIGHT_SCRIPT: JSON.stringify(onDemand.highlight.name),
  MATHS_SCRIPT: JSON.stringify(`./${onDemand.maths.name}`),
  DIAGRAM_FRAME: JSON.stringify(`./${frame.name}`),
};
const page = await build({ ...common, define, entryPoints: [new URL("src/main.tsx", here).pathname], outdir: "/", jsx: "automatic", jsxImportSource: "preact" });
const files = new Map(Object.values(onDemand).map(({ name, bytes }) => [name, bytes]));
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

const sizes = Object.fromEntries(Object.keys(LIMITS).map((kind) => [kind, 0]));
for (const [name, bytes] of files) {
  const isText = /\.(html|js|css|svg|webmanifest)$/.test(name);
  if (!isText || bytes.length <= UNCOMPRESSED_MAX) await writeFile(new URL(name, dist), bytes);
  if (!isText) continue;
  const forms = { gz: gzipSync(bytes, { level: 9 }) };
  if (name !== frame.name) forms.br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  for (const [form, compressed] of Object.entries(forms)) await writeFile(new URL(`${name}.${form}`, dist), compressed);
  const small = forms.br ?? forms.gz;
  if (name.endsWith(".js") || name === frame.name) sizes[Object.keys(onDemand).find((kind) => onDemand[kind].name === name) ?? "page"] += small.length;
}
const inBytes = (count) => `${count.toLocaleString("en-GB")} bytes`;
const { page: first, ...others } = sizes;
console.log(`web/dist: ${files.size} files, ${inBytes(first)} of script compressed; on demand: ${Object.entries(others).map(([kind, size]) => `${kind} ${inBytes(size)}`).join(", ")}`);
const tooLarge = Object.keys(LIMITS).filter((kind) => sizes[kind] > LIMITS[kind]);
for (const kind of tooLarge) console.error(`error: the limit for ${kind} is ${inBytes(LIMITS[kind])}`);
if (tooLarge.length > 0) process.exit(1);

await buildClient();

/** The document that draws diagrams: its only script is part of it, and its policy allows no other. */
function frameOf(script) {
  // In strings and expressions of the script; a browser could take it for the begin of a comment.
  const code = script.replaceAll("<!--", "<\\x21--");
  if (/<\/script/i.test(code)) throw new Error("the script that draws diagrams would end its element");
  const hash = createHash("sha256").update(code).digest("base64");
  const policy = `<meta http-equiv="Content-Security-Policy" content="script-src 'sha256-${hash}'">`;
  const style = "<style>html,body{margin:0}main svg{display:block;margin:0 auto}</style>";
  const bytes = Buffer.from(`<!doctype html><html lang="en"><head><meta charset="utf-8">${policy}<title>Diagram</title>${style}</head><body><script>${code}</script></body></html>`);
  return { name: `page-diagram-${checksum(bytes)}.html`, bytes };
}

function checksum(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
