/** Times in documents of the Blockfrost API: whole seconds since 1970. */
import { slotTime } from "#src/cardano/parameters.ts";
import type { Devnet } from "#src/devnet/devnet.ts";

/** When a slot begins. */
export function secondsOf({ network }: Pick<Devnet, "network">, slot: number): number {
  return Math.floor(slotTime(network.slots, slot) / 1_000);
}
