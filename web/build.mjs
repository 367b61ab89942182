// Builds the page into dist/: one script, the script of the terminal that is loaded on demand, one style sheet,
// the files of public/, each also compressed.
// Names contain a checksum of the content, so that a browser may cache them for ever.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = new URL("./", import.meta.url);
const dist = new URL("dist/", here);
/** Limits for the compressed scripts: those that every page loads, and that of the terminal. */
const SCRIPT_BYTES_MAX = 150_000;
const TERMINAL_BYTES_MAX = 90_000;

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
const terminalBytes = terminal.outputFiles[0].contents;
const terminalName = `page-terminal-${checksum(terminalBytes)}.js`;

const page = await build({ ...common, define: { TERMINAL_SCRIPT: JSON.stringify(`./${terminalName}`) }, entryPoints: [new URL("src/main.tsx", here).pathname], outdir: "/", jsx: "automatic", jsxImportSource: "preact" });
const files = new Map([[terminalName, terminalBytes]]);
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

let [script, terminalSize] = [0, 0];
for (const [name, bytes] of files) {
  await writeFile(new URL(name, dist), bytes);
  if (!/\.(html|js|css|svg|webmanifest)$/.test(name)) continue;
  const small = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  await writeFile(new URL(`${name}.br`, dist), small);
  await writeFile(new URL(`${name}.gz`, dist), gzipSync(bytes, { level: 9 }));
  if (name === terminalName) terminalSize = small.length;
  else if (name.endsWith(".js")) script += small.length;
}
const inBytes = (count) => `${count.toLocaleString("en-GB")} bytes`;
console.log(`web/dist: ${files.size} files, ${inBytes(script)} of script compressed, ${inBytes(terminalSize)} for the terminal`);
if (script > SCRIPT_BYTES_MAX || terminalSize > TERMINAL_BYTES_MAX) {
  console.error(`error: the limits are ${inBytes(SCRIPT_BYTES_MAX)}, and ${inBytes(TERMINAL_BYTES_MAX)} for the terminal`);
  process.exit(1);
}

function checksum(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
