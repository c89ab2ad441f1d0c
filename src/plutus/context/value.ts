/** Values: a map from policy to a map from name to amount, both in ascending byte order. */
import { type Data, DataMap } from "#src/cardano/data.ts";
import { type Assets, nameOf, policyOf, type Value } from "#src/cardano/value.ts";
import { bytes } from "#src/plutus/context/forms.ts";

/** `Value` of an output. The first entry is the lovelace, under the empty policy and name, even if it is zero. */
export function valueData({ lovelace, assets }: Value): DataMap {
  return new DataMap([lovelaceEntry(lovelace), ...assetEntries(assets)]);
}

/** `Value` of lovelace alone: the fee in Plutus V1 and V2. */
export function lovelaceValue(lovelace: bigint): DataMap {
  return new DataMap([lovelaceEntry(lovelace)]);
}

/** The minted assets in Plutus V1 and V2. The first entry is zero lovelace, because the field once was a complete value. */
export function mintWithLovelace(mint: Assets): DataMap {
  return new DataMap([lovelaceEntry(0n), ...assetEntries(mint)]);
}

/** `MintValue`: the minted assets in Plutus V3. */
export function mintData(mint: Assets): DataMap {
  return new DataMap(assetEntries(mint));
}

function lovelaceEntry(lovelace: bigint): [Data, Data] {
  const none = bytes("");
  return [none, new DataMap([[none, lovelace]])];
}

function assetEntries(assets: Assets): [Data, Data][] {
  const entries: [Data, Data][] = [];
  let names: [Data, Data][] = [];
  let current: string | undefined;
  // all policies have the same length, so asset ids sort by policy, then by name
  for (const [asset, amount] of [...assets].sort(([a], [b]) => a < b ? -1 : 1)) {
    const policy = policyOf(asset);
    if (policy !== current) {
      names = [];
      entries.push([bytes(policy), new DataMap(names)]);
      current = policy;
    }
    names.push([bytes(nameOf(asset)), amount]);
  }
  return entries;
}
