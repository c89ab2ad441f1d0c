/**
 * Which coins pay for what.
 *
 * `per-output`: every payment is a problem of its own (random-improve, CIP-2). It is paid out of coins that no other payment is paid
 * of, several where one is too small, chosen at random and then added to until change is about as large as the payment: so
 * that a wallet comes to have outputs of the sizes that it pays. Assets are covered first, lovelace after them.
 * `round-robin`: one set of coins for all of them.
 */
import type { Value } from "#src/cardano/value.ts";
import { Bag } from "#src/wallet/build/valueAccumulator.ts";
import { largestFirst, Pile, randomOrder } from "#src/wallet/build/coinPool.ts";
import type { Dice } from "#src/wallet/build/random.ts";
import type { OwnCoin } from "#src/wallet/build/types.ts";

/** Coins that pay for something, and what they hold beyond it. */
export interface Group {
  readonly coins: OwnCoin[];
  readonly left: Bag;
}

/** Groups, one for each payment, and the coins that are still to be had. */
export interface Choice {
  readonly groups: readonly Group[];
  /** Lovelace that comes in or goes out besides, in no group. */
  readonly shared: bigint;
  readonly pile: Pile;
}

/** What is to be paid for. */
export interface Needs {
  /** Payments, each to be paid for by itself. */
  readonly payments: readonly Value[];
  /** What comes in (positive) or goes out besides payments, fee and change: minted and burned, deposits, rewards. */
  readonly surplus: Value;
  /** Whether the transaction has inputs already: then it needs none of the coins where nothing is lacking. */
  readonly hasInputs?: boolean;
}

/** Why a way to choose found nothing: no coins are left for a payment, or they are more than a transaction takes. */
export type Unpaid = "depleted" | "crowded";

/** A way to choose. `most` is how many coins a transaction can take. */
export type Chooser = (coins: readonly OwnCoin[], needs: Needs, roll: Dice, most: number) => Choice | Unpaid;

function give(group: Group, coin: OwnCoin): void {
  group.coins.push(coin);
  group.left.add(coin.utxo.output.value);
}

/** Takes coins until nothing is lacking. */
function cover(group: Group, pile: Pile, most: number, least = 1): Unpaid | undefined {
  for (const [asset] of group.left.lacking()) {
    while (group.left.assets.get(asset)! < 0n) {
      const coin = pile.nextWith(asset);
      if (!coin) return "depleted";
      give(group, coin);
      if (group.coins.length > most) return "crowded";
    }
  }
  while (group.left.lovelace < 0n || group.coins.length < least) {
    const coin = pile.next();
    if (!coin) return "depleted";
    give(group, coin);
    if (group.coins.length > most) return "crowded";
  }
  return undefined;
}

/** Takes coins for one group after the other. */
function coverAll(groups: readonly Group[], pile: Pile, most: number, { hasInputs }: Needs): Unpaid | undefined {
  for (const group of groups) {
    const unpaid = cover(group, pile, most, hasInputs ? 0 : 1);
    if (unpaid) return unpaid;
  }
  return undefined;
}

/**
 * Adds coins without assets while that brings the lovelace chosen nearer to twice what is needed, and to no more than three times
 * (CIP-2).
 */
function improve(group: Group, needed: bigint, pile: Pile, most: number): void {
  const ideal = 2n * needed;
  const distance = (chosen: bigint) => chosen > ideal ? chosen - ideal : ideal - chosen;
  while (group.coins.length < most) {
    const chosen = needed + group.left.lovelace;
    const coin = pile.nextPlainIf(({ utxo }) => {
      const sum = chosen + utxo.output.value.lovelace;
      return sum <= 3n * needed && distance(sum) < distance(chosen);
    });
    if (!coin) return;
    give(group, coin);
  }
}

/** One group for each payment; where there is one at the most, it bears all else as well, and rewards help to pay. */
function groupsOf({ payments, surplus }: Needs): Group[] {
  if (payments.length > 1) return payments.map((payment) => ({ coins: [], left: new Bag().add(payment, -1n) }));
  const left = Bag.of(surplus);
  for (const payment of payments) left.add(payment, -1n);
  return [{ coins: [], left }];
}

/** Groups in the order in which they choose: those that need most first. */
function neediestFirst(groups: readonly Group[]): Group[] {
  return [...groups].sort((a, b) => a.left.lovelace < b.left.lovelace ? -1 : a.left.lovelace > b.left.lovelace ? 1 : 0);
}

/** Puts what is minted into the first group and takes what is burned out of all, drawing coins where it is not in them. */
function share({ payments, surplus }: Needs, groups: readonly Group[], pile: Pile): Choice | Unpaid {
  if (payments.length < 2) return { groups, shared: 0n, pile };
  for (const [asset, quantity] of surplus.assets) {
    let owed = -quantity;
    for (const { left } of groups) {
      const held = left.assets.get(asset) ?? 0n;
      const taken = held < owed ? held : owed;
      if (taken > 0n) {
        left.addAsset(asset, -taken);
        owed -= taken;
      }
    }
    while (owed > 0n) {
      const coin = pile.nextWith(asset);
      if (!coin) return "depleted";
      give(groups[0]!, coin);
      owed -= coin.utxo.output.value.assets.get(asset)!;
      groups[0]!.left.addAsset(asset, -coin.utxo.output.value.assets.get(asset)!);
    }
    if (owed < 0n) groups[0]!.left.addAsset(asset, -owed);
  }
  return { groups, shared: surplus.lovelace, pile };
}

