/** Values: maps of policies, in each a map of names, both in ascending order of bytes. */
import { type Data, DataMap } from "#src/cardano/data.ts";
import { type Assets, nameOf, policyOf, type Value } from "#src/cardano/value.ts";
import { bytes } from "#src/plutus/context/forms.ts";

/** `Value` of an output. Lovelace stand first under the empty policy and the empty name, also when there are none. */
export function valueData({ lovelace, assets }: Value): DataMap {
  return new DataMap([lovelaceEntry(lovelace), ...assetEntries(assets)]);
}

/** `Value` of lovelace alone: how Plutus V1 and V2 see the fee. */
export function lovelaceValue(lovelace: bigint): DataMap {
  return new DataMap([lovelaceEntry(lovelace)]);
}

/** What is minted, as Plutus V1 and V2 see it: zero lovelace stand first, for the field was a whole value once. */
export function mintWithLovelace(mint: Assets): DataMap {
  return new DataMap([lovelaceEntry(0n), ...assetEntries(mint)]);
}

/** `MintValue`: what is minted, as Plutus V3 sees it. */
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
  // policies have one length, so that the order of whole assets is that of policies, then of names
  for (const asset of [...assets.keys()].sort()) {
    const policy = policyOf(asset);
    if (policy !== current) {
      names = [];
      entries.push([bytes(policy), new DataMap(names)]);
      current = policy;
    }
    names.push([bytes(nameOf(asset)), assets.get(asset)!]);
  }
  return entries;
}
