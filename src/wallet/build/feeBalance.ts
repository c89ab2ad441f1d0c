/** Bringing inputs, change and fee into agreement. */
import type { Failure } from "#src/base/result.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { changeAt, type Shares, sharesOf } from "#src/wallet/build/changes.ts";
import {
  bestFit,
  type Choice,
  type Chooser,
  fewest,
  type Group,
  type Needs,
  pooledFewest,
  pooledImprove,
  randomImprove,
  shortfall,
} from "#src/wallet/build/coinSelection.ts";
import { cannotCoverFee, depleted, notEnoughMoney, noUtxos, tooBig } from "#src/wallet/build/failures.ts";
import { dice } from "#src/wallet/build/random.ts";
import type { Means, OwnAddress, OwnCoin, SelectionFailure } from "#src/wallet/build/types.ts";

/** A transaction with some coins, change and fee. */
export interface Framed {
  /** The least fee that the ledger takes for it. */
  readonly minFee: bigint;
  /** Bytes once signed, as the ledger counts them. */
  readonly size: number;
}

/** What else than coins, change and fee makes the transaction; a failure is one that no other coins would mend. */
export type Frame<F extends Framed, E extends Failure> = (
  coins: readonly OwnCoin[],
  change: readonly NewOutput[],
  fee: bigint,
) => F | { readonly failure: E };

/** A transaction whose fee is right. */
export interface Settled<F extends Framed> {
  readonly framed: F;
  readonly coins: readonly OwnCoin[];
  /** With the address of each. */
  readonly change: readonly { readonly output: NewOutput; readonly to: OwnAddress }[];
  readonly fee: bigint;
}

type Outcome<F extends Framed, E extends Failure> =
  | { readonly settled: Settled<F> }
  | { readonly failure: E | SelectionFailure };

/** Bytes of an input in a body, at the least. */
const INPUT_BYTES = 36;

/** The bytes of an output cost so much less in the fee than they need in lovelace, at the least. */
const SAVED = 50n;

/** Steps towards all coins that are left out when those so far were too many for a transaction. */
const ROOMLESS_STEPS = 3;

/** A way to choose, and whether change outputs are given up before more coins are drawn for them. */
type Strategy = readonly [choose: Chooser, merging: boolean];

const STRATEGIES: Record<NonNullable<Means["selection"]>, readonly Strategy[]> = {
  "per-output": [[randomImprove, false], [bestFit, false], [fewest, false], [fewest, true]],
  "round-robin": [[pooledImprove, true], [pooledFewest, true]],
};

/**
 * Finds coins, change and fee: with change the fee is the least that the ledger takes; where what is left is too little for an output, it is
 * the fee. Coins of a higher preference are touched only where the others do not suffice.
 */
export function settle<F extends Framed, E extends Failure>(
  means: Pick<Means, "coins" | "change" | "selection">,
  needs: Needs,
  parameters: Pick<Parameters, "maxTxSize" | "utxoCostPerByte" | "maxValueSize">,
  frame: Frame<F, E>,
  seed?: number,
): Outcome<F, E> {
  const lacking = shortfall(means.coins, needs);
  if (lacking) {
    return { failure: notEnoughMoney(lacking.lovelace < 0n ? -lacking.lovelace : 0n, lacking.lacking()) };
  }
  if (means.coins.length === 0 && !needs.hasInputs) return { failure: noUtxos };
  const roll = dice(seed);
  const most = Math.floor(parameters.maxTxSize / INPUT_BYTES);
  let failure: E | SelectionFailure = depleted;
  const steps = tiers(means.coins);
  for (let step = 0; step < steps.length; step++) {
    const coins = steps[step]!;
    if (coins.length < means.coins.length && shortfall(coins, needs)) continue;
    for (const [choose, merging] of STRATEGIES[means.selection ?? "per-output"]) {
      const choice = choose(coins, needs, roll, most);
      if (typeof choice === "string") {
        if (choice === "crowded") failure = tooBig;
        continue;
      }
      const outcome = agree(choice, means.change, parameters, frame, merging, most);
      if ("settled" in outcome) return outcome;
      failure = outcome.failure;
    }
    // a few coins more rarely make room: where there was none, fewer steps lead to all of them
    if (failure === tooBig) step = Math.max(step, Math.min(step + ROOMLESS_STEPS, steps.length - 2));
  }
  return { failure };
}

/** Reference scripts stay where they are as long as anything else will do: others may rely on them. */
function preferenceOf({ preference = 0, utxo }: OwnCoin): number {
  return utxo.output.script ? Number.MAX_SAFE_INTEGER : preference;
}

/** Coins that nobody else was offered; those and the outputs of pending transactions; then more and more of the others, the best first. */
function tiers(coins: readonly OwnCoin[]): readonly (readonly OwnCoin[])[] {
  const upTo = (most: number) => coins.reduce((count, coin) => preferenceOf(coin) <= most ? count + 1 : count, 0);
  const free = upTo(0);
  if (free === coins.length) return [coins];
  const coming = upTo(1);
  const inOrder = [...coins].sort((a, b) => preferenceOf(a) - preferenceOf(b));
  const counts = [free, coming];
  for (let more = 1; coming + more < coins.length; more *= 2) counts.push(coming + more);
  return [...new Set([...counts, coins.length])].filter((count) => count > 0).map((count) => inOrder.slice(0, count));
}

