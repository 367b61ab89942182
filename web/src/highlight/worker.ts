// Worker that finds the syntax of code: the page stays responsive, and loads the languages only when code is
// shown.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import graphql from "highlight.js/lib/languages/graphql";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import nix from "highlight.js/lib/languages/nix";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Span } from "../text/spans.ts";
import { SpanEmitter } from "./emitter.ts";

const LANGUAGES = { bash, c, cpp, csharp, css, diff, dockerfile, go, graphql, ini, java, javascript, json, kotlin, lua, makefile, markdown, nix, php, python, ruby, rust, scala, sql, swift, typescript, xml, yaml };
for (const [name, define] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, define);
hljs.configure({ __emitter: SpanEmitter } as Parameters<typeof hljs.configure>[0]);

export interface HighlightRequest {
  id: number;
  language: string;
  text: string;
}

export interface HighlightReply {
  id: number;
  spans: Span[];
}

export function spansOf(text: string, language: string): Span[] {
  if (hljs.getLanguage(language) === undefined) return [];
  const { _emitter: emitter } = hljs.highlight(text, { language, ignoreIllegals: true });
  return (emitter as unknown as SpanEmitter).spans;
}

if (typeof self !== "undefined" && "postMessage" in self) {
  self.onmessage = ({ data: { id, language, text } }: MessageEvent<HighlightRequest>) => {
    self.postMessage({ id, spans: spansOf(text, language) } satisfies HighlightReply);
  };
}
