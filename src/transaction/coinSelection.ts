/**
 * Coin selection: which coins pay for what.
 *
 * - `randomImprove` (CIP-2): each payment is paid from coins of its own, chosen at random, several where one is too
 *   small; more are added until its change is about as large as the payment, so that a wallet comes to have outputs of
 *   the sizes that it pays. Assets are covered before lovelace. `bestFit` and `fewest` choose fewer coins for each
 *   payment.
 * - `pooledImprove`, `pooledFewest`: one set of coins for all payments (cardano-wallet's round-robin).
 * - `inListOrder`: one set of as few coins as possible, in the order in which they are listed.
 */
import { mustGet } from "#src/base/maps.ts";
import { elementAt, onlyOf } from "#src/base/present.ts";
import { type Value, ValueSum } from "#src/cardano/value.ts";
import { type Coin, CoinPool, lackingAssets, largestFirst, randomOrder } from "#src/transaction/coinPool.ts";
import type { RandomIndex } from "#src/transaction/random.ts";

/** Coins that pay for something, and what they hold beyond it. */
export interface CoinGroup<C extends Coin> {
  readonly coins: C[];
  readonly left: ValueSum;
}

/** Coins that cover what is needed, before the fee. */
export interface CoinChoice<C extends Coin> {
  readonly groups: readonly CoinGroup<C>[];
  /** Lovelace that comes in or goes out beside all groups. */
  readonly shared: bigint;
  /** Adds coins that hold at least so much more lovelace. The groups may have been merged meanwhile. */
  readonly add: (groups: readonly CoinGroup<C>[], lovelace: bigint) => readonly CoinGroup<C>[] | SelectionEnd;
}

/** What coins have to cover. */
export interface Needs {
  /** Payments, each paid from coins of its own where the chooser does so. */
  readonly payments: readonly Value[];
  /**
   * What comes in (positive) or goes out beside payments, fee and change: fixed inputs, mint and burn, deposits,
   * rewards.
   */
  readonly surplus: Value;
  /** Whether the transaction has inputs already: then it needs no coin where nothing is lacking. */
  readonly hasInputs?: boolean;
}

/** Why a chooser found nothing: no coins are left, or the transaction cannot take so many. */
type SelectionEnd = "depleted" | "crowded";

/** Chooses coins, at most `most` of them. */
export type CoinChooser = <C extends Coin>(
  coins: readonly C[],
  needs: Needs,
  random: RandomIndex,
  most: number,
) => CoinChoice<C> | SelectionEnd;

function give<C extends Coin>(group: CoinGroup<C>, coin: C): void {
  group.coins.push(coin);
  group.left.add(coin.utxo.output.value);
}

function addAsset({ left }: CoinGroup<Coin>, asset: string, quantity: bigint): void {
  left.add({ lovelace: 0n, assets: new Map([[asset, quantity]]) });
}

function leastCoins({ hasInputs }: Needs): number {
  return hasInputs ? 0 : 1;
}

function sumOf(value: Value): ValueSum {
  return new ValueSum().add(value);
}

function isCovered(sum: ValueSum): boolean {
  return sum.lovelace >= 0n && lackingAssets(sum).length === 0;
}

/** Adds coins until nothing is lacking. */
function cover<C extends Coin>(group: CoinGroup<C>, pool: CoinPool<C>, most: number, least: number) {
  for (const [asset] of lackingAssets(group.left)) {
    while ((group.left.assets.get(asset) ?? 0n) < 0n) {
      const coin = pool.nextWith(asset);
      if (!coin) return "depleted";
      give(group, coin);
      if (group.coins.length > most) return "crowded";
    }
  }
  while (group.left.lovelace < 0n || group.coins.length < least) {
    const coin = pool.next();
    if (!coin) return "depleted";
    give(group, coin);
    if (group.coins.length > most) return "crowded";
  }
  return undefined;
}

/**
 * Adds coins without assets while that brings the lovelace chosen nearer to twice what is needed, and to no more than
 * three times (CIP-2).
 */
function improve<C extends Coin>(group: CoinGroup<C>, needed: bigint, pool: CoinPool<C>, most: number): void {
  const ideal = 2n * needed;
  const distance = (chosen: bigint) => chosen > ideal ? chosen - ideal : ideal - chosen;
  while (group.coins.length < most) {
    const chosen = needed + group.left.lovelace;
    const coin = pool.nextPlainIf(({ utxo }) => {
      const sum = chosen + utxo.output.value.lovelace;
      return sum <= 3n * needed && distance(sum) < distance(chosen);
    });
    if (!coin) return;
    give(group, coin);
  }
}