export type Fit<F extends Framed, E extends Failure> =
  | { readonly settled: Settled<F> }
  | { readonly failure: E | SelectionFailure }
  /** Lovelace that the change would have to get besides. */
  | { readonly missing: bigint };

function agree<F extends Framed, E extends Failure>(
  { groups, shared, pile }: Choice,
  to: readonly OwnAddress[],
  parameters: Pick<Parameters, "maxTxSize" | "utxoCostPerByte" | "maxValueSize">,
  frame: Frame<F, E>,
  merging: boolean,
  most: number,
): Outcome<F, E> {
  let parts = groups;
  for (;;) {
    const coins = parts.flatMap((group) => group.coins);
    if (coins.length > most) return { failure: tooBig };
    const shares = sharesOf(parameters, parts, shared, to);
    const fit = fitted(frame, coins, shares, to);
    if ("failure" in fit) return fit;
    if ("settled" in fit) {
      if (fit.settled.framed.size <= parameters.maxTxSize) return fit;
      if (!merging || parts.length === 1) return { failure: tooBig };
      // Fewer outputs of change make room.
      const half = Math.floor(parts.length / 2);
      while (parts.length > half) parts = merged(parts);
      continue;
    }
    if (merging && parts.length > 1) {
      parts = mergedFor(parts, fit.missing, shares);
      continue;
    }
    if (draw(parts, fit.missing, () => pile.next())) continue;
    if (parts.length > 1) {
      parts = mergedFor(parts, fit.missing, shares);
      continue;
    }
    return withoutChange(frame, coins, shares, parameters.maxTxSize);
  }
}

/** Gives the poorest group coins that hold so much lovelace together; false when there is none left. */
function draw(groups: readonly Group[], lovelace: bigint, next: () => OwnCoin | undefined): boolean {
  const poorest = groups.reduce((a, b) => b.left.lovelace < a.left.lovelace ? b : a);
  let drawn = 0n;
  while (drawn < lovelace) {
    const coin = next();
    if (!coin) return drawn > 0n;
    poorest.coins.push(coin);
    poorest.left.add(coin.utxo.output.value);
    drawn += coin.utxo.output.value.lovelace;
  }
  return true;
}

/** The two poorest groups made one. */
function merged(groups: readonly Group[]): readonly Group[] {
  const [poorest, next, ...others] = [...groups].sort((a, b) => a.left.lovelace < b.left.lovelace ? -1 : 1);
  const left = next!.left.add({ lovelace: poorest!.left.lovelace, assets: poorest!.left.assets });
  return [...others, { coins: [...next!.coins, ...poorest!.coins], left }];
}

/**
 * So many of the poorest groups made one as surely have to be for so much lovelace: one that has nothing saves nothing when it goes, any
 * other no more than the most that one needs. One by one, a transaction would be written for each of them.
 */
function mergedFor(groups: readonly Group[], missing: bigint, { shares }: Shares): readonly Group[] {
  const most = shares.reduce((largest, { least }) => least > largest ? least : largest, 1n);
  const saving = Math.max(1, Number(missing / (most + most / SAVED)));
  const empty = groups.length - shares.length;
  const times = Math.min(groups.length - 1, empty + saving);
  let parts = groups;
  for (let i = 0; i < times; i++) parts = merged(parts);
  return parts;
}

/** The transaction with these coins and change at the least fee that is right for itself. */
export function fitted<F extends Framed, E extends Failure>(
  frame: Frame<F, E>,
  coins: readonly OwnCoin[],
  shares: Shares,
  to: readonly OwnAddress[],
): Fit<F, E> {
  const tried = new Set<bigint>();
  for (let fee = 0n;;) {
    const change = changeAt(shares, fee, to);
    const framed = frame(coins, change, fee);
    if ("failure" in framed) return framed;
    const right = framed.minFee;
    // An amount that needs fewer bytes at the higher of two fees has no fee that is right to the lovelace: the higher one it is.
    if (right === fee || (right < fee && tried.has(right))) {
      const missing = shares.least + fee - shares.total;
      if (missing > 0n) return { missing };
      return {
        settled: {
          framed,
          coins,
          fee,
          change: change.map((output, i) => ({ output, to: to[Math.min(i, to.length - 1)]! })),
        },
      };
    }
    tried.add(fee);
    fee = right;
  }
}

/** The transaction that leaves everything to the fee, if that is enough. */
function withoutChange<F extends Framed, E extends Failure>(
  frame: Frame<F, E>,
  coins: readonly OwnCoin[],
  { shares, total }: Shares,
  maxTxSize: number,
): Outcome<F, E> {
  if (total <= 0n || shares.some(({ bundles }) => bundles.some(({ assets }) => assets.size > 0))) {
    return { failure: cannotCoverFee };
  }
  const framed = frame(coins, [], total);
  if ("failure" in framed) return framed;
  if (framed.minFee > total) return { failure: cannotCoverFee };
  if (framed.size > maxTxSize) return { failure: tooBig };
  return { settled: { framed, coins, change: [], fee: total } };
}
