/**
 * A plain model of wallets, for the tests of their index: a wallet's credentials are hashes of its account's name and
 * an index, and its holdings come from reading all blocks from its start on.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { created, type Point, type ScannedBlock, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { encodeOutput } from "#src/cardano/transaction.ts";
import type { Value } from "#src/cardano/value.ts";
import type { CredentialRange } from "#src/wallets/index/types.ts";

const hash28 = (text: string) => toHex(sha256(utf8(text)).slice(0, 28));

/** Payment key hash of an account at an index. */
export const keyAt = (account: string, role: number, index: number) => hash28(`${account}/${role}/${index}`);
export const stakeKey = (account: string) => hash28(`${account} stake`);
export const baseAddress = (account: string, role: number, index: number) =>
  `00${keyAt(account, role, index)}${stakeKey(account)}`;

/** Derives like `keyAt`; `asked` counts the calls. */
export function deriver() {
  const state = { orders: 0, keys: 0 };
  const derive = ({ account, role, from, count }: CredentialRange) => {
    state.orders++;
    state.keys += count;
    return Promise.resolve(Array.from({ length: count }, (_, i) => `key-${keyAt(account as string, role, from + i)}`));
  };
  return { derive, state };
}

/** A transaction's parts; no ledger validates them. */
export interface Parts {
  readonly inputs: readonly OutRef[];
  readonly outputs: readonly { readonly address: string; readonly value: Value }[];
  readonly fee: bigint;
  readonly collateral?: readonly OutRef[];
  readonly collateralReturn?: { readonly address: string; readonly value: Value };
  readonly totalCollateral?: bigint;
  /** Lovelace by reward account in hexadecimal. */
  readonly withdrawals?: ReadonlyMap<string, bigint>;
  readonly certificates?: readonly Encodable[];
  /** Deposits of the governance actions that it proposes. */
  readonly proposals?: readonly bigint[];
  readonly donation?: bigint;
  readonly valid?: boolean;
  readonly validTo?: number;
}

/** CBOR of a whole transaction. */
export function transactionOf(parts: Parts): Uint8Array {
  const refs = (list: readonly OutRef[]) => new Tagged(258, list.map(({ txHash, index }) => [fromHex(txHash), index]));
  const body = new Map<Encodable, Encodable>([
    [0, refs(parts.inputs)],
    [1, parts.outputs.map((output) => new Encoded(encodeOutput(output)))],
    [2, parts.fee],
  ]);
  if (parts.validTo !== undefined) body.set(3, parts.validTo);
  if (parts.certificates?.length) body.set(4, new Tagged(258, parts.certificates));
  if (parts.withdrawals?.size) {
    body.set(5, new Map([...parts.withdrawals].map(([account, amount]) => [fromHex(account), amount])));
  }
  if (parts.collateral) body.set(13, refs(parts.collateral));
  if (parts.collateralReturn) body.set(16, new Encoded(encodeOutput(parts.collateralReturn)));
  if (parts.totalCollateral !== undefined) body.set(17, parts.totalCollateral);
  if (parts.proposals) body.set(20, new Tagged(258, parts.proposals.map((deposit) => [deposit, null, [6], null])));
  if (parts.donation !== undefined) body.set(22, parts.donation);
  return encode([body, new Map(), parts.valid ?? true, null]);
}

export interface ModelWallet {
  readonly wallet: string;
  readonly account: string;
  readonly gap: number;
  readonly start: Point;
}

/** The expected content of the index for a wallet. */
export interface ModelState {
  /** By role: the end of the address pool, and the used indices in order. */
  readonly pools: readonly { readonly size: number; readonly used: readonly number[] }[];
  readonly utxos: readonly string[];
  /** By asset, lovelace as '': the quantities of everything that it ever held. */
  readonly holdings: Readonly<Record<string, bigint>>;
  readonly transactions: readonly {
    readonly hash: string;
    readonly slot: number;
    readonly net: bigint;
    readonly fee: bigint | undefined;
    readonly taken: bigint;
    readonly returned: bigint;
    readonly withdrawal: bigint | undefined;
  }[];
}

