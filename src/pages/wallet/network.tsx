/** The network that the service reads: its name, epoch and synchronisation in the header, and times of slots for other views. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { z } from "zod";
import type * as networkApi from "#src/wallets/api/network.ts";
import type { NetworkInformation } from "#src/client/wallets.ts";
import { useData } from "../kit/data.tsx";
import { now, span } from "../kit/time.tsx";
import { read } from "./service.ts";

type NetworkParameters = z.output<typeof networkApi.networkParameters>;

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

/** Seconds of a slot; undefined until they are known. */
const slotSeconds = signal<number | undefined>(undefined);

/** The time of a slot, from that of the newest block, in milliseconds since 1970; undefined until it is known. */
export function slotTime(slot: number): number | undefined {
  const at = network.value?.network_tip ?? network.value?.node_tip;
  const seconds = slotSeconds.value;
  return at && seconds && Date.parse(at.time) + (slot - at.absolute_slot_number) * seconds * 1_000;
}

/** A slot's time in words, to the minute; undefined until it is known. */
export function slotTimeText(slot: number): string | undefined {
  const at = slotTime(slot);
  return at === undefined
    ? undefined
    : new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** The first slot at a time or later, in milliseconds since 1970; undefined until it is known. All slots count as long as today's. */
export function slotAt(ms: number): number | undefined {
  const seconds = slotSeconds.value;
  const first = slotTime(0);
  return first === undefined || !seconds ? undefined : Math.ceil((ms - first) / (seconds * 1_000));
}

/** After so many milliseconds without a block the page says so: rare where a block comes every 20 s. */
const QUIET_MS = 120_000;

/** Text for a transaction that is accepted and not in a block yet. */
export function pendingText(): string {
  const tip = network.value?.node_tip.time;
  const quiet = tip === undefined ? 0 : now.value - Date.parse(tip);
  return quiet > QUIET_MS
    ? `The network has it, but its newest block is ${span(quiet)} old. It waits for the next one.`
    : "The network has it. A block takes it within a minute, usually.";
}

/** The network, in the header. */
export function NetworkStatus() {
  const { value } = useData((signal) => read<NetworkInformation>("/network/information", {}, signal), [], {
    everyMs: EVERY_MS,
  });
  const parameters = useData((signal) => read<NetworkParameters>("/network/parameters", {}, signal), []);
  useEffect(() => {
    if (value) network.value = value;
  }, [value]);
  useEffect(() => {
    if (parameters.value) slotSeconds.value = parameters.value.slot_length.quantity;
  }, [parameters.value]);
  if (!value) return null;
  const { sync_progress: sync, node_tip: tip, network_info: { protocol_magic: magic } } = value;
  const behind = sync.status === "syncing" ? ` · ${Math.floor(sync.progress?.quantity ?? 0)}% read` : "";
  return (
    <p class="network" title={`Block ${tip.height.quantity}, slot ${tip.absolute_slot_number}`}>
      <b class={magic === 764824073 ? "" : "test"}>{networkName(magic)}</b>
      <span class="epoch">{` epoch ${tip.epoch_number}`}</span>
      {behind}
    </p>
  );
}
