// The command palette: one field over sessions, actions, views and settings.

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Command } from "../app/palette.ts";
import { commandsFor, paletteShown } from "../app/palette.ts";
import { go } from "../app/route.ts";
import { Icon } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

export function Palette(): VNode | null {
  return paletteShown.value ? <Shown /> : null;
}

function Shown(): VNode {
  const box = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  const [active, setActive] = useState(0);
  // Before the next key arrives.
  useLayoutEffect(() => box.current?.showModal(), []);
  const found = commandsFor(words);
  const search: Command = { id: "search", kind: "Go to", icon: "clock", label: `Search all transcripts for “${words.trim()}”`, hint: "", run: () => go({ view: "history", id: undefined, wanted: { words: words.trim() } }) };
  const items = words.trim().length >= 2 ? [...found, search] : found;
  const at = Math.min(active, items.length - 1);
  useEffect(() => {
    box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, words]);
  const close = () => {
    paletteShown.value = false;
  };
  const run = (item: Command | undefined) => {
    if (item === undefined) return;
    // The focus returns first, so that the action may move it.
    box.current?.close();
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = at + step;
      setActive(Math.abs(step) === 1 ? (next + items.length) % items.length : Math.min(items.length - 1, Math.max(0, next)));
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(items[at]);
    }
  };
  let before = "";
  return (
    <dialog class="dialog palette" ref={box} aria-label="Search sessions and commands" onClose={close} onClick={(event) => event.target === box.current && box.current?.close()} onKeyDown={onKeyDown}>
      <label class="palette-field">
        <Icon name="search" />
        <span class="sr">Search sessions and commands</span>
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={items.length > 0 ? `palette-${at}` : undefined}
          placeholder="Search sessions, actions and settings"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value);
            setActive(0);
          }}
        />
      </label>
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">
        {items.map((item, index) => {
          const heading = words.trim() === "" && item.kind !== before ? item.kind : undefined;
          before = item.kind;
          return (
            <li
              key={item.id}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === at}
              data-heading={heading === undefined ? undefined : HEADINGS[heading]}
              onPointerMove={() => index !== at && setActive(index)}
              onClick={() => run(item)}
            >
              <Icon name={item.icon} />
              <span class="cut"><bdi><InOrder text={item.label} /></bdi></span>
              {item.hint !== "" && <span class="palette-hint cut"><InOrder text={item.hint} /></span>}
              {item.keys !== undefined && <kbd class="for-keys">{item.keys}</kbd>}
              {words.trim() !== "" && <span class="palette-kind">{item.kind}</span>}
            </li>
          );
        })}
      </ul>
      {items.length === 0 && <p class="muted pad" role="status">Nothing is called “{words}”.</p>}
    </dialog>
  );
}

const HEADINGS: Record<Command["kind"], string> = { Session: "Sessions", Action: "This session", "Go to": "Go to", Setting: "Settings" };
