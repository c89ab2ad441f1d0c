/** Lovelace and native assets. */
import type { Encodable, Item } from "#src/cardano/cbor.ts";
import { fromHex } from "#src/base/bytes.ts";
import { mustGet } from "#src/base/maps.ts";
import { major, Walk } from "#src/cardano/walk.ts";

/** Policy id (56 hexadecimal digits) followed by the asset name (0 to 64 hexadecimal digits). */
export type AssetId = string;
/** Quantities by asset; none of them zero. */
export type Assets = ReadonlyMap<AssetId, bigint>;
/** What an output holds: lovelace, and quantities of assets. */
export interface Value {
  readonly lovelace: bigint;
  readonly assets: Assets;
}

export const noAssets: Assets = new Map();

/** A value of lovelace alone. */
export function lovelace(amount: bigint): Value {
  return { lovelace: amount, assets: noAssets };
}

/** Policy id of an asset. */
export function policyOf(asset: AssetId): string {
  return asset.slice(0, 56);
}

/** Name of an asset, in hexadecimal. */
export function nameOf(asset: AssetId): string {
  return asset.slice(56);
}

/** Sum of asset quantities, `sign` times the second; entries that come to zero are dropped. */
export function addAssets(a: Assets, b: Assets, sign: 1n | -1n = 1n): Assets {
  if (b.size === 0) return a;
  const sum = new Map(a);
  addInto(sum, b, sign);
  return sum;
}

function addInto(sum: Map<AssetId, bigint>, assets: Assets, sign: 1n | -1n): void {
  for (const [asset, quantity] of assets) {
    const total = (sum.get(asset) ?? 0n) + sign * quantity;
    if (total === 0n) sum.delete(asset);
    else sum.set(asset, total);
  }
}

/** A mutable sum. Adding a value takes time proportional to that value only; `addValues` copies the whole sum. */
export class ValueSum implements Value {
  lovelace = 0n;
  readonly assets = new Map<AssetId, bigint>();

  /** Adds a value, `sign` times. */
  add({ lovelace, assets }: Value, sign: 1n | -1n = 1n): this {
    this.lovelace += sign * lovelace;
    addInto(this.assets, assets, sign);
    return this;
  }
}

/** a + b. */
export function addValues(a: Value, b: Value): Value {
  return { lovelace: a.lovelace + b.lovelace, assets: addAssets(a.assets, b.assets) };
}

/** a − b; quantities may come out negative. */
export function subtractValues(a: Value, b: Value): Value {
  return { lovelace: a.lovelace - b.lovelace, assets: addAssets(a.assets, b.assets, -1n) };
}

/** Sum of values. */
export function sumValues(values: Iterable<Value>): Value {
  const sum = new ValueSum();
  for (const value of values) sum.add(value);
  return { lovelace: sum.lovelace, assets: sum.assets };
}

/** Whether two values hold the same. */
export function sameValue(a: Value, b: Value): boolean {
  if (a.lovelace !== b.lovelace || a.assets.size !== b.assets.size) return false;
  for (const [asset, quantity] of a.assets) if (b.assets.get(asset) !== quantity) return false;
  return true;
}

/** Reads `multiasset` of the ledger's CDDL. */
export function readAssets(item: Item): Assets {
  return walkAssets(new Walk(item.source, item.start));
}

/** Reads `multiasset` at the position of a walk. */
export function walkAssets(walk: Walk): Assets {
  const assets = new Map<AssetId, bigint>();
  const policies = walk.map();
  for (let i = 0; walk.more(i, policies); i++) {
    const policy = walk.hex();
    const names = walk.map();
    for (let j = 0; walk.more(j, names); j++) {
      const asset = policy + walk.hex();
      const total = (assets.get(asset) ?? 0n) + walk.int();
      if (total === 0n) assets.delete(asset);
      else assets.set(asset, total);
    }
  }
  return assets;
}

/** Reads `value`: a coin, or a coin and assets. */
export function readValue(item: Item): Value {
  return walkValue(new Walk(item.source, item.start));
}

/** Reads `value` at the position of a walk. */
export function walkValue(walk: Walk): Value {
  if (walk.major !== major.array) return lovelace(walk.int());
  const start = walk.at;
  walk.tuple("value", 2);
  const value = { lovelace: walk.int(), assets: walkAssets(walk) };
  walk.close(start);
  return value;
}

/** `multiasset` in the ledger's canonical order: shorter names first, then by bytes. */
export function encodeAssets(assets: Assets): Encodable {
  const policies = new Map<string, string[]>();
  for (const asset of assets.keys()) {
    const names = policies.get(policyOf(asset));
    if (names) names.push(nameOf(asset));
    else policies.set(policyOf(asset), [nameOf(asset)]);
  }
  const byLength = (a: string, b: string) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  return new Map(
    [...policies].sort(([a], [b]) => byLength(a, b)).map(([policy, names]) => [
      fromHex(policy),
      new Map(names.sort(byLength).map((name) => [fromHex(name), mustGet(assets, policy + name)])),
    ]),
  );
}

/** `value` of the ledger's CDDL. */
export function encodeValue(value: Value): Encodable {
  return value.assets.size === 0 ? value.lovelace : [value.lovelace, encodeAssets(value.assets)];
}
