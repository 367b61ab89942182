// Pictures that a tool read or created. They are part of the events: nothing is fetched for them.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { picturesOf } from "../model/pictures.ts";
import type { Picture } from "../model/pictures.ts";
import type { JsonValue } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

export function Pictures({ account, about }: { account: JsonValue | undefined; about: string }): VNode | null {
  const found = picturesOf(account);
  if (found.length === 0) return null;
  return (
    <div class="pictures">
      {found.map((picture, index) => (
        <Drawn key={index} picture={picture} about={about} />
      ))}
    </div>
  );
}

export function Drawn({ picture, about }: { picture: Picture; about: string }): VNode | null {
  const [url, setUrl] = useState<string | undefined>(undefined);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const made = urlOf(picture);
    setUrl(made);
    setBroken(made === undefined);
    return () => {
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [picture.base64]);
  if (broken) return <p class="muted">This picture cannot be displayed</p>;
  return url === undefined ? null : <Thumbnail url={url} about={about} failed={() => setBroken(true)} />;
}

/** A small version that opens the picture in its own size. */
function Thumbnail({ url, about, failed }: { url: string; about: string; failed: () => void }): VNode {
  const box = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    if (open) box.current?.showModal();
  }, [open]);
  const close = () => box.current?.close();
  return (
    <>
      <button type="button" class="thumbnail" title="Open the picture" onClick={() => setOpen(true)}>
        <img src={url} alt={`Picture: ${about}`} onError={failed} />
      </button>
      {open && (
        <dialog class="picture-view" ref={box} aria-label={`Picture: ${about}`} onClose={() => { setOpen(false); setWhole(false); }} onClick={(event) => event.target === box.current && close()} onKeyDown={(event) => event.stopPropagation()}>
          <header>
            <span class="cut"><InOrder text={about} /></span>
            <button type="button" class="small" onClick={() => setWhole(!isWhole)}>
              {isWhole ? "Fit to the window" : "Original size"}
            </button>
            <a class="button small" href={url} download={nameOf(about)}>
              Save
            </a>
            <button type="button" class="ghost" aria-label="Close the picture" onClick={close}>
              <Icon name="cross" />
            </button>
          </header>
          <div class={isWhole ? "picture-box whole" : "picture-box"} tabIndex={0} role="group" aria-label="Picture">
            <img src={url} alt="" />
          </div>
        </dialog>
      )}
    </>
  );
}

function nameOf(about: string): string {
  return about.split("/").at(-1)?.replaceAll(/[^\w.-]+/g, "-") || "picture";
}

/** A blob address: the page's content security policy allows no other. */
function urlOf({ type, base64 }: Picture): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type }));
  } catch {
    return undefined;
  }
}