/** What a group lacks of lovelace. */
function needOf({ left }: CoinGroup<Coin>): bigint {
  return left.lovelace < 0n ? -left.lovelace : 0n;
}

/** One group for everything. */
function pooledGroup<C extends Coin>({ payments, surplus }: Needs): CoinGroup<C> {
  const left = sumOf(surplus);
  for (const payment of payments) left.add(payment, -1n);
  return { coins: [], left };
}

/** One group for each payment. A single one bears everything else too, so that rewards help to pay. */
function groupsOf<C extends Coin>(needs: Needs): CoinGroup<C>[] {
  if (needs.payments.length < 2) return [pooledGroup(needs)];
  return needs.payments.map((payment) => ({ coins: [], left: new ValueSum().add(payment, -1n) }));
}

/** Groups in the order in which they choose: those that need most first. */
function neediestFirst<C extends Coin>(groups: readonly CoinGroup<C>[]): CoinGroup<C>[] {
  return [...groups].sort((a, b) => a.left.lovelace < b.left.lovelace ? -1 : a.left.lovelace > b.left.lovelace ? 1 : 0);
}

/** Adds coins to the group that has least, until they hold so much lovelace or none are left. */
function addFrom<C extends Coin>(pool: CoinPool<C>): CoinChoice<C>["add"] {
  return (groups, lovelace) => {
    const poorest = groups.reduce((a, b) => b.left.lovelace < a.left.lovelace ? b : a);
    for (let added = 0n; added < lovelace;) {
      const coin = pool.next();
      if (!coin) return added > 0n ? groups : "depleted";
      give(poorest, coin);
      added += coin.utxo.output.value.lovelace;
    }
    return groups;
  };
}

/**
 * Puts what is minted into the first group and takes what is burned from all, adding coins where the groups do not hold
 * it.
 */
function shareSurplus<C extends Coin>(
  { payments, surplus }: Needs,
  groups: readonly CoinGroup<C>[],
  pool: CoinPool<C>,
): CoinChoice<C> | SelectionEnd {
  const add = addFrom(pool);
  if (payments.length < 2) return { groups, shared: 0n, add };
  const first = elementAt(groups, 0);
  for (const [asset, quantity] of surplus.assets) {
    let owed = -quantity;
    for (const group of groups) {
      const held = group.left.assets.get(asset) ?? 0n;
      const taken = held < owed ? held : owed;
      if (taken <= 0n) continue;
      addAsset(group, asset, -taken);
      owed -= taken;
    }
    while (owed > 0n) {
      const coin = pool.nextWith(asset);
      if (!coin) return "depleted";
      give(first, coin);
      const held = mustGet(coin.utxo.output.value.assets, asset);
      owed -= held;
      addAsset(first, asset, -held);
    }
    if (owed < 0n) addAsset(first, asset, -owed);
  }
  return { groups, shared: surplus.lovelace, add };
}

/** Random-improve (CIP-2). */
export const randomImprove: CoinChooser = (coins, needs, random, most) => {
  const pool = new CoinPool(randomOrder(coins, random));
  const groups = groupsOf<(typeof coins)[number]>(needs);
  const order = neediestFirst(groups);
  const needed = new Map(order.map((group) => [group, needOf(group)]));
  for (const group of order) {
    const end = cover(group, pool, most, leastCoins(needs));
    if (end) return end;
  }
  const choice = shareSurplus(needs, groups, pool);
  for (const group of order.reverse()) improve(group, mustGet(needed, group), pool, most / groups.length);
  return choice;
};

/** The largest coins first; where `alone` is set, a payment that one coin covers gets the smallest such coin. */
function largest(alone: boolean): CoinChooser {
  return (coins, needs, _random, most) => {
    const pool = new CoinPool(largestFirst(coins));
    const groups = groupsOf<(typeof coins)[number]>(needs);
    for (const group of neediestFirst(groups)) {
      const one = alone && (!needs.hasInputs || !isCovered(group.left)) ? pool.smallestFor(group.left) : undefined;
      if (one) give(group, one);
      else {
        const end = cover(group, pool, most, leastCoins(needs));
        if (end) return end;
      }
    }
    return shareSurplus(needs, groups, pool);
  };
}

/** For each payment the smallest coin that covers it alone, where there is one. */
export const bestFit: CoinChooser = largest(true);

/** The largest coins first: as few inputs as possible. */
export const fewest: CoinChooser = largest(false);

