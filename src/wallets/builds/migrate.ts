/**
 * Wallet migration: moves all that a wallet holds to other addresses, in as few transactions as possible.
 *
 * Assumptions: a coin that can pay for a transaction of its own (a supporter) can pay for coins that cannot
 * (freeriders). A coin without assets and with less lovelace than its input costs is left behind. Each transaction
 * starts with a supporter and takes freeriders; it takes another supporter only where lovelace runs out or no freerider
 * is left, until it is full. Then no supporter could carry what is left.
 */
import { elementAt, present } from "#src/base/present.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import { byronAttributes } from "#src/cardano/byron.ts";
import { nameOf, policyOf, sumValues } from "#src/cardano/value.ts";
import { encodeTransaction, type Withdrawal } from "#src/cardano/transaction.ts";
import { largestFirst } from "#src/transaction/coinPool.ts";
import { planChange } from "#src/transaction/change.ts";
import { type Draft, drafting } from "#src/transaction/drafting.ts";
import { withLeastFee } from "#src/transaction/feeBalance.ts";
import { stableMinimum } from "#src/transaction/output.ts";
import { isSpendable, knownScripts } from "#src/transaction/signers.ts";
import type { MigrateFailure, MigrateInput, OwnAddress, OwnCoin, StakeAccount } from "#src/wallets/builds/types.ts";
import { intervalOf } from "#src/wallets/builds/validity.ts";

/** Most outputs of a transaction of a wallet migration: each but the last is as large as the ledger allows. */
const MOST_OUTPUTS = 16;
/** Bytes of an input (at most), a signature, a Byron signature without attributes, a quantity, a policy. */
const INPUT_BYTES = 40;
const SIGNATURE_BYTES = 101;
const BOOTSTRAP_BYTES = 137;
const QUANTITY_BYTES = 9;
const POLICY_BYTES = 33;

/** A transaction of the wallet migration that can still grow. */
export interface Load {
  readonly coins: readonly OwnCoin[];
  readonly draft: Draft;
  readonly outputs: number;
  /** Lovelace beyond what outputs and fee need. */
  readonly spare: bigint;
}

/** Coins in the order in which they are taken. */
export class Queue {
  private at = 0;
  constructor(private readonly coins: readonly OwnCoin[]) {}

  get left(): number {
    return this.coins.length - this.at;
  }

  peek(count = this.left): readonly OwnCoin[] {
    return this.coins.slice(this.at, this.at + count);
  }

  take(count: number): void {
    this.at += count;
  }
}

/**
 * Unsigned transactions that move everything that can be moved to `funds.change`, address after address;
 * `nothing_to_migrate` where nothing can. The first withdraws the rewards, where they cover the cost of that. Each has
 * the least fee that the ledger takes.
 */
export function migrate(
  input: MigrateInput,
): Result<readonly Uint8Array[], MigrateFailure> {
  const { funds, network, boundary } = input;
  const plain = intervalOf(input, undefined);
  if (!plain.ok) return plain;
  const packer = (place: number, withdrawals: readonly Withdrawal[] = [], until = plain.value.before) =>
    packing(input, funds.change, place, withdrawals, until);
  const coins = largestFirst(funds.coins.filter(isSpendable(knownScripts(funds.scripts))));
  const [supporters, freeriders] = classify(input, coins, packer(0));
  let load = packer(0);
  const account = withdrawable(input);
  const [first] = supporters.peek(1);
  if (account && first) {
    const withdrawal = { account: rewardAddress(network, account.credential).hex, amount: account.rewards };
    const before = boundary !== undefined && BigInt(boundary) < plain.value.before
      ? BigInt(boundary)
      : plain.value.before;
    const withdrawing = packer(0, [withdrawal], before);
    const [plainLoad, withdrawingLoad] = [load([first]), withdrawing([first])];
    const cost = isLoad(plainLoad) && isLoad(withdrawingLoad)
      ? withdrawingLoad.draft.minFee - plainLoad.draft.minFee
      : account.rewards;
    if (cost < account.rewards) load = withdrawing;
  }
  const transactions: Uint8Array[] = [];
  for (let place = 0; supporters.left > 0; load = packer(place)) {
    const full = fill(input, load, supporters, freeriders);
    if (!full) continue;
    transactions.push(full.draft.transaction);
    place += full.outputs;
  }
  if (transactions.length > 0) return ok(transactions);
  return fail(
    "nothing_to_migrate",
    "I wasn't able to construct a migration plan. This could be because your wallet is empty, or it could be because the amount of ada in " +
      "your wallet is insufficient to pay for any of the funds to be migrated. Try adding some ada to your wallet before trying again.",
  );
}

/** A transaction of these coins, or why there is none: it would be too large, or has too little lovelace. */
type PackCoins = (coins: readonly OwnCoin[]) => Load | "full" | "short";
export const isLoad = (one: ReturnType<PackCoins>): one is Load => typeof one !== "string";

/** Packs coins into a transaction whose outputs go to the targets in turn, from `place` on. */
export function packing(
  { parameters, funds }: Pick<MigrateInput, "parameters" | "funds">,
  targets: readonly OwnAddress[],
  place: number,
  withdrawals: readonly Withdrawal[],
  validTo: bigint,
): PackCoins {
  const shared = withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
  const write = drafting({
    parameters,
    inputs: [],
    references: [],
    redeemers: [],
    keys: withdrawals.length > 0 ? [present(funds.account, "the account of a withdrawal").credential.hash] : [],
    scripts: [],
    known: knownScripts(funds.scripts),
    write: ({ inputs, change: outputs, fee, nativeScripts }) =>
      encodeTransaction({ inputs, outputs, fee, validTo, withdrawals, nativeScripts }),
  });
  const to = Array.from({ length: MOST_OUTPUTS }, (_, i) => elementAt(targets, (place + i) % targets.length).address);
  return (coins) => {
    const held = sumValues(coins.map(({ utxo }) => utxo.output.value));
    const plan = planChange({ parameters, minimum: stableMinimum }, [held], shared, to);
    if (plan.total < plan.least + parameters.feeFixed) return "short";
    const { draft, change, missing } = withLeastFee(parameters, write, coins, plan);
    if (missing > 0n) return "short";
    if (draft.size > parameters.maxTxSize) return "full";
    return { coins, draft, outputs: change.length, spare: -missing };
  };
}

