/** Amounts of lovelace and assets in requests and answers; safe in a browser. */
import { z } from "zod";
import { assetName, policyId } from "#src/wallets/api/params.ts";
import { amount, integer, lovelace, MOST, MOST_ASKED, shownHex } from "#src/wallets/api/text.ts";
import { anyAddress } from "#src/wallets/api/addresses.ts";

/** A requested quantity of an asset. */
export const assetToPay = z.object({ policy_id: policyId, asset_name: assetName, quantity: integer(0n, MOST_ASKED) });

/** A quantity of an asset in an external output. */
export const assetHeld = assetToPay.extend({ quantity: integer(0n, MOST) });

/** The parts of an asset's id in answers. */
export const shownPolicyId = shownHex(56);
export const shownAssetName = z.string().max(64);

/** CIP-14. */
export const fingerprint = z.string().length(44);

export const assetAmount = z.object({
  policy_id: shownPolicyId,
  asset_name: shownAssetName,
  quantity: z.bigint().meta({ type: "integer", minimum: 0 }),
}).meta({ id: "AssetAmount" });

export const payment = z.object({
  address: anyAddress,
  amount: lovelace,
  assets: z.array(assetToPay).optional(),
}).meta({ id: "Payment" });

export const shownOutput = z.object({ address: z.string(), amount, assets: z.array(assetAmount).optional() });

export const holdings = z.object({ available: z.array(assetAmount), total: z.array(assetAmount) });
