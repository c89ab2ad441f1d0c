/** Amounts, assets and outputs as clients are told them. */
import { jsonInteger } from "#src/base/json.ts";
import { addressText, hexAddressText, readAddressHex } from "#src/cardano/address.ts";
import { type AssetId, type Assets, nameOf, policyOf } from "#src/cardano/value.ts";

/** Lovelace. */
export const lovelace = (quantity: number | bigint) => ({ quantity: jsonInteger(quantity), unit: "lovelace" as const });

/** Quantities of assets, in the order of their ids. */
export function assetViews(assets: Assets | readonly (readonly [AssetId, number | bigint])[]) {
  return [...assets].sort(([a], [b]) => a < b ? -1 : 1).map(([asset, quantity]) => ({
    policy_id: policyOf(asset),
    asset_name: nameOf(asset),
    quantity: jsonInteger(quantity),
  }));
}

/** Text of an address out of its bytes; those that the ledger holds and nobody can read any more stay hexadecimal. */
export function addressView(hex: string): string {
  const known = hexAddressText(hex);
  if (known !== undefined) return known;
  const address = readAddressHex(hex);
  return address.ok ? addressText(address.value) : hex;
}
