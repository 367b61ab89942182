// The list of keyboard shortcuts.

import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { KEYS, keysShown } from "../app/keys.ts";
import { Icon } from "./icons.tsx";

export function KeyList(): VNode {
  return (
    <div class="key-list">
      {KEYS.map(({ about, keys }) => (
        <section>
          <h4>{about}</h4>
          <dl class="facts keys">
            {keys.map(([key, what]) => (
              <>
                <dt>{key.split(/( then | and | )/).map((part) => (/^( then | and | )$/.test(part) || part === "" ? part : <kbd>{part}</kbd>))}</dt>
                <dd>{what}</dd>
              </>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}

/** The list over the page, until it is closed. */
export function KeysDialog(): VNode | null {
  const box = useRef<HTMLDialogElement>(null);
  const shown = keysShown.value;
  useEffect(() => {
    if (shown) box.current?.showModal();
  }, [shown]);
  if (!shown) return null;
  const close = () => box.current?.close();
  return (
    <dialog class="keys-dialog" ref={box} aria-labelledby="keys-title" onClose={() => (keysShown.value = false)} onClick={(event) => event.target === box.current && close()}>
      <header>
        <h3 id="keys-title">Keys</h3>
        <button type="button" class="ghost" aria-label="Close" onClick={close}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="keys-body">
        <KeyList />
      </div>
    </dialog>
  );
}