/** Reads blocks for a wallet. */
export function replayWallet({ account, gap, start }: ModelWallet, blocks: readonly ScannedBlock[]): ModelState {
  const used = [new Set<number>(), new Set<number>()];
  const sizes = [gap, gap];
  const places = new Map<string, readonly [number, number]>();
  const derived = [0, 0];
  const know = () => {
    for (const role of [0, 1]) {
      for (; derived[role]! < sizes[role]!; derived[role]!++) {
        places.set(keyAt(account, role, derived[role]!), [role, derived[role]!]);
      }
    }
  };
  const placeOf = (address: string) =>
    address.startsWith("0") || address.startsWith("6") ? places.get(address.slice(2, 58)) : undefined;
  know();
  const live = new Map<string, Value>();
  const held = new Map<string, bigint>();
  const account0 = `e0${stakeKey(account)}`;
  const transactions: ModelState["transactions"][number][] = [];
  const count = (value: Value, sign: bigint) => {
    held.set("", (held.get("") ?? 0n) + sign * value.lovelace);
    for (const [asset, quantity] of value.assets) held.set(asset, (held.get(asset) ?? 0n) + sign * quantity);
  };
  for (const block of blocks) {
    if (block.slot <= start.slot) continue;
    // repeats as long as something is found
    for (let before = -1; before !== sizes[0]! + sizes[1]!;) {
      before = sizes[0]! + sizes[1]!;
      for (const { output } of block.transactions.flatMap(created)) {
        const place = placeOf(output.address);
        if (!place) continue;
        used[place[0]]!.add(place[1]);
        sizes[place[0]] = Math.max(sizes[place[0]]!, Math.max(...used[place[0]]!) + 1 + gap);
      }
      know();
    }
    for (const transaction of block.transactions) {
      let net = 0n;
      let concerns = false;
      let own = 0;
      for (const ref of spent(transaction).map(refKey)) {
        const value = live.get(ref);
        if (!value) continue;
        live.delete(ref);
        count(value, -1n);
        net -= value.lovelace;
        concerns = true;
        own++;
      }
      for (const { ref, output } of created(transaction)) {
        if (!placeOf(output.address)) continue;
        live.set(refKey(ref), output.value);
        count(output.value, 1n);
        net += output.value.lovelace;
        concerns = true;
      }
      const { taken, returned, mine } = depositsOf(transaction, account, own > 0);
      const withdrawals = transaction.valid ? transaction.withdrawals : new Map<string, bigint>();
      const withdrawn = withdrawals.get(account0);
      if (!concerns && withdrawn === undefined && !mine) continue;
      net -= withdrawn ?? 0n;
      const amounts = [...withdrawals.values()];
      transactions.push({
        hash: transaction.hash,
        slot: block.slot,
        net,
        fee: transaction.valid ? transaction.fee : transaction.totalCollateral,
        taken,
        returned,
        withdrawal: amounts.length > 0 ? amounts.reduce((a, b) => a > b ? a : b) : undefined,
      });
    }
  }
  return {
    pools: [0, 1].map((role) => ({ size: sizes[role]!, used: [...used[role]!].sort((a, b) => a - b) })),
    utxos: [...live.keys()].sort(),
    holdings: Object.fromEntries([...held].sort(([a], [b]) => a < b ? -1 : 1)),
    transactions,
  };
}

/** Deposit of a certificate that states none. */
export const KEY_DEPOSIT = 2_000_000n;

function depositsOf(transaction: ScannedTransaction, account: string, pays: boolean) {
  let taken = 0n;
  let returned = 0n;
  let mine = false;
  for (const certificate of transaction.valid ? transaction.certificates : []) {
    if (certificate.kind !== "register" && certificate.kind !== "unregister" && certificate.kind !== "delegate") {
      continue;
    }
    const own = certificate.credential.hash === stakeKey(account);
    mine ||= own;
    if (!own && !pays) continue;
    if (certificate.kind === "register") taken += certificate.deposit ?? KEY_DEPOSIT;
    if (certificate.kind === "unregister") returned += certificate.refund ?? KEY_DEPOSIT;
  }
  return { taken, returned, mine };
}
