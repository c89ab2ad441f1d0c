/** Unspent outputs ("coins") that a selection can take, in the order in which it takes them. */
import { elementAt } from "#src/base/present.ts";
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import type { AssetId, ValueSum } from "#src/cardano/value.ts";
import { type RandomIndex, shuffled } from "#src/transaction/random.ts";

/** An unspent output that can be spent. */
export interface Coin {
  readonly utxo: Utxo;
  /**
   * Spend priority; lower is spent first. 0 (the default): confirmed, 1: change of a pending transaction, 2 and more:
   * reserved by another build, the most recent last.
   */
  readonly preference?: number | undefined;
}

const hasAssets = ({ utxo }: Coin) => utxo.output.value.assets.size > 0;

function byLovelace({ utxo: a }: Coin, { utxo: b }: Coin): number {
  const difference = b.output.value.lovelace - a.output.value.lovelace;
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

/** Random order, with coins without assets before those with assets. */
export function randomOrder<C extends Coin>(coins: readonly C[], random: RandomIndex): C[] {
  const plain = shuffled(coins.filter((coin) => !hasAssets(coin)), random);
  return [...plain, ...shuffled(coins.filter(hasAssets), random)];
}

/** Largest lovelace first. */
export function largestFirst<C extends Coin>(coins: readonly C[]): C[] {
  return [...coins].sort(byLovelace);
}

/**
 * Coins by priority; within one priority those without assets first, then the largest. Coins that carry a reference
 * script are left out: other transactions may refer to them.
 */
export function priorityOrder<C extends Coin>(coins: readonly C[]): C[] {
  return coins.filter(({ utxo }) => utxo.output.script === undefined).sort((a, b) =>
    (a.preference ?? 0) - (b.preference ?? 0) || Number(hasAssets(a)) - Number(hasAssets(b)) || byLovelace(a, b) ||
    compareRefs(a.utxo.ref, b.utxo.ref)
  );
}

/** Assets of which a sum is negative, with the quantity missing. */
export function lackingAssets({ assets }: ValueSum): readonly (readonly [AssetId, bigint])[] {
  return [...assets].filter(([, quantity]) => quantity < 0n).map(([asset, quantity]) => [asset, -quantity]);
}

/** Coins in a fixed order; each is given once. */
export class CoinPool<C extends Coin> {
  private readonly taken: Uint8Array;
  private at = 0;

  constructor(private readonly coins: readonly C[]) {
    this.taken = new Uint8Array(coins.length);
  }

  /** The next coin; undefined when none is left. */
  next(): C | undefined {
    this.skipTaken();
    return this.at < this.coins.length ? this.take(this.at) : undefined;
  }

  /** The next coin, where it has no assets and `accepts` holds for it; otherwise it stays in the pool. */
  nextPlainIf(accepts: (coin: C) => boolean): C | undefined {
    this.skipTaken();
    const coin = this.coins[this.at];
    return coin && !hasAssets(coin) && accepts(coin) ? this.take(this.at) : undefined;
  }

  /** The next coin that holds an asset. */
  nextWith(asset: AssetId): C | undefined {
    const index = this.coins.findIndex((coin, i) => !this.taken[i] && coin.utxo.output.value.assets.has(asset));
    return index < 0 ? undefined : this.take(index);
  }

  /**
   * The smallest coin that alone covers all that is negative in `left`; the pool must be in the order `largestFirst`.
   */
  smallestFor(left: ValueSum): C | undefined {
    const lacking = lackingAssets(left);
    for (let i = this.coins.length - 1; i >= 0; i--) {
      const { lovelace, assets } = elementAt(this.coins, i).utxo.output.value;
      if (this.taken[i] || left.lovelace + lovelace < 0n) continue;
      if (lacking.every(([asset, quantity]) => (assets.get(asset) ?? 0n) >= quantity)) return this.take(i);
    }
    return undefined;
  }

  private skipTaken(): void {
    while (this.at < this.coins.length && this.taken[this.at]) this.at++;
  }

  private take(index: number): C {
    this.taken[index] = 1;
    return elementAt(this.coins, index);
  }
}
