/**
 * Fee balancing: coins, change and fee that agree.
 *
 * A choice of coins gives change; change and coins give a size; the size gives a fee; the fee lowers the change.
 * `withLeastFee` is the fixpoint of the last two. Where the change then has too little lovelace, more coins are added,
 * or change outputs are merged.
 */
import { elementAt } from "#src/base/present.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { changeOutputs, type ChangePlan, type ChangeRules, planChange } from "#src/transaction/change.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import {
  bestFit,
  type CoinChoice,
  type CoinChooser,
  type CoinGroup,
  fewest,
  inListOrder,
  type Needs,
  pooledFewest,
  pooledImprove,
  randomImprove,
  shortfall,
} from "#src/transaction/coinSelection.ts";
import { type ValueSum } from "#src/cardano/value.ts";
import type { Draft, WriteDraft } from "#src/transaction/drafting.ts";
import type { FeeParameters } from "#src/transaction/fee.ts";
import { leastLovelace, stableMinimum } from "#src/transaction/output.ts";
import { randomIndex } from "#src/transaction/random.ts";

/**
 * How a wallet chooses coins: `per-output` and `round-robin` as cardano-wallet does, `by-priority` as few as possible,
 * in list order.
 */
export type SelectionStrategy = "per-output" | "round-robin" | "by-priority";

/** Coins to pay with and where change goes. */
export interface Funds<C extends Coin> {
  readonly coins: readonly C[];
  /** Addresses of change outputs, in this order: at least one; the last one takes the rest. */
  readonly change: readonly string[];
  readonly strategy: SelectionStrategy;
  /** Makes the choice repeatable; random where it is absent. */
  readonly seed?: number | undefined;
  /** Most inputs that the transaction can take; by default, as many as its size allows where it has nothing else. */
  readonly most?: number | undefined;
}

/** A transaction whose fee is right. */
export interface FeeBalanced<C extends Coin> {
  readonly draft: Draft;
  readonly coins: readonly C[];
  readonly change: readonly NewOutput[];
  /** Lovelace. */
  readonly fee: bigint;
}

/**
 * Why there is none. `not_enough`: all coins together hold too little, the fee not counted (`missing` is negative);
 * `no_coins`: a transaction needs an input, whatever else is `missing`; `depleted`: payments cannot be paid from coins of their own; `crowded`:
 * more inputs than it can take; `too_large`: `size` as the ledger counts it; `fee`: what is left covers neither
 * `fee`, in lovelace, nor change; `collateral`: the coins give too little collateral.
 */
export type FeeBalanceFailure =
  | { readonly reason: "not_enough"; readonly missing: ValueSum }
  | { readonly reason: "no_coins"; readonly missing: ValueSum | undefined }
  | { readonly reason: "depleted" | "crowded" }
  | { readonly reason: "fee"; readonly fee: bigint }
  | { readonly reason: "too_large"; readonly size: number }
  | { readonly reason: "collateral"; readonly missing: bigint };

type Outcome<C extends Coin> =
  | { readonly balanced: FeeBalanced<C>; readonly failure?: never }
  | { readonly balanced?: never; readonly failure: FeeBalanceFailure };

type BalanceParameters = ChangeRules["parameters"] & Pick<FeeParameters, "feeFixed"> & Pick<Parameters, "maxTxSize">;

/** Bytes of an input in a body, at the least. */
const INPUT_BYTES = 36;

/** The least lovelace of an output is at least so many times the fee of its bytes. */
const LEAST_PER_FEE = 50n;

/** Steps of `tiers` that are skipped after a transaction was too large. */
const SKIPPED_TIERS = 3;

/** A chooser, and whether change outputs are merged before more coins are added for them. */
type Attempt = readonly [choose: CoinChooser, merging: boolean];

const STRATEGIES: Record<
  SelectionStrategy,
  { readonly attempts: readonly Attempt[]; readonly tiered: boolean; readonly minimum: ChangeRules["minimum"] }
