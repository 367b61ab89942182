import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "../app/clipboard.ts";
import { Icon } from "./icons.tsx";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): VNode {
  const [done, setDone] = useState(false);
  const copy = () => {
    copyText(text).then(
      () => {
        setDone(true);
        setTimeout(() => setDone(false), 1500);
      },
      () => undefined,
    );
  };
  return (
    <button type="button" class="ghost small" onClick={copy} aria-label={done ? "Copied" : label} title={label}>
      <Icon name={done ? "check" : "copy"} />
    </button>
  );
}