/** One set of coins for all payments, its change divided like the payments. */
function pooled(
  order: <C extends Coin>(coins: readonly C[], random: RandomIndex) => C[],
  improving: boolean,
): CoinChooser {
  return (coins, needs, random, most) => {
    const pool = new CoinPool(order(coins, random));
    const group = pooledGroup<(typeof coins)[number]>(needs);
    const needed = needOf(group);
    const end = cover(group, pool, most, leastCoins(needs));
    if (end) return end;
    if (improving) improve(group, needed, pool, most);
    return { groups: divided(group, needs), shared: 0n, add: addFrom(pool) };
  };
}

/**
 * All coins in the first of as many groups as there are payments; what they hold beyond is divided in the ratio of the
 * payments.
 */
function divided<C extends Coin>(pool: CoinGroup<C>, { payments }: Needs): CoinGroup<C>[] {
  const count = Math.max(1, payments.length);
  const groups = Array.from(
    { length: count },
    (_, i): CoinGroup<C> => ({ coins: i === 0 ? pool.coins : [], left: new ValueSum() }),
  );
  const spread = (total: bigint, weights: readonly bigint[], put: (group: CoinGroup<C>, part: bigint) => void) => {
    const sum = weights.reduce((a, b) => a + b, 0n);
    let rest = total;
    groups.forEach((group, i) => {
      const part = i === count - 1 ? rest : sum === 0n ? total / BigInt(count) : total * elementAt(weights, i) / sum;
      rest -= part;
      put(group, part);
    });
  };
  spread(pool.left.lovelace, payments.map((payment) => payment.lovelace), (group, part) => group.left.lovelace = part);
  for (const [asset, quantity] of pool.left.assets) {
    const paid = payments.map(({ assets }) => assets.get(asset) ?? 0n);
    if (paid.some((one) => one > 0n) || count === 1) {
      spread(quantity, paid, (group, part) => addAsset(group, asset, part));
      continue;
    }
    // an asset that is not paid keeps the portions of the inputs, unless some of it was minted or burned
    const portions = pool.coins.map(({ utxo }) => utxo.output.value.assets.get(asset) ?? 0n).filter((one) => one > 0n);
    const came = portions.reduce((a, b) => a + b, 0n);
    if (came === quantity) portions.forEach((one, i) => addAsset(elementAt(groups, i % count), asset, one));
    else addAsset(elementAt(groups, 0), asset, quantity);
  }
  return groups;
}

/** Round-robin's choice: about twice of what is needed, out of one set of coins. */
export const pooledImprove: CoinChooser = pooled(randomOrder, true);

/** Round-robin's choice of no more than what is needed. */
export const pooledFewest: CoinChooser = pooled(largestFirst, false);

/**
 * One set of as few coins as possible: in the order of the list, then without those that larger ones made needless.
 * Where that is more than `most`, the largest coins first. More lovelace means a new choice, not an addition: one large
 * coin may replace several.
 */
export const inListOrder: CoinChooser = (coins, needs, _random, most) => {
  type C = (typeof coins)[number];
  const choose = (spare: bigint): CoinGroup<C> | SelectionEnd => {
    for (const order of [() => coins, () => largestFirst(coins)]) {
      const group = pooledGroup<C>(needs);
      group.left.lovelace -= spare;
      const end = cover(group, new CoinPool(order()), coins.length, leastCoins(needs));
      if (end) return end;
      const kept = withoutNeedless(group, leastCoins(needs));
      if (kept.coins.length > most) continue;
      kept.left.lovelace += spare;
      return kept;
    }
    return "crowded";
  };
  const group = choose(0n);
  if (typeof group === "string") return group;
  return {
    groups: [group],
    shared: 0n,
    add: (groups, lovelace) => {
      const more = choose(onlyOf(groups).left.lovelace + lovelace);
      return typeof more === "string" ? more : [more];
    },
  };
};

/** The group without coins that it does not need, the smallest removed first. */
function withoutNeedless<C extends Coin>({ coins, left }: CoinGroup<C>, least: number): CoinGroup<C> {
  const kept = new Set(coins);
  for (const coin of largestFirst(coins).reverse()) {
    const { value } = coin.utxo.output;
    if (value.lovelace > left.lovelace || kept.size <= least) break;
    if ([...value.assets].some(([asset, quantity]) => (left.assets.get(asset) ?? 0n) < quantity)) continue;
    kept.delete(coin);
    left.add(value, -1n);
  }
  return { coins: [...kept], left };
}

/** What is missing (negative) where coins together hold less than needed, the fee not counted; otherwise undefined. */
export function shortfall(coins: readonly Coin[], needs: Needs): ValueSum | undefined {
  const sum = pooledGroup(needs).left;
  for (const { utxo } of coins) sum.add(utxo.output.value);
  return isCovered(sum) ? undefined : sum;
}
