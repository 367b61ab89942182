// A reader as high as the window, for plans and long commands: the text, comments on it, and the buttons that
// decide.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { ScrollBox } from "./scroll-box.tsx";

interface Props {
  title: string;
  /** The text, to notice another one. */
  content: string;
  seen: () => void;
  close: () => void;
  /** Below the text: comments and buttons. */
  foot: ComponentChildren;
  children: ComponentChildren;
}

export function Reader({ title, content, seen, close, foot, children }: Props): VNode {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog
      class="reader"
      ref={box}
      aria-label={title}
      onClose={close}
      // Keys of the card behind it do not apply here.
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header>
        <h3>{title}</h3>
        <button type="button" class="ghost" aria-label="Close the reader" onClick={() => box.current?.close()}>
          <Icon name="cross" />
        </button>
      </header>
      <ScrollBox class="reader-text" label={title} content={content} seen={seen}>
        {children}
      </ScrollBox>
      <footer>{foot}</footer>
    </dialog>
  );
}