/** Supporters and freeriders, the richest first. Coins that are worth less than their input are neither. */
function classify({ parameters }: MigrateInput, coins: readonly OwnCoin[], load: PackCoins): readonly [Queue, Queue] {
  const [supporters, freeriders]: [OwnCoin[], OwnCoin[]] = [[], []];
  // Least lovelace of a supporter by kind of address, for coins without assets: a coin with more is one too, and need
  // not be packed.
  const supporting = new Map<string, bigint>();
  for (const coin of coins) {
    const { address, value, script } = coin.utxo.output;
    const isPlain = value.assets.size === 0 && script === undefined;
    const known = isPlain ? supporting.get(addressKind(address)) : undefined;
    if (known !== undefined && value.lovelace >= known) supporters.push(coin);
    else if (isLoad(load([coin]))) {
      supporters.push(coin);
      if (isPlain) supporting.set(addressKind(address), value.lovelace);
    } else if (isWorthItsInput(parameters, coin)) {
      freeriders.push(coin);
    }
  }
  return [new Queue(supporters), new Queue(freeriders)];
}

/** Whether a coin holds assets or a script, or more lovelace than the fee of its input. */
export function isWorthItsInput(
  { feePerByte }: Pick<MigrateInput["parameters"], "feePerByte">,
  { utxo: { output: { address, value, script } } }: OwnCoin,
): boolean {
  return value.assets.size > 0 || script !== undefined ||
    value.lovelace > feePerByte * BigInt(INPUT_BYTES + signatureBytes(address));
}

const addressKind = (address: string) => `${address[0]} ${address.length}`;

const signatureBytes = (address: string) =>
  address.startsWith("8") ? BOOTSTRAP_BYTES + byronAttributes(address).length : SIGNATURE_BYTES;

/** Fills a transaction, starting with the next supporter; undefined where the supporter alone does not fit. */
function fill(
  { parameters }: MigrateInput,
  load: PackCoins,
  supporters: Queue,
  freeriders: Queue,
): Load | undefined {
  const first = load(supporters.peek(1));
  supporters.take(1);
  if (!isLoad(first)) return undefined;
  let now = first;
  for (;;) {
    const { load: more, end } = grow(parameters, load, now, freeriders);
    now = more;
    if (end === "full") {
      if (now !== first) return now;
      // a coin with so many assets that it does not fit beside one other coin is left behind
      freeriders.take(1);
      continue;
    }
    const supported = supporters.left === 0 ? "full" as const : load([...now.coins, ...supporters.peek(1)]);
    if (!isLoad(supported)) return now;
    supporters.take(1);
    now = supported;
    if (end !== "none") continue;
    return grow(parameters, load, now, supporters).load;
  }
}

/** Adds as many coins of a queue as fit, and says what ended it. */
export function grow(
  parameters: MigrateInput["parameters"],
  load: PackCoins,
  start: Load,
  queue: Queue,
): { load: Load; end: "full" | "short" | "none" } {
  let now = start;
  for (let step = guessCount(parameters, start, queue); queue.left > 0;) {
    const count = Math.min(step, queue.left);
    const next = load([...now.coins, ...queue.peek(count)]);
    if (isLoad(next)) {
      now = next;
      queue.take(count);
      step = guessCount(parameters, now, queue);
    } else {
      if (count === 1) return { load: now, end: next };
      step = count >> 1;
    }
  }
  return { load: now, end: "none" };
}

/**
 * Estimates how many more coins fit, from the bytes and lovelace that each adds, without writing a transaction for
 * each.
 */
function guessCount({ maxTxSize, feePerByte, utxoCostPerByte }: MigrateInput["parameters"], load: Load, queue: Queue) {
  const known = new Set(load.coins.flatMap(({ utxo: { output } }) => [
    output.address,
    ...[...output.value.assets.keys()].flatMap((asset) => [asset, policyOf(asset)]),
  ]));
  const isNew = (one: string) => !known.has(one) && known.add(one) !== undefined;
  let freeBytes = maxTxSize - load.draft.size;
  let { spare } = load;
  let count = 0;
  for (const { utxo: { output: { address, value } } } of queue.peek()) {
    let held = 0;
    for (const asset of value.assets.keys()) {
      if (isNew(policyOf(asset))) held += POLICY_BYTES;
      if (isNew(asset)) held += QUANTITY_BYTES + nameOf(asset).length / 2 + 1;
    }
    const bytes = held + INPUT_BYTES - 4 + (isNew(address) ? signatureBytes(address) : 0);
    freeBytes -= bytes;
    spare += value.lovelace - feePerByte * BigInt(bytes) - utxoCostPerByte * BigInt(held);
    if (freeBytes < 0 || spare < 0n) break;
    count++;
  }
  return Math.max(1, count);
}

/** The account, where its rewards can be withdrawn. */
function withdrawable({ funds: { account }, parameters }: MigrateInput): StakeAccount | undefined {
  if (!account?.registered || account.rewards <= 0n || account.credential.kind !== "key") return undefined;
  return parameters.protocolVersion.major >= 10 && !account.drep ? undefined : account;
}
