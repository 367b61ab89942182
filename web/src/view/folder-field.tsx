// The field for a folder: recent folders, and completion of what is typed.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useEscape } from "../app/dismiss.ts";
import { useFolders } from "../app/folders.ts";
import { expandHome, suggestFolders } from "../model/folders.ts";
import { shortNames } from "../text/format.ts";
import { Icon } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

interface Props {
  value: string;
  recent: readonly string[];
  /** Folders with commands of their own that are trusted. */
  trusted: ReadonlySet<string>;
  readOnly: boolean;
  change(folder: string): void;
}

/** Number of recent folders beside the field. */
const CHIPS = 6;

export function FolderField({ value, recent, trusted, readOnly, change }: Props): VNode {
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const listed = useFolders(open ? value : undefined);
  const items = open ? suggestFolders(value, recent, listed) : [];
  useEscape(field, open, () => setOpen(false), { isLocal: true });
  const take = (folder: string) => {
    change(folder);
    setActive(-1);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    // Tab completes what is typed; without a choice, by the first folder that continues it.
    const start = expandHome(value, recent);
    const item = items[active] ?? (event.key === "Tab" && value !== "" ? items.find(({ path }) => path !== start && path.startsWith(start)) : undefined);
    if (step !== 0) {
      event.preventDefault();
      setOpen(true);
      if (items.length > 0) setActive((active + step + items.length) % items.length);
    } else if (item !== undefined && (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey && open))) {
      event.preventDefault();
      take(item.path);
    } else if (event.key === "Enter") {
      // A folder that is written to its end is chosen; the session is started by its own key.
      event.preventDefault();
      setOpen(false);
    }
  };
  return (
    <div class="folder-field">
      <label>
        <Icon name="folder" />
        <span class="sr">Folder</span>
        <input
          ref={field}
          type="text"
          class="mono"
          required
          readOnly={readOnly}
          value={value}
          placeholder="~/project"
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          role={readOnly ? undefined : "combobox"}
          aria-expanded={readOnly ? undefined : items.length > 0}
          aria-controls={readOnly ? undefined : "folder-list"}
          aria-autocomplete={readOnly ? undefined : "list"}
          aria-activedescendant={active >= 0 && items[active] !== undefined ? `folder-${active}` : undefined}
          onFocus={() => {
            // What is shown now stays: a default that arrives later would mix with what is typed.
            if (readOnly) return;
            change(value);
            setOpen(true);
          }}
          onClick={() => !readOnly && setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={readOnly ? undefined : onKeyDown}
          onInput={(event) => {
            setOpen(true);
            setActive(-1);
            change(event.currentTarget.value);
          }}
        />
      </label>
      <ul class="folder-list" id="folder-list" role="listbox" aria-label="Suggestions" hidden={items.length === 0}>
        {items.map((item, index) => (
          // The press comes before the field loses the focus, which would close the list.
          <li id={`folder-${index}`} role="option" aria-selected={index === active} onPointerDown={(event) => { event.preventDefault(); take(item.path); }}>
            <Icon name={item.kind === "recent" ? "clock" : item.kind === "repository" ? "branch" : "folder"} />
            <bdi><InOrder text={item.path} /></bdi>
            {trusted.has(item.path) && <span class="folder-note"><Icon name="shield" /> trusted</span>}
          </li>
        ))}
      </ul>
      {!readOnly && recent.length > 1 && (
        <div class="recent-folders" role="group" aria-label="Recent projects">
          {[...shortNames(recent.slice(0, CHIPS))].map(([path, name]) => (
            <button type="button" class={path === value ? "chip-button on" : "chip-button"} aria-pressed={path === value} title={path} onClick={() => change(path)}>
              <bdi><InOrder text={name} /></bdi>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
