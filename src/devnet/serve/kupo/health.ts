/** The health of Kupo: how far it has read the chain. */
import { VERSION } from "#src/base/version.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { KupoState } from "#src/devnet/index/kupo/points.ts";

/** Health as JSON. */
export interface Health {
  readonly connection_status: "connected" | "disconnected";
  readonly most_recent_checkpoint: number | null;
  readonly most_recent_node_tip: number | null;
  readonly seconds_since_last_block: number | null;
  readonly network_synchronization: number | null;
  readonly configuration: { readonly indexes: "installed" };
  readonly version: string;
}

/** The health for a state; undefined: the database is away. */
export function healthOf(devnet: Pick<Devnet, "network" | "slot">, state: KupoState | undefined): Health {
  const { slots } = devnet.network;
  const checkpoint = state?.checkpoint?.slot;
  const tip = state?.tip;
  // the devnet's clock, which may run ahead of the machine's
  const since = checkpoint === undefined
    ? null
    : Math.max(0, Math.floor((slotTime(slots, devnet.slot()) - slotTime(slots, checkpoint)) / 1_000));
  return {
    connection_status: state === undefined ? "disconnected" : "connected",
    most_recent_checkpoint: checkpoint ?? null,
    most_recent_node_tip: tip ?? null,
    seconds_since_last_block: since,
    network_synchronization: state === undefined ? null : synchronization(checkpoint, tip),
    configuration: { indexes: "installed" },
    version: VERSION,
  };
}

/** How much of the chain is read, with five decimals; a chain without blocks is read. */
function synchronization(checkpoint: number | undefined, tip: number | undefined): number {
  if (tip === undefined || checkpoint === tip) return 1;
  return Math.floor(((checkpoint ?? 0) / Math.max(1, tip)) * 100_000) / 100_000;
}

/** The status of an answer with some health. */
export function healthStatus(health: Health): 200 | 202 | 503 {
  if (health.connection_status === "disconnected") return 503;
  return health.network_synchronization === 1 ? 200 : 202;
}

/** The form of health that a header `Accept` names; without it JSON; undefined for other types. */
export function healthForm(accept: string | undefined): "json" | "prometheus" | undefined {
  if (accept === undefined || accept === "") return "json";
  if (accept.includes("text/plain") || accept.includes("*/*")) return "prometheus";
  return accept.includes("application/json") ? "json" : undefined;
}

/** Health in the text format of Prometheus; what is unknown is left out. */
export function healthMetrics(health: Health): string {
  const metrics: readonly (readonly [name: string, type: string, value: number | null])[] = [
    ["configuration_indexes", "gauge", 1],
    ["connection_status", "gauge", health.connection_status === "connected" ? 1 : 0],
    ["most_recent_checkpoint", "counter", health.most_recent_checkpoint],
    ["most_recent_node_tip", "counter", health.most_recent_node_tip],
    ["network_synchronization", "gauge", health.network_synchronization],
    ["seconds_since_last_block", "gauge", health.seconds_since_last_block],
  ];
  return metrics.filter(([, , value]) => value !== null).map(([name, type, value]) =>
    // counters are integers, gauges have a point
    `# TYPE kupo_${name} ${type}\nkupo_${name}  ${value}${type === "gauge" && Number.isInteger(value) ? ".0" : ""}\n`
  ).join("\n");
}
