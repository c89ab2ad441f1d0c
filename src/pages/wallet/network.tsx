/** The network that the service reads, in the header: its name, its epoch, and how far the service is. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { NetworkInformation } from "#src/client/wallets.ts";
import { useData } from "../kit/data.tsx";
import { read } from "./service.ts";

const EVERY_MS = 5_000;

/** What the service last said about the network. */
export const network = signal<NetworkInformation | undefined>(undefined);

/** The name of a network by its magic. */
export function networkName(magic: number): string {
  const names: Readonly<Record<number, string>> = { 764824073: "Mainnet", 1: "Preprod", 2: "Preview", 42: "Devnet" };
  return names[magic] ?? `Test network ${magic}`;
}

/** Network id in addresses: 1 for mainnet, 0 for all others; undefined until it is known. */
export function networkId(): 0 | 1 | undefined {
  const info = network.value;
  return info && (info.network_info.network_id === "mainnet" ? 1 : 0);
}

/** The time of a slot, from that of the newest block; milliseconds since 1970. */
export function slotTime(slot: number, slotSeconds: number): number | undefined {
  const at = network.value?.network_tip ?? network.value?.node_tip;
  return at && Date.parse(at.time) + (slot - at.absolute_slot_number) * slotSeconds * 1_000;
}

/** The network, in the header. */
export function NetworkStatus() {
  const { value } = useData((signal) => read<NetworkInformation>("/network/information", {}, signal), [], {
    everyMs: EVERY_MS,
  });
  useEffect(() => {
    if (value) network.value = value;
  }, [value]);
  if (!value) return null;
  const { sync_progress: sync, node_tip: tip, network_info: { protocol_magic: magic } } = value;
  const behind = sync.status === "syncing" ? ` · ${Math.floor(sync.progress?.quantity ?? 0)}% read` : "";
  return (
    <p class="network" title={`Block ${tip.height.quantity}, slot ${tip.absolute_slot_number}`}>
      <b class={magic === 764824073 ? "" : "test"}>{networkName(magic)}</b>
      {` epoch ${tip.epoch_number}${behind}`}
    </p>
  );
}
