// Paired devices: their scopes, when they were last seen, and their removal; and pairing of another one.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { now } from "../app/clock.ts";
import { useFetched } from "../app/fetched.ts";
import { loadDevice } from "../app/local-data.ts";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { send } from "../net/api.ts";
import { age, baseName } from "../text/format.ts";
import type { Device, DeviceList } from "../wire.ts";
import { Bones } from "./blank.tsx";
import { Failed } from "./failed.tsx";
import { PairDevice } from "./pair-device.tsx";
import { InOrder } from "./revealed.tsx";

export function Devices(): VNode {
  const [gone, setGone] = useState<readonly string[]>([]);
  const { value, problem, again } = useFetched<DeviceList>("devices");
  const revoke = (device: Device) => {
    send("DELETE", `devices/${encodeURIComponent(device.id)}`).then(
      () => setGone([...gone, device.id]),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  const grant = (device: Device) => {
    send("PATCH", `devices/${encodeURIComponent(device.id)}`, { scopes: ["always"] }).then(
      () => again(),
      (error: unknown) => showToast("error", errorText(error)),
    );
  };
  const devices = value?.items.filter(({ id }) => !gone.includes(id));
  return (
    <>
      <PairDevice paired={again} />
      {problem !== "" && <Failed problem={problem} again={again} />}
      {devices === undefined && problem === "" && <Bones count={2} label="Loading devices" />}
      <ul class="devices">
        {devices?.map((device) => (
          <Row key={device.id} device={device} grant={() => grant(device)} revoke={() => revoke(device)} />
        ))}
      </ul>
    </>
  );
}

function Row({ device, grant, revoke }: { device: Device; grant: () => void; revoke: () => void }): VNode {
  const [sure, setSure] = useState(false);
  const canBeFreer = device.scopes.includes("prompt") && !device.scopes.some((scope) => scope === "always" || scope === "admin");
  const isThis = device.id === loadDevice();
  const seen = device.last_seen == null ? "never seen" : age(device.last_seen, now.value) === "now" ? "seen now" : `seen ${age(device.last_seen, now.value)} ago`;
  return (
    <li>
      <span>
        <strong>
          <InOrder text={device.name} />
        </strong>
        {isThis && <span class="this-device">this device</span>}
        <span class="device-scopes">
          {device.scopes.map((scope) => <span class={scope === "admin" ? "chip strong" : "chip"}>{scope}</span>)}
          {device.folders?.map((folder) => <span class="chip" title={folder}>only {baseName(folder)}</span>)}
        </span>
        <span class="muted">
          {seen}, paired {device.created.slice(0, 10)}{device.expires != null && `, expires ${device.expires.slice(0, 10)}`}
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
        <span class="device-sure">
          {canBeFreer && (
            <button type="button" title="Lets it prompt sessions in which things run unasked, run skills, and allow for a session or always" onClick={grant}>
              Let it use freely
            </button>
          )}
          <button type="button" class="no" onClick={() => setSure(true)}>
            Revoke…
          </button>
        </span>
      )}
    </li>
  );
}
