// Preferences, paired devices, and keyboard shortcuts.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { claudeName, hasClaude } from "../app/agents.ts";
import { loadDevice } from "../app/local-data.ts";
import { wantNotifications } from "../app/notify.ts";
import type { Theme } from "../app/prefs.ts";
import { prefs, setPref } from "../app/prefs.ts";
import { href } from "../app/route.ts";
import { hasScope, meta, errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { getJson, send } from "../net/api.ts";
import type { Device, DeviceList } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { KeyList } from "./keys.tsx";
import { NotifyRules } from "./notify-rules.tsx";
import { NotifyTargets } from "./notify-targets.tsx";
import { PushSection } from "./push.tsx";
import { InOrder } from "./revealed.tsx";

export function Settings(): VNode {
  const { theme, notify, showAll } = prefs.value;
  const change = (wanted: boolean) => {
    void wantNotifications(wanted).then((granted) => {
      if (wanted && !granted) showToast("error", "The browser does not allow notifications for this page.");
    });
  };
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>Settings</h2>
      </header>
      <div class="form">
        <fieldset class="segments">
          <legend>Colours</legend>
          {(["auto", "light", "dark"] satisfies Theme[]).map((one) => (
            <label class={theme === one ? "on" : undefined}>
              <input type="radio" name="theme" checked={theme === one} onChange={() => setPref("theme", one)} />
              {one === "auto" ? "Like the system" : one === "light" ? "Light" : "Dark"}
            </label>
          ))}
        </fieldset>
        <label class="check">
          <input type="checkbox" checked={notify} onChange={(event) => change(event.currentTarget.checked)} /> Notify me about pending requests and ended turns
        </label>
        <label class="check">
          <input type="checkbox" checked={showAll} onChange={(event) => setPref("showAll", event.currentTarget.checked)} /> Show notes that are meant for logs
        </label>
        <PushSection />
        <NotifyRules />
        {hasScope("admin") && <NotifyTargets />}
        {hasScope("admin") && <Devices />}
        <section class="for-keys">
          <h3>Keys</h3>
          <KeyList />
        </section>
        <p class="muted">
          Tidings {meta.value?.version ?? ""}
          {hasClaude.value ? `, ${claudeName.value}` : ", no Claude Code was found"}
          {meta.value !== undefined && `, you are ${meta.value.you.name} (${meta.value.you.scopes.join(", ")})`}
        </p>
      </div>
    </div>
  );
}

function Devices(): VNode {
  const [devices, setDevices] = useState<readonly Device[] | undefined>(undefined);
  useEffect(() => {
    getJson<DeviceList>("devices").then(
      (list) => setDevices(list.items),
      () => setDevices([]),
    );
  }, []);
  const revoke = (device: Device) => {
    send("DELETE", `devices/${encodeURIComponent(device.id)}`).then(
      () => setDevices(devices?.filter((other) => other.id !== device.id)),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  return (
    <section>
      <h3>Devices</h3>
      <p class="muted">
        Pair a phone with <code>tidings pair</code>, which shows a QR code.
      </p>
      <ul class="devices">
        {devices?.map((device) => (
          <Row key={device.id} device={device} revoke={() => revoke(device)} />
        ))}
      </ul>
    </section>
  );
}

function Row({ device, revoke }: { device: Device; revoke: () => void }): VNode {
  const [sure, setSure] = useState(false);
  const isThis = device.id === loadDevice();
  return (
    <li>
      <span>
        <strong>
          <InOrder text={device.name} />
        </strong>
        {isThis && <span class="this-device">this device</span>}
        <span class="muted">
          {device.scopes.join(", ")}, since {device.created.slice(0, 10)}
        </span>
        {sure && <span class="warn-line">{isThis ? "This browser would be signed out at once, and unsent prompts would be lost." : "It would be signed out at once."}</span>}
      </span>
      {sure ? (
        <span class="device-sure">
          <button type="button" class="no main" onClick={revoke}>
            Really revoke
          </button>
          <button type="button" onClick={() => setSure(false)}>
            Keep
          </button>
        </span>
      ) : (
        <button type="button" class="no" onClick={() => setSure(true)}>
          Revoke…
        </button>
      )}
    </li>
  );
}
