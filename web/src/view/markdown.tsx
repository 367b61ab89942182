// Markdown as elements. The parser's tokens become nodes from an allow list: HTML in a text stays text, links
// lead to the web or to mail, and pictures are links, since fetching one contacts its server.

import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { Component } from "preact";
import type { Block as BlockToken } from "../text/blocks.ts";
import { Growing } from "../text/blocks.ts";
import { languageOf } from "../text/language.ts";
import { safeHref } from "../text/links.ts";
import type { MathToken } from "../text/maths.ts";
import { CodeText } from "./code.tsx";
import { CopyButton } from "./copy.tsx";
import { Diagram } from "./diagram.tsx";
import { Formula } from "./maths.tsx";
import { InOrder } from "./revealed.tsx";

/** Deeper nesting is shown as text. */
const DEPTH_MAX = 24;

/** Maximum share of the time for parsing and drawing a growing text. */
const READING_SHARE = 1 / 8;

interface Props {
  text: string;
  /** True while more text may come. */
  open?: boolean;
}

export class Markdown extends Component<Props> {
  readonly #growing = new Growing();
  #blocks: readonly BlockToken[] = [];
  /** Start of the last parse; `undefined` while an older result is displayed. */
  #began: number | undefined;
  /** Earliest time of the next parse. */
  #againAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  override shouldComponentUpdate(next: Props): boolean {
    return next.text !== this.props.text || next.open !== this.props.open;
  }

  override componentWillUnmount(): void {
    clearTimeout(this.#timer);
  }

  override componentDidUpdate(): void {
    if (this.#began === undefined) return;
    const now = performance.now();
    this.#againAt = now + (now - this.#began) / READING_SHARE;
  }

  override render({ text, open }: Props): VNode {
    const now = performance.now();
    if (open && now < this.#againAt) {
      this.#began = undefined;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.forceUpdate();
      }, this.#againAt - now);
    } else {
      this.#began = now;
      this.#blocks = open ? this.#growing.read(text) : this.#growing.finish(text);
    }
    return (
      <div class="md">
        {this.#blocks.map((token, index) => (
          <Block key={index} token={token} />
        ))}
      </div>
    );
  }
}

/** A block that is drawn again only if its source changed: all but the last stay while a text grows. */
class Block extends Component<{ token: BlockToken }> {
  override shouldComponentUpdate(next: { token: BlockToken }): boolean {
    return next.token !== this.props.token && (next.token.raw !== this.props.token.raw || next.token.type !== this.props.token.type);
  }

  override render(): ComponentChildren {
    return block(this.props.token as Token, 0);
  }
}

function block(token: Token, depth: number): ComponentChildren {
  if (depth > DEPTH_MAX) return <InOrder text={token.raw} />;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return heading(token as Tokens.Heading, depth);
    case "paragraph":
      return <p dir="auto">{inlines((token as Tokens.Paragraph).tokens, depth)}</p>;
    case "code":
      return fence(token as Tokens.Code);
    case "blockquote":
      return <blockquote dir="auto">{blocks((token as Tokens.Blockquote).tokens, depth)}</blockquote>;
    case "list":
      return list(token as Tokens.List, depth);
    case "table":
      return table(token as Tokens.Table, depth);
    case "hr":
      return <hr />;
    case "maths":
      return <Formula tex={(token as unknown as MathToken).tex} isBlock />;
    case "text": {
      const text = token as Tokens.Text;
      return text.tokens === undefined ? <InOrder text={unescape(text.text)} /> : inlines(text.tokens, depth);
    }
    case "html":
      return <p class="md-plain" dir="auto"><InOrder text={(token as Tokens.HTML).text} /></p>;
    default:
      return <p class="md-plain" dir="auto"><InOrder text={token.raw} /></p>;
  }
}

function blocks(tokens: Token[], depth: number): ComponentChildren {
  return tokens.map((token) => block(token, depth + 1));
}

function heading(token: Tokens.Heading, depth: number): VNode {
  const content = inlines(token.tokens, depth);
  // The page uses the first two heading levels, so those of a text begin at the third.
  if (token.depth <= 1) return <h3 dir="auto">{content}</h3>;
  if (token.depth === 2) return <h4 dir="auto">{content}</h4>;
  if (token.depth === 3) return <h5 dir="auto">{content}</h5>;
  return <h6 dir="auto">{content}</h6>;
}

