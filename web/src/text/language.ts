// Names of programming languages: from the extension of a file, and from the info string of a code block.

/** Languages that the highlighter knows, each with its extensions and other names. */
const LANGUAGES: Record<string, string> = {
  bash: "bash sh zsh shell console shellsession",
  c: "c h",
  cpp: "cpp cc cxx hpp hh hxx c++",
  csharp: "csharp cs",
  css: "css scss less",
  diff: "diff patch",
  dockerfile: "dockerfile docker containerfile",
  go: "go golang",
  graphql: "graphql gql",
  ini: "ini toml cfg conf properties",
  java: "java",
  javascript: "javascript js mjs cjs jsx",
  json: "json json5 jsonc ndjson jsonl map",
  kotlin: "kotlin kt kts",
  lua: "lua",
  makefile: "makefile make mk",
  markdown: "markdown md mdx",
  nix: "nix",
  php: "php",
  python: "python py pyi python3",
  ruby: "ruby rb rake gemspec",
  rust: "rust rs",
  scala: "scala sc",
  sql: "sql psql",
  swift: "swift",
  typescript: "typescript ts tsx mts cts",
  xml: "xml html htm xhtml svg vue svelte plist",
  yaml: "yaml yml",
};

const BY_NAME = new Map(Object.entries(LANGUAGES).flatMap(([language, names]) => names.split(" ").map((name): [string, string] => [name, language])));

/** The language of a code block; `undefined` if the highlighter does not know it. */
export function languageOf(name: string): string | undefined {
  return BY_NAME.get(name.toLowerCase());
}

/** The language of a file by its name. */
export function languageOfFile(path: string): string | undefined {
  const file = (path.split("/").at(-1) ?? "").toLowerCase();
  const dot = file.lastIndexOf(".");
  return BY_NAME.get(dot === -1 ? file : file.slice(dot + 1)) ?? BY_NAME.get(file.slice(0, Math.max(0, dot)));
}
