/**
 * Moving all that a wallet holds to other addresses, in as few transactions as do.
 *
 * Hypotheses: an output that can pay for a transaction of its own (a supporter) can pay for others that cannot (freeriders); one that holds
 * nothing but less lovelace than its input costs is worth nothing to anybody. Each transaction begins with a supporter, takes freeriders along,
 * and another supporter only where lovelace runs out or no freerider is left, until it is full. What then is left no supporter could carry.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import { byronAttributes } from "#src/cardano/byron.ts";
import { nameOf, policyOf, sumValues } from "#src/cardano/value.ts";
import { encodeTransaction, type Withdrawal } from "#src/cardano/transaction.ts";
import { planChange } from "#src/transaction/change.ts";
import { type Draft, drafting } from "#src/transaction/drafting.ts";
import { withLeastFee } from "#src/transaction/feeBalance.ts";
import { stableMinimum } from "#src/transaction/output.ts";
import { isSpendable, knownScripts } from "#src/transaction/signers.ts";
import type { MigrateFailure, MigrateInput, OwnAddress, OwnCoin, StakeAccount } from "#src/wallet/build/types.ts";
import { intervalOf } from "#src/wallet/build/validity.ts";

/** Most outputs that a transaction of a migration can come to have: each but the last is as large as the ledger lets it be. */
const MOST_OUTPUTS = 16;
/** Bytes of an input in a body, at the most; of a signature; of one of the first era without its attributes; of a quantity; of a policy. */
const INPUT_BYTES = 40;
const SIGNATURE_BYTES = 101;
const BOOTSTRAP_BYTES = 137;
const QUANTITY_BYTES = 9;
const POLICY_BYTES = 33;

/** A transaction of the migration so far. */
interface Load {
  readonly coins: readonly OwnCoin[];
  readonly draft: Draft;
  readonly outputs: number;
  /** Lovelace beyond what outputs and fee need. */
  readonly spare: bigint;
}

