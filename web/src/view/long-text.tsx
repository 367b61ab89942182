// A command or an input that a user decides by: all of it, with every hidden character, and a reader if it is
// long.

import type { ComponentChildren, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { warnings } from "../text/hidden.ts";
import { spansWithin } from "../text/spans.ts";
import { Segments, useSyntax } from "./code.tsx";
import { CommentButton, CommentList, lineKeys } from "./comments.tsx";
import { Icon } from "./icons.tsx";
import { Reader } from "./reader.tsx";
import { ScrollBox } from "./scroll-box.tsx";

/** A longer text has a reader. */
const LINES_MAX = 12;
const CHARS_MAX = 1200;

interface Props {
  text: string;
  label: string;
  language?: string;
  /** Called when the end was on the screen. */
  seen: () => void;
  /** Title of the reader. */
  title: string;
  /** Place of comments; without one lines have none. */
  comments: string | undefined;
  /** The buttons that decide, for the reader. */
  actions: ComponentChildren;
}

export function LongText({ text, label, language, seen, title, comments, actions }: Props): VNode {
  const [open, setOpen] = useState(false);
  const found = useMemo(() => warnings(text), [text]);
  const syntax = useSyntax(language === undefined ? "" : text, language);
  const lines = useMemo(() => text.split("\n"), [text]);
  const isLong = lines.length > LINES_MAX || text.length > CHARS_MAX;
  return (
    <div class="exact">
      <ScrollBox class="exact-box" label={label} content={text} seen={seen}>
        <pre>
          <code>
            <Segments text={text} layers={[syntax]} reveal />
          </code>
        </pre>
      </ScrollBox>
      {(isLong || text.length > 200) && (
        <p class="exact-size">
          {text.length.toLocaleString("en-GB")} characters; all of them are shown.{" "}
          {isLong && (
            <button type="button" class="link" onClick={() => setOpen(true)}>
              <Icon name="expand" /> Open in the reader
            </button>
          )}
        </p>
      )}
      {found.length > 0 && (
        <p class="warn-line" role="note">
          Warning: {found.join("; ")}.
        </p>
      )}
      {open && (
        <Reader title={title} content={text} seen={seen} close={() => setOpen(false)} foot={<>{comments !== undefined && <CommentList of={comments} />}{actions}</>}>
          <NumberedLines text={text} lines={lines} syntax={syntax} of={comments} />
        </Reader>
      )}
    </div>
  );
}

function NumberedLines({ text, lines, syntax, of }: { text: string; lines: readonly string[]; syntax: ReturnType<typeof useSyntax>; of: string | undefined }): VNode {
  let from = 0;
  return (
    <table class="numbered-lines" onKeyDown={lineKeys}>
      <tbody>
        {lines.map((line, index) => {
          const begin = from;
          from += line.length + 1;
          return (
            <tr>
              <td class="number">{of === undefined ? index + 1 : <CommentButton place={{ of, path: "", line: index + 1, quote: line }} sign={String(index + 1)} isFirst={index === 0} />}</td>
              <td class="text"><Segments text={text.slice(begin, begin + line.length)} layers={[spansWithin(syntax, begin, begin + line.length)]} reveal /></td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
