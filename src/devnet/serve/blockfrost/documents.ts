/** Parts that documents of several groups have in common. */
import { toHex } from "#src/base/bytes.ts";
import { addressText, hexAddressText, type NetworkId, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { poolId } from "#src/cardano/poolId.ts";
import { drepId, parseDrepId } from "#src/cardano/drepId.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import type { IndexedAsset, IndexedOutput } from "#src/devnet/index/reads/outputs.ts";
import { drepKey, parseCredentialKey } from "#src/ledger/state.ts";

/** An amount of a unit; `lovelace`, or policy and name in hexadecimal. */
export interface Amount {
  readonly unit: string;
  readonly quantity: string;
}

/** Lovelace first, then assets by unit. */
export function amounts(lovelace: bigint | string, assets: readonly IndexedAsset[] | null = []): Amount[] {
  return [{ unit: "lovelace", quantity: String(lovelace) }, ...assets ?? []];
}

/** Text of an address from its bytes in hexadecimal. */
export function textOfAddress(hex: string): string {
  const text = hexAddressText(hex);
  if (text !== undefined) return text;
  const address = readAddressHex(hex);
  return address.ok ? addressText(address.value) : hex;
}

/** Text of the reward address of a credential key. */
export function textOfAccount(network: NetworkId, credential: string): string {
  return addressText(rewardAddress(network, parseCredentialKey(credential)));
}

/** Text of a pool's id. */
export const textOfPool = poolId;

/** Representatives that always exist, as db-sync and Blockfrost write them, by the index's names. */
const ALWAYS: ReadonlyMap<string, string> = new Map([
  ["abstain", "drep_always_abstain"],
  ["no confidence", "drep_always_no_confidence"],
]);

/** Text of a representative, from the index's key. */
export function textOfRepresentative(key: string): string {
  return ALWAYS.get(key) ?? drepId(parseCredentialKey(key));
}

/** The index's key of a representative; undefined where the text is none. */
export function representativeOf(text: string): string | undefined {
  const always = [...ALWAYS].find(([, name]) => name === text);
  const drep = always || text === "abstain" || text === "no_confidence" ? undefined : parseDrepId(text);
  return always?.[0] ?? (drep && drepKey(drep));
}

/** When a slot begins, in seconds since 1970, rounded down. */
export function secondsOf({ network: { slots } }: Pick<Genesis, "network">, slot: number | bigint): number {
  return Math.floor(slotTime(slots, Number(slot)) / 1_000);
}

/** Members about an output that all lists of outputs have. */
export function outputMembers(output: IndexedOutput) {
  return {
    address: textOfAddress(output.address),
    amount: amounts(output.lovelace, output.assets),
    data_hash: output.datum_hash,
    inline_datum: output.datum && toHex(new Uint8Array(output.datum)),
    reference_script_hash: output.script_hash,
  };
}

/** The hash under which explorers know the block that the genesis is: that of the Byron genesis. */
export function genesisBlock(genesis: Genesis): string {
  let hash = hashes.get(genesis);
  if (hash === undefined) hashes.set(genesis, hash = byronHash(genesis));
  return hash;
}
const hashes = new WeakMap<Genesis, string>();