/** Coins in the order in which they are taken. */
class Queue {
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
 * Unsigned transactions that carry all that can be carried to `means.change`, address after address in turn; `nothing_to_migrate` where that is
 * nothing. Rewards that can be withdrawn ride in the first, where they pay for that. Each has the least fee that the ledger takes.
 */
export function migrate(
  input: MigrateInput,
): Result<readonly Uint8Array[], MigrateFailure> {
  const { means, network, boundary } = input;
  const plain = intervalOf(input, undefined);
  if (!plain.ok) return plain;
  const loader = (place: number, withdrawals: readonly Withdrawal[] = [], until = plain.value.before) =>
    loading(input, means.change, place, withdrawals, until);
  const coins = [...means.coins].filter(isSpendable(knownScripts(means.scripts))).sort(byLovelace);
  const [supporters, freeriders] = sorted(input, coins, loader(0));
  let load = loader(0);
  const account = withdrawable(input);
  const [first] = supporters.peek(1);
  if (account && first) {
    const withdrawal = { account: rewardAddress(network, account.credential).hex, amount: account.rewards };
    const before = boundary !== undefined && BigInt(boundary) < plain.value.before
      ? BigInt(boundary)
      : plain.value.before;
    const withdrawing = loader(0, [withdrawal], before);
    const [without, along] = [load([first]), withdrawing([first])];
    if (isLoad(without) && isLoad(along) && along.draft.minFee - without.draft.minFee < account.rewards) {
      load = withdrawing;
    }
  }
  const transactions: Uint8Array[] = [];
  for (let place = 0; supporters.left > 0; load = loader(place)) {
    const full = fill(input, load, supporters, freeriders);
    if (!full) continue;
    transactions.push(full.draft.transaction);
    place += full.outputs;
  }
  if (transactions.length > 0) return ok(transactions);
  return fail(
    "nothing_to_migrate",
    "There is nothing that could be migrated: the wallet holds nothing, or so little that it would not pay for the fee.",
  );
}

type Loading = (coins: readonly OwnCoin[]) => Load | "full" | "short";
const isLoad = (one: ReturnType<Loading>): one is Load => typeof one !== "string";

/** Makes transactions of coins whose outputs go to the targets from `place` on in turn; says why one cannot be. */
function loading(
  { parameters, means }: MigrateInput,
  targets: readonly OwnAddress[],
  place: number,
  withdrawals: readonly Withdrawal[],
  validTo: bigint,
): Loading {
  const shared = withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
  const write = drafting({
    parameters,
    inputs: [],
    references: [],
    redeemers: [],
    keys: withdrawals.length > 0 ? [means.account!.credential.hash] : [],
    scripts: [],
    known: knownScripts(means.scripts),
    write: ({ inputs, change: outputs, fee, nativeScripts }) =>
      encodeTransaction({ inputs, outputs, fee, validTo, withdrawals, nativeScripts }),
  });
  const to = Array.from({ length: MOST_OUTPUTS }, (_, i) => targets[(place + i) % targets.length]!.address);
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

/** Supporters and freeriders, the richest of each first; what is worth nothing is neither. */
function sorted({ parameters }: MigrateInput, coins: readonly OwnCoin[], load: Loading): readonly [Queue, Queue] {
  const [supporters, freeriders]: [OwnCoin[], OwnCoin[]] = [[], []];
  // of coins with lovelace alone at addresses alike, one that supports is poorer than all that do
  const enough = new Map<string, bigint>();
  for (const coin of coins) {
    const { address, value, script } = coin.utxo.output;
    const isPlain = value.assets.size === 0 && script === undefined;
    const known = isPlain ? enough.get(alike(address)) : undefined;
    if (known !== undefined && value.lovelace >= known) supporters.push(coin);
    else if (isLoad(load([coin]))) {
      supporters.push(coin);
      if (isPlain) enough.set(alike(address), value.lovelace);
    } else if (!isPlain || value.lovelace > parameters.feePerByte * BigInt(INPUT_BYTES + signatureBytes(address))) {
      freeriders.push(coin);
    }
  }
  return [new Queue(supporters), new Queue(freeriders)];
}

const alike = (address: string) => `${address[0]} ${address.length}`;

const signatureBytes = (address: string) =>
  address.startsWith("8") ? BOOTSTRAP_BYTES + byronAttributes(address).length : SIGNATURE_BYTES;

const byLovelace = ({ utxo: { output: a } }: OwnCoin, { utxo: { output: b } }: OwnCoin) =>
  a.value.lovelace < b.value.lovelace ? 1 : a.value.lovelace > b.value.lovelace ? -1 : 0;

/** Takes a supporter and whatever goes along with it; nothing where not even the supporter goes. */
function fill(
  { parameters }: MigrateInput,
  load: Loading,
  supporters: Queue,
  freeriders: Queue,
): Load | undefined {
  const first = load(supporters.peek(1));
  supporters.take(1);
  if (!isLoad(first)) return undefined;
  let now = first;
  for (;;) {
    const { load: more, end } = grown(parameters, load, now, freeriders);
    now = more;
    if (end === "full") {
      if (now !== first) return now;
      // a coin with so much that it does not even fit beside one other stays where it is
      freeriders.take(1);
      continue;
    }
    const supported = supporters.left === 0 ? "full" as const : load([...now.coins, ...supporters.peek(1)]);
    if (!isLoad(supported)) return now;
    supporters.take(1);
    now = supported;
    if (end !== "none") continue;
    return grown(parameters, load, now, supporters).load;
  }
}

/** Adds as many coins of a queue as go, and says what ended it. */
function grown(
  parameters: MigrateInput["parameters"],
  load: Loading,
  begun: Load,
  queue: Queue,
): { load: Load; end: "full" | "short" | "none" } {
  let now = begun;
  for (let step = guessed(parameters, begun, queue); queue.left > 0;) {
    const count = Math.min(step, queue.left);
    const next = load([...now.coins, ...queue.peek(count)]);
    if (isLoad(next)) {
      now = next;
      queue.take(count);
      step = guessed(parameters, now, queue);
    } else {
      if (count === 1) return { load: now, end: next };
      step = count >> 1;
    }
  }
  return { load: now, end: "none" };
}

/** How many coins more are likely to go: by what each adds, without writing the transaction anew for each. */
function guessed({ maxTxSize, feePerByte, utxoCostPerByte }: MigrateInput["parameters"], load: Load, queue: Queue) {
  const known = new Set(load.coins.flatMap(({ utxo: { output } }) => [
    output.address,
    ...[...output.value.assets.keys()].flatMap((asset) => [asset, policyOf(asset)]),
  ]));
  const isNew = (one: string) => !known.has(one) && known.add(one) !== undefined;
  let room = maxTxSize - load.draft.size;
  let { spare } = load;
  let count = 0;
  for (const { utxo: { output: { address, value } } } of queue.peek()) {
    let held = 0;
    for (const asset of value.assets.keys()) {
      if (isNew(policyOf(asset))) held += POLICY_BYTES;
      if (isNew(asset)) held += QUANTITY_BYTES + nameOf(asset).length / 2 + 1;
    }
    const bytes = held + INPUT_BYTES - 4 + (isNew(address) ? signatureBytes(address) : 0);
    room -= bytes;
    spare += value.lovelace - feePerByte * BigInt(bytes) - utxoCostPerByte * BigInt(held);
    if (room < 0 || spare < 0n) break;
    count++;
  }
  return Math.max(1, count);
}

/** The account, where its rewards can be withdrawn. */
function withdrawable({ means: { account }, parameters }: MigrateInput): StakeAccount | undefined {
  if (!account?.registered || account.rewards <= 0n || account.credential.kind !== "key") return undefined;
  return parameters.protocolVersion.major >= 10 && !account.drep ? undefined : account;
}
