/** Sums of values that grow in place: adding up ten thousand outputs must not copy a map for each. */
import type { AssetId, Value } from "#src/cardano/value.ts";

/** Lovelace and assets; quantities may be negative, and stay in it as zero. */
export class Bag {
  lovelace = 0n;
  readonly assets = new Map<AssetId, bigint>();

  /** A bag with the sum of some values. */
  static of(...values: readonly Value[]): Bag {
    const bag = new Bag();
    for (const value of values) bag.add(value);
    return bag;
  }

  /** Adds a value, or takes it away. */
  add(value: Value, sign: 1n | -1n = 1n): this {
    this.lovelace += sign * value.lovelace;
    for (const [asset, quantity] of value.assets) this.addAsset(asset, sign * quantity);
    return this;
  }

  /** Adds to one asset. */
  addAsset(asset: AssetId, quantity: bigint): void {
    this.assets.set(asset, (this.assets.get(asset) ?? 0n) + quantity);
  }

  /** Assets of which there is less than nothing, and how much. */
  lacking(): readonly (readonly [AssetId, bigint])[] {
    return [...this.assets].filter(([, quantity]) => quantity < 0n).map(([asset, quantity]) => [asset, -quantity]);
  }

  /** Whether nothing in it is negative. */
  isCovered(): boolean {
    if (this.lovelace < 0n) return false;
    for (const quantity of this.assets.values()) if (quantity < 0n) return false;
    return true;
  }

  /** The assets in it, without zeros. */
  held(): ReadonlyMap<AssetId, bigint> {
    return new Map([...this.assets].filter(([, quantity]) => quantity !== 0n));
  }
}
