// Pictures that a tool read or created. They are part of the events: nothing is fetched for them.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { picturesOf } from "../model/pictures.ts";
import type { Picture } from "../model/pictures.ts";
import type { JsonValue } from "../wire.ts";

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
  return url === undefined ? null : <img src={url} alt={`Picture: ${about}`} onError={() => setBroken(true)} />;
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
