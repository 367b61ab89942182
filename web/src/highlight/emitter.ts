// Receives the tokens of highlight.js as spans instead of HTML, which the page's policy does not accept.

import type { Span } from "../text/spans.ts";

/** The class of a scope; scopes that are absent here look like plain text. */
const CLASSES: Record<string, string> = {
  keyword: "hl-keyword",
  "meta keyword": "hl-keyword",
  literal: "hl-number",
  number: "hl-number",
  symbol: "hl-number",
  string: "hl-string",
  regexp: "hl-string",
  char: "hl-string",
  addition: "hl-string",
  code: "hl-string",
  comment: "hl-comment",
  doctag: "hl-comment",
  quote: "hl-comment",
  deletion: "hl-removed",
  title: "hl-title",
  section: "hl-title",
  name: "hl-keyword",
  "selector-tag": "hl-keyword",
  "selector-class": "hl-title",
  "selector-id": "hl-title",
  type: "hl-type",
  built_in: "hl-type",
  class: "hl-type",
  attr: "hl-attr",
  attribute: "hl-attr",
  property: "hl-attr",
  variable: "hl-attr",
  "template-variable": "hl-attr",
  bullet: "hl-attr",
  link: "hl-attr",
  meta: "hl-meta",
};

export class SpanEmitter {
  readonly spans: Span[] = [];
  #at = 0;
  /**
   * Classes of the open scopes: `undefined` for one without a class, `null` for one that looks like plain
   * text.
   */
  #open: (string | null | undefined)[] = [];

  addText(text: string): void {
    const name = this.#open.findLast((scope) => scope !== undefined);
    const from = this.#at;
    this.#at += text.length;
    if (name === undefined || name === null || text === "") return;
    const last = this.spans.at(-1);
    if (last !== undefined && last.to === from && last.name === name) last.to = this.#at;
    else this.spans.push({ from, to: this.#at, name });
  }

  startScope(scope: string): void {
    // Scopes have sub-scopes, such as `title.function`.
    const [kind = "", sub = ""] = scope.split(".");
    this.#open.push(kind === "title" && sub === "class" ? "hl-type" : kind === "subst" ? null : CLASSES[kind]);
  }

  endScope(): void {
    this.#open.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  /** A part in another language. */
  __addSublanguage(other: SpanEmitter): void {
    for (const { from, to, name } of other.spans) this.spans.push({ from: from + this.#at, to: to + this.#at, name });
    this.#at += other.#at;
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}
