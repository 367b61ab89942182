// Pairing of another device: a QR code that the device scans, or a link and a code to type.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { isLoopback, linkFor } from "../model/pair-link.ts";
import { getJson, postJson } from "../net/api.ts";
import { qrPath } from "../text/qr.ts";
import type { DeviceList, PairingCode } from "../wire.ts";
import { CopyButton } from "./copy.tsx";
import { Icon } from "./icons.tsx";

/** Sets of scopes to choose from. */
const ACCESS: [string, string, string[]][] = [
  ["Use", "Read, write prompts and decide requests", ["read", "prompt", "decide"]],
  ["Use freely", "Also prompt sessions in which things run unasked, run skills, and allow for a session or always", ["read", "prompt", "decide", "edit", "always"]],
  ["Only read", "Read sessions", ["read"]],
  ["Everything", "All of this, and rules, settings and devices", ["read", "prompt", "decide", "edit", "always", "admin"]],
];
const LOOK_MS = 2000;

interface Offer {
  code: PairingCode;
  until: number;
  /** Number of devices before, to see when another one is paired. */
  before: number;
}

export function PairDevice({ paired }: { paired: () => void }): VNode {
  const [access, setAccess] = useState(0);
  const [offer, setOffer] = useState<Offer | undefined>(undefined);
  const [left, setLeft] = useState(0);
  const create = () => {
    const [, , scopes] = ACCESS[access] ?? ACCESS[0]!;
    void Promise.all([postJson<PairingCode>("pair/codes", { scopes }), getJson<DeviceList>("devices")]).then(
      ([code, { items }]) => {
        setOffer({ code, until: Date.now() + code.expires_in_s * 1000, before: items.length });
        setLeft(code.expires_in_s);
      },
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  useEffect(() => {
    if (offer === undefined) return undefined;
    const tick = setInterval(() => setLeft(Math.max(0, Math.ceil((offer.until - Date.now()) / 1000))), 1000);
    const look = setInterval(() => {
      // A device that was paired in the last moment has appeared by then.
      if (Date.now() > offer.until + LOOK_MS * 2) return;
      getJson<DeviceList>("devices").then(
        ({ items }) => {
          if (items.length <= offer.before) return;
          setOffer(undefined);
          showToast("plain", "The device is paired.");
          paired();
        },
        () => undefined,
      );
    }, LOOK_MS);
    return () => {
      clearInterval(tick);
      clearInterval(look);
    };
  }, [offer]);
  if (offer === undefined) {
    return (
      <div class="pair">
        <fieldset class="segments">
          <legend>Pair a phone</legend>
          {ACCESS.map(([name, about], index) => (
            <label class={access === index ? "on" : undefined} title={about}>
              <input type="radio" name="access" checked={access === index} onChange={() => setAccess(index)} />
              {name}
            </label>
          ))}
        </fieldset>
        <p class="muted">{ACCESS[access]?.[1]}. The code works once, for a minute.</p>
        <button type="button" class="main" onClick={create}>
          <Icon name="phone" /> Show QR code
        </button>
      </div>
    );
  }
  const link = linkFor(offer.code.link, location.href);
  const { path, size } = qrPath(link);
  const isOver = left === 0;
  return (
    <div class="pair offered">
      <svg class={isOver ? "qr over" : "qr"} viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code that pairs a device">
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" shape-rendering="crispEdges" />
      </svg>
      <div class="pair-side">
        <p><strong>{isOver ? "The code has expired" : "Scan this with the phone's camera"}</strong></p>
        <p class="muted">or open the link and type the code: <code class="pair-code">{offer.code.code}</code></p>
        <p class="pair-link"><code>{link}</code> <CopyButton text={link} label="Copy the link" /></p>
        {isLoopback(link) && <p class="warn-line">This address works on this machine only. Start the server with an address that the phone can reach; docs/phone-access.md describes how.</p>}
        <p class="muted" role="timer">{isOver ? "" : `Valid for ${left} s`}</p>
        <div class="pair-actions">
          {isOver && <button type="button" class="main" onClick={create}>New code</button>}
          <button type="button" onClick={() => setOffer(undefined)}>{isOver ? "Close" : "Cancel"}</button>
        </div>
      </div>
    </div>
  );
}
