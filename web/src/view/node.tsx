// Servers of the fleet: the mark of a session that runs on another one, and the choice for a new session.

import type { VNode } from "preact";
import { useFetched } from "../app/fetched.ts";
import { now } from "../app/clock.ts";
import { meta } from "../app/store.ts";
import { age } from "../text/format.ts";
import type { FleetStatus, SessionView } from "../wire.ts";
import { Icon } from "./icons.tsx";
import { Select } from "./select.tsx";

/** True if the server is one of a fleet. */
export function isInFleet(): boolean {
  return meta.value?.capabilities.includes("fleet") === true;
}

export function NodeMark({ session }: { session: SessionView }): VNode | null {
  if (session.node === undefined) return null;
  const { unreachable, behind } = session;
  const missing = behind === undefined ? "" : `; ${behind} of its events are not here yet`;
  if (unreachable === undefined) return <span class="origin" title={`Runs on the server ${session.node}${missing}`}><Icon name="globe" />{session.node}{behind === undefined ? "" : ` (${behind} behind)`}</span>;
  const since = unreachable === "" ? "" : `, last heard of ${age(unreachable, now.value)} ago`;
  return <span class="origin" title={`The server ${session.node} is not connected${since}${missing}`}><Icon name="alert" />{session.node} unreachable{behind === undefined ? "" : ` (${behind} behind)`}</span>;
}

/** The server for a new session: this one, a named one, or any. A hub runs no agents itself. */
export function NodeField({ value, change }: { value: string | undefined; change(node: string | undefined): void }): VNode | null {
  const fleet = useFetched<FleetStatus>(isInFleet() ? "fleet" : undefined).value;
  if (fleet === undefined) return null;
  const open = fleet.nodes.filter((node) => !node.is_hub && node.is_reachable && !node.draining);
  const isHub = fleet.nodes.some((node) => node.name === fleet.node && node.is_hub);
  const others = open.filter((node) => node.name !== fleet.node);
  if (others.length === 0) return null;
  const labels = (node: (typeof open)[number]) => Object.entries(node.labels).map(([name, text]) => `${name}=${text ?? ""}`).join(", ");
  const options = [
    ...(isHub ? [] : [{ value: "", label: `${fleet.node} (this server)`, about: "" }]),
    { value: "*", label: "Any server", about: "The one with the fewest agents" },
    ...others.map((node) => ({ value: node.name, label: node.name, about: labels(node) })),
  ];
  return <Select label="Server" icon="globe" value={value ?? (isHub ? "*" : "")} options={options} choose={(node) => change(node === "" ? undefined : node)} />;
}

/** The query of a request for a new session. */
export function placement(node: string | undefined): string {
  const fallback = meta.value?.claude === undefined && meta.value?.demo !== true && isInFleet() ? "*" : undefined;
  const chosen = node ?? fallback;
  return chosen === undefined ? "" : `?node=${encodeURIComponent(chosen)}`;
}