> = {
  "per-output": {
    attempts: [[randomImprove, false], [bestFit, false], [fewest, false], [fewest, true]],
    tiered: true,
    minimum: stableMinimum,
  },
  "round-robin": {
    attempts: [[pooledImprove, true], [pooledFewest, true]],
    tiered: true,
    minimum: stableMinimum,
  },
  "by-priority": { attempts: [[inListOrder, false]], tiered: false, minimum: leastLovelace },
};

/**
 * Finds coins, change and fee. With change, the fee is the least that the ledger takes; where too little is left for an
 * output, all of it is the fee. Coins of a higher priority number are used only where the others do not suffice.
 */
export function balanceFee<C extends Coin>(
  funds: Funds<C>,
  needs: Needs,
  parameters: BalanceParameters,
  write: WriteDraft,
): Outcome<C> {
  const { coins, change, strategy, seed, most = Math.floor(parameters.maxTxSize / INPUT_BYTES) } = funds;
  const { attempts, tiered, minimum } = STRATEGIES[strategy];
  const missing = shortfall(coins, needs);
  if (coins.length === 0 && !needs.hasInputs) return { failure: { reason: "no_coins", missing } };
  if (missing) return { failure: { reason: "not_enough", missing } };
  const random = randomIndex(seed);
  let failure: FeeBalanceFailure = { reason: "depleted" };
  const steps = tiered ? tiers(coins) : [coins];
  for (let step = 0; step < steps.length; step++) {
    const some = elementAt(steps, step);
    if (some.length < coins.length && shortfall(some, needs)) continue;
    for (const [choose, merging] of attempts) {
      const choice = choose(some, needs, random, most);
      if (typeof choice === "string") {
        if (choice === "crowded") failure = { reason: choice };
        continue;
      }
      const outcome = balanceChoice(choice, change, { parameters, minimum }, write, merging, most);
      if (outcome.balanced) return outcome;
      failure = outcome.failure;
    }
    // a few more coins seldom make a transaction smaller: fewer steps lead to all of them
    const isLarge = failure.reason === "crowded" || failure.reason === "too_large";
    if (isLarge) step = Math.max(step, Math.min(step + SKIPPED_TIERS, steps.length - 2));
  }
  return { failure };
}

/** Coins with reference scripts come last: other transactions may refer to them. */
function priorityOf({ preference = 0, utxo }: Coin): number {
  return utxo.output.script ? Number.MAX_SAFE_INTEGER : preference;
}

/**
 * Sets of coins to try: those that are free, those with pending change, then twice as many reserved ones each time, the
 * best first.
 */
function tiers<C extends Coin>(coins: readonly C[]): readonly (readonly C[])[] {
  const upTo = (most: number) => coins.reduce((count, coin) => priorityOf(coin) <= most ? count + 1 : count, 0);
  const free = upTo(0);
  if (free === coins.length) return [coins];
  const pending = upTo(1);
  const ordered = [...coins].sort((a, b) => priorityOf(a) - priorityOf(b));
  const counts = [free, pending];
  for (let more = 1; pending + more < coins.length; more *= 2) counts.push(pending + more);
  return [...new Set([...counts, coins.length])].filter((count) => count > 0).map((count) => ordered.slice(0, count));
}

