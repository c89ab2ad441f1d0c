/** Coins that are still to be had, in the order in which they are taken. */
import type { AssetId } from "#src/cardano/value.ts";
import type { Bag } from "#src/wallet/build/valueAccumulator.ts";
import { type Dice, shuffled } from "#src/wallet/build/random.ts";
import type { OwnCoin } from "#src/wallet/build/types.ts";

const hasAssets = ({ utxo }: OwnCoin) => utxo.output.value.assets.size > 0;
const amount = ({ utxo }: OwnCoin) => utxo.output.value.lovelace;

/** Random order, but that lovelace comes out of coins without assets while there are such. */
export function randomOrder(coins: readonly OwnCoin[], roll: Dice): OwnCoin[] {
  const plain = shuffled(coins.filter((coin) => !hasAssets(coin)), roll);
  return [...plain, ...shuffled(coins.filter(hasAssets), roll)];
}

/** Largest first. */
export function largestFirst(coins: readonly OwnCoin[]): OwnCoin[] {
  return [...coins].sort((a, b) => amount(a) > amount(b) ? -1 : amount(a) < amount(b) ? 1 : 0);
}

/** A pile of coins; each is given once. */
export class Pile {
  private readonly taken: Uint8Array;
  private at = 0;

  constructor(private readonly coins: readonly OwnCoin[]) {
    this.taken = new Uint8Array(coins.length);
  }

  /** The next coin, or undefined when there is none. */
  next(): OwnCoin | undefined {
    while (this.at < this.coins.length && this.taken[this.at]) this.at++;
    return this.at < this.coins.length ? this.take(this.at) : undefined;
  }

  /** The next coin that has no assets, where it is liked; one that is not liked ends the search and stays. */
  nextPlainIf(liked: (coin: OwnCoin) => boolean): OwnCoin | undefined {
    while (this.at < this.coins.length && this.taken[this.at]) this.at++;
    const coin = this.coins[this.at];
    return coin && !hasAssets(coin) && liked(coin) ? this.take(this.at) : undefined;
  }

  /** The next coin that holds an asset. */
  nextWith(asset: AssetId): OwnCoin | undefined {
    const index = this.coins.findIndex((coin, i) => !this.taken[i] && coin.utxo.output.value.assets.has(asset));
    return index < 0 ? undefined : this.take(index);
  }

  /** The smallest coin that alone makes up for all that is negative in a bag; the pile must be in the order `largestFirst`. */
  smallestFor(left: Bag): OwnCoin | undefined {
    const lacking = left.lacking();
    for (let i = this.coins.length - 1; i >= 0; i--) {
      const { lovelace, assets } = this.coins[i]!.utxo.output.value;
      if (this.taken[i] || left.lovelace + lovelace < 0n) continue;
      if (lacking.every(([asset, quantity]) => (assets.get(asset) ?? 0n) >= quantity)) return this.take(i);
    }
    return undefined;
  }

  private take(index: number): OwnCoin {
    this.taken[index] = 1;
    return this.coins[index]!;
  }
}