/** Random-improve. */
export const randomImprove: Chooser = (coins, needs, roll, most) => {
  const pile = new Pile(randomOrder(coins, roll));
  const groups = groupsOf(needs);
  const order = neediestFirst(groups);
  const needed = new Map(order.map((group) => [group, group.left.lovelace < 0n ? -group.left.lovelace : 0n]));
  const unpaid = coverAll(order, pile, most, needs);
  if (unpaid) return unpaid;
  const choice = share(needs, groups, pile);
  for (const group of order.reverse()) improve(group, needed.get(group)!, pile, most / groups.length);
  return choice;
};

/** For each payment the smallest coin that suffices alone, where there is one; few coins stay unused that others need. */
export const bestFit: Chooser = (coins, needs, _roll, most) => {
  const pile = new Pile(largestFirst(coins));
  const groups = groupsOf(needs);
  for (const group of neediestFirst(groups)) {
    const alone = needs.hasInputs && group.left.isCovered() ? undefined : pile.smallestFor(group.left);
    if (alone) give(group, alone);
    else {
      const unpaid = cover(group, pile, most, needs.hasInputs ? 0 : 1);
      if (unpaid) return unpaid;
    }
  }
  return share(needs, groups, pile);
};

/** The largest coins first: as few inputs as there can be. */
export const fewest: Chooser = (coins, needs, _roll, most) => {
  const pile = new Pile(largestFirst(coins));
  const groups = groupsOf(needs);
  return coverAll(neediestFirst(groups), pile, most, needs) ?? share(needs, groups, pile);
};

/** One set of coins for all payments. */
function pooled(order: (coins: readonly OwnCoin[], roll: Dice) => OwnCoin[], improving: boolean): Chooser {
  return (coins, needs, roll, most) => {
    const pile = new Pile(order(coins, roll));
    const group: Group = { coins: [], left: Bag.of(needs.surplus) };
    for (const payment of needs.payments) group.left.add(payment, -1n);
    const needed = group.left.lovelace < 0n ? -group.left.lovelace : 0n;
    const unpaid = cover(group, pile, most, needs.hasInputs ? 0 : 1);
    if (unpaid) return unpaid;
    if (improving) improve(group, needed, pile, most);
    return { groups: divided(group, needs), shared: 0n, pile };
  };
}

/** All coins in the first of as many groups as there are payments, what is left divided over them as the payments are. */
function divided(pool: Group, { payments }: Needs): Group[] {
  const count = Math.max(1, payments.length);
  const groups = Array.from({ length: count }, (_, i) => ({ coins: i === 0 ? pool.coins : [], left: new Bag() }));
  const spread = (total: bigint, weights: readonly bigint[], put: (group: Group, part: bigint) => void) => {
    const sum = weights.reduce((a, b) => a + b, 0n);
    let rest = total;
    groups.forEach((group, i) => {
      const part = i === count - 1 ? rest : sum === 0n ? total / BigInt(count) : total * weights[i]! / sum;
      rest -= part;
      put(group, part);
    });
  };
  spread(pool.left.lovelace, payments.map((payment) => payment.lovelace), (group, part) => group.left.lovelace = part);
  for (const [asset, quantity] of pool.left.assets) {
    const asked = payments.map(({ assets }) => assets.get(asset) ?? 0n);
    if (asked.some((one) => one > 0n) || count === 1) {
      spread(quantity, asked, (group, part) => group.left.addAsset(asset, part));
      continue;
    }
    // what nobody asked for keeps the portions in which it came, but for what was minted or burned of it
    const portions = pool.coins.map(({ utxo }) => utxo.output.value.assets.get(asset) ?? 0n).filter((one) => one > 0n);
    const came = portions.reduce((a, b) => a + b, 0n);
    if (came === quantity) portions.forEach((one, i) => groups[i % count]!.left.addAsset(asset, one));
    else groups[0]!.left.addAsset(asset, quantity);
  }
  return groups;
}

/** Round-robin's choice: about twice of what is needed, out of one set of coins. */
export const pooledImprove: Chooser = pooled(randomOrder, true);

/** The same with no more than what is needed. */
export const pooledFewest: Chooser = pooled((coins) => largestFirst(coins), false);

/** Whether coins together hold what is needed, the fee not counted; otherwise what is missing. */
export function shortfall(coins: readonly OwnCoin[], { payments, surplus }: Needs): Bag | undefined {
  const sum = Bag.of(surplus);
  for (const payment of payments) sum.add(payment, -1n);
  for (const { utxo } of coins) sum.add(utxo.output.value);
  return sum.isCovered() ? undefined : sum;
}