/** Adds coins or merges change outputs until coins, change and fee agree. */
function balanceChoice<C extends Coin>(
  choice: CoinChoice<C>,
  addresses: readonly string[],
  rules: ChangeRules & { readonly parameters: BalanceParameters },
  write: WriteDraft,
  merging: boolean,
  most: number,
): Outcome<C> {
  const { maxTxSize } = rules.parameters;
  let { groups } = choice;
  for (;;) {
    const coins = groups.flatMap((group) => group.coins);
    if (coins.length > most) return { failure: { reason: "crowded" } };
    const plan = planChange(rules, groups.map(({ left }) => left), choice.shared, addresses);
    const { missing, ...balanced } = withLeastFee(rules.parameters, write, coins, plan);
    const { draft } = balanced;
    if (missing <= 0n) {
      if (draft.missingCollateral > 0n) {
        return { failure: { reason: "collateral", missing: draft.missingCollateral } };
      }
      if (draft.size <= maxTxSize) return { balanced };
      if (!merging || groups.length === 1) return { failure: { reason: "too_large", size: draft.size } };
      // fewer change outputs make the transaction smaller
      const half = Math.floor(groups.length / 2);
      while (groups.length > half) groups = merged(groups);
      continue;
    }
    if (merging && groups.length > 1) {
      groups = mergedFor(groups, missing, plan);
      continue;
    }
    const more = choice.add(groups, missing);
    if (typeof more !== "string") groups = more;
    else if (groups.length > 1) groups = mergedFor(groups, missing, plan);
    else {
      return withoutChange(write, coins, plan, maxTxSize) ??
        { failure: more === "crowded" ? { reason: more } : { reason: "fee", fee: balanced.fee } };
    }
  }
}

/** The two poorest groups merged into one. */
function merged<C extends Coin>(groups: readonly CoinGroup<C>[]): readonly CoinGroup<C>[] {
  const [poorest, next, ...others] = [...groups].sort((a, b) => a.left.lovelace < b.left.lovelace ? -1 : 1);
  if (!poorest || !next) throw new RangeError("there are no two groups to merge");
  return [...others, { coins: [...next.coins, ...poorest.coins], left: next.left.add(poorest.left) }];
}

/**
 * Merges as many of the poorest groups as are certainly needed to save so much lovelace: an empty group saves nothing,
 * any other at most the largest least. Merging one by one would write a transaction for each.
 */
function mergedFor<C extends Coin>(groups: readonly CoinGroup<C>[], missing: bigint, { shares }: ChangePlan) {
  const most = shares.reduce((largest, { least }) => least > largest ? least : largest, 1n);
  const saving = Math.max(1, Number(missing / (most + most / LEAST_PER_FEE)));
  const empty = groups.length - shares.length;
  const times = Math.min(groups.length - 1, empty + saving);
  let result = groups;
  for (let i = 0; i < times; i++) result = merged(result);
  return result;
}

/**
 * The transaction with these coins and change at the least fee that is right for itself; `missing` is the lovelace that
 * its change lacks, zero or less where there is enough.
 */
export function withLeastFee<C extends Coin>(
  { feeFixed }: Pick<FeeParameters, "feeFixed">,
  write: WriteDraft,
  coins: readonly C[],
  plan: ChangePlan,
): FeeBalanced<C> & { readonly missing: bigint } {
  const tried = new Set<bigint>();
  let dearer: Draft | undefined;
  for (let fee = feeFixed;;) {
    const change = changeOutputs(plan, fee);
    const draft = write(coins, change, fee, dearer);
    const right = draft.minFee;
    // An amount that needs fewer bytes at the higher of two fees has no fee that is right to the lovelace: the higher
    // one is taken.
    if (right === fee || (right < fee && tried.has(right) && dearer)) {
      return { draft, coins, change, fee, missing: plan.least + fee - plan.total };
    }
    if (right < fee) dearer = draft;
    tried.add(fee);
    fee = right;
  }
}

/** The transaction that leaves everything to the fee; undefined where that is not enough. */
function withoutChange<C extends Coin>(
  write: WriteDraft,
  coins: readonly C[],
  { shares, total }: ChangePlan,
  maxTxSize: number,
): Outcome<C> | undefined {
  if (total <= 0n || shares.some(({ bundles }) => bundles.some(({ assets }) => assets.size > 0))) return undefined;
  const draft = write(coins, [], total);
  if (draft.minFee > total) return undefined;
  if (draft.missingCollateral > 0n) return { failure: { reason: "collateral", missing: draft.missingCollateral } };
  if (draft.size > maxTxSize) return { failure: { reason: "too_large", size: draft.size } };
  return { balanced: { draft, coins, change: [], fee: total } };
}
