/** Native assets of wallets; safe in a browser. */
import { z } from "zod";
import { fingerprint, shownAssetName, shownPolicyId } from "#src/wallets/api/amounts.ts";

export const asset = z.object({
  policy_id: shownPolicyId,
  asset_name: shownAssetName,
  fingerprint: fingerprint.meta({ description: "CIP-14.", example: "asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3" }),
  metadata: z.object({
    name: z.string().min(1).max(50),
    description: z.string().max(500),
    ticker: z.string().min(2).max(9).optional(),
    decimals: z.int().min(0).max(255).optional(),
    url: z.string().max(250).optional(),
    logo: z.string().max(87_400).optional(),
  }).optional(),
  metadata_error: z.enum(["fetch", "parse"]).optional(),
}).meta({ id: "Asset" });
