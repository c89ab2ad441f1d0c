/**
 * The events of wallets with what they change, so that a subscriber can keep every balance from events alone.
 *
 * An event has at most 8,000 bytes of JSON: assets that do not fit one follow in events of their own (ASSETS).
 */
import type { Json } from "#src/base/json.ts";
import { addressText, hexAddressText, readAddressHex } from "#src/cardano/address.ts";
import type { ScannedBlock, ScannedTransaction, Tip } from "#src/cardano/block.ts";
import type { Output } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { addAssets, type Assets, noAssets, type Value, ValueSum } from "#src/cardano/value.ts";
import type { OwnSide, WalletEffect } from "#src/wallets/index/walletEffect.ts";

type WalletEvent = Touched["event"];
type Members = { readonly [field: string]: Json };

/** Bytes of JSON for assets in an event that has other members, and in one of assets alone. */
const FIRST_BYTES = 3_500;
const PART_BYTES = 7_000;
/** Bytes of JSON for the addresses that received. */
const RECEIVED_BYTES = 3_000;

/** The member `block` of an event. */
export function blockOf({ slot, hash, height }: Tip): Members {
  return { slot, hash, height };
}

/**
 * RESTORED or ROLLED_BACK with the whole balance of a wallet, then its other assets. `head` has the other members of
 * the first, `life` the wallet's incarnation.
 */
export function balanceEvents(
  head: WalletEvent & { readonly slot: number },
  { lovelace, assets }: Value,
  life: Members,
): WalletEvent[] {
  return withAssets({ ...head, lovelace: String(lovelace) }, assets, life);
}

/** TRANSACTION with its effect on a wallet, then the changes of its other assets. */
export function transactionEvents(
  { hash }: Pick<ScannedTransaction, "hash">,
  block: ScannedBlock,
  own: OwnSide,
  effect: WalletEffect,
  life: Members,
): WalletEvent[] {
  const { net, fee, depositTaken, depositReturned, ownWithdrawal } = effect;
  const { received, leftOut } = receivedIn(own);
  const head = {
    type: "TRANSACTION",
    slot: block.slot,
    hash,
    direction: net < 0n ? "outgoing" : "incoming",
    amount: String(net < 0n ? -net : net),
    block: blockOf(block),
    lovelace: String(net + ownWithdrawal),
    ...(fee === undefined ? {} : { fee: String(fee) }),
    ...(depositTaken === 0n ? {} : { depositTaken: String(depositTaken) }),
    ...(depositReturned === 0n ? {} : { depositReturned: String(depositReturned) }),
    ...(ownWithdrawal === 0n ? {} : { withdrawal: String(ownWithdrawal) }),
    ...(received.length === 0 ? {} : { received }),
    ...(leftOut === 0 ? {} : { receivedLeftOut: leftOut }),
  };
  return withAssets(head, assetsIn(own), life);
}

/** What the assets of a wallet change by. */
function assetsIn({ inputs, outputs }: OwnSide): Assets {
  let sum = noAssets;
  for (const { value } of outputs.values()) sum = addAssets(sum, value.assets);
  for (const { value } of inputs.values()) sum = addAssets(sum, value.assets, -1n);
  return sum;
}

/** The wallet's addresses with outputs, in the outputs' order, as many as fit. */
function receivedIn({ outputs }: OwnSide): { readonly received: Members[]; readonly leftOut: number } {
  const sums = new Map<string, ValueSum>();
  for (const { address, value } of outputs.values()) {
    let sum = sums.get(address);
    if (!sum) sums.set(address, sum = new ValueSum());
    sum.add(value);
  }
  const received: Members[] = [];
  let left = RECEIVED_BYTES;
  for (const [address, { lovelace, assets }] of sums) {
    // the text of an address is shorter than its bytes in hexadecimal with a prefix
    const size = 60 + address.length + [...assets].reduce((sum, entry) => sum + entrySize(entry), 0);
    if (size > left) continue;
    left -= size;
    received.push({
      address: textOf(address),
      lovelace: String(lovelace),
      ...(assets.size === 0 ? {} : { assets: membersOf([...assets]) }),
    });
  }
  return { received, leftOut: sums.size - received.length };
}

/** Text of an output's address; its bytes in hexadecimal where it is none that has a text. */
function textOf(hex: Output["address"]): string {
  const text = hexAddressText(hex);
  if (text !== undefined) return text;
  const read = readAddressHex(hex);
  return read.ok ? addressText(read.value) : hex;
}

type Entry = readonly [asset: string, quantity: bigint];

/** Bytes of an entry in JSON: two texts in quotes, with a colon and a comma. */
const entrySize = ([asset, quantity]: Entry) => asset.length + String(quantity).length + 6;

const membersOf = (entries: readonly Entry[]): Members =>
  Object.fromEntries(entries.map(([asset, quantity]) => [asset, String(quantity)]));

/** An event with as many assets as fit, then events with the others; in ascending order of their ids. */
function withAssets(head: WalletEvent & { readonly slot: number }, assets: Assets, life: Members): WalletEvent[] {
  if (assets.size === 0) return [{ ...head, ...life }];
  const parts: Entry[][] = [[]];
  let left = FIRST_BYTES;
  for (const entry of [...assets].sort(([a], [b]) => a < b ? -1 : 1)) {
    const size = entrySize(entry);
    if (size > left) {
      parts.push([]);
      left = PART_BYTES;
    }
    left -= size;
    parts[parts.length - 1]?.push(entry);
  }
  return parts.map((entries, i) => ({
    ...(i === 0 ? head : { type: "ASSETS", slot: head.slot }),
    assets: membersOf(entries),
    ...(i < parts.length - 1 ? { following: parts.length - 1 - i } : {}),
    ...life,
  }));
}
