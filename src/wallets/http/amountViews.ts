/** Amounts, assets and outputs as the API shows them. */
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

/** An address as text; bytes that the ledger holds and that are no readable address stay hexadecimal. */
export function addressView(hex: string): string {
  const known = hexAddressText(hex);
  if (known !== undefined) return known;
  const address = readAddressHex(hex);
  return address.ok ? addressText(address.value) : hex;
}