function list(token: Tokens.List, depth: number): VNode {
  const items = token.items.map((item) => (
    <li class={item.task ? "md-task" : undefined}>
      {item.task && <span class="md-box" role="img" aria-label={item.checked ? "done" : "not done"}>{item.checked ? "☑" : "☐"}</span>}
      {item.tokens.filter((part) => part.type !== "checkbox").map((part) => block(part, depth + 1))}
    </li>
  ));
  if (!token.ordered) return <ul dir="auto">{items}</ul>;
  return <ol dir="auto" start={typeof token.start === "number" ? token.start : 1}>{items}</ol>;
}

function table(token: Tokens.Table, depth: number): VNode {
  return (
    <div class="md-table" tabIndex={0} role="group" aria-label="Table">
      <table dir="auto">
        <thead>
          <tr>
            {token.header.map((part, index) => <th scope="col" class={alignment(token, index)}>{inlines(part.tokens, depth)}</th>)}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <TableRow key={index} row={row} table={token} depth={depth} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A row that is drawn again only if it was parsed again: of a growing table the last one. */
class TableRow extends Component<{ row: Tokens.TableCell[]; table: Tokens.Table; depth: number }> {
  override shouldComponentUpdate(next: { row: Tokens.TableCell[] }): boolean {
    return next.row !== this.props.row;
  }

  override render(): VNode {
    const { row, table, depth } = this.props;
    return (
      <tr>
        {row.map((part, index) => <td class={alignment(table, index)}>{inlines(part.tokens, depth)}</td>)}
      </tr>
    );
  }
}

function alignment({ align }: Tokens.Table, index: number): string | undefined {
  return align[index] ? `align-${align[index]}` : undefined;
}

function inlines(tokens: Token[] | undefined, depth: number): ComponentChildren {
  return tokens?.map((token) => inline(token, depth + 1));
}

function inline(token: Token, depth: number): ComponentChildren {
  if (depth > DEPTH_MAX) return <InOrder text={token.raw} />;
  switch (token.type) {
    case "text": {
      const text = token as Tokens.Text;
      return text.tokens === undefined ? <InOrder text={unescape(text.text)} /> : inlines(text.tokens, depth);
    }
    case "escape":
      return <InOrder text={(token as Tokens.Escape).text} />;
    case "strong":
      return <strong>{inlines((token as Tokens.Strong).tokens, depth)}</strong>;
    case "em":
      return <em>{inlines((token as Tokens.Em).tokens, depth)}</em>;
    case "del":
      return <del>{inlines((token as Tokens.Del).tokens, depth)}</del>;
    case "codespan":
      return <code><InOrder text={(token as Tokens.Codespan).text} /></code>;
    case "br":
      return <br />;
    case "maths":
      return <Formula tex={(token as unknown as MathToken).tex} isBlock={false} />;
    case "link":
      return link(token as Tokens.Link, depth);
    case "image": {
      const image = token as Tokens.Image;
      return <Outward href={image.href}><InOrder text={`[picture] ${image.text || image.href}`} /></Outward>;
    }
    default:
      return <InOrder text={token.raw} />;
  }
}

function link(token: Tokens.Link, depth: number): VNode {
  return <Outward href={token.href}>{inlines(token.tokens, depth)}</Outward>;
}

/** An external link; plain text if the address is neither web nor mail. */
function Outward({ href, children }: { href: string; children: ComponentChildren }): VNode {
  const safe = safeHref(href);
  if (safe === undefined) return <span class="md-nolink">{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={safe}>
      {children}
    </a>
  );
}

function fence({ lang = "", text }: Tokens.Code): VNode {
  if (lang === "mermaid") return <Diagram text={text} />;
  return lang === "math" ? <Formula tex={text} isBlock /> : <Fence lang={lang} text={text} />;
}

export function Fence({ lang, text }: { lang: string; text: string }): VNode {
  const name = lang.split(/\s/)[0] ?? "";
  return (
    <figure class="code">
      <figcaption>
        <span>{name === "" ? "text" : name}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code><CodeText text={text} language={languageOf(name)} /></code>
      </pre>
    </figure>
  );
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Decodes character references, which the parser leaves in the text. */
function unescape(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
