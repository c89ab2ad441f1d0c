/** Native assets of wallets; safe in a browser. */
import { z } from "zod";

export const asset = z.object({
  policy_id: z.string(),
  asset_name: z.string(),
  fingerprint: z.string().meta({ description: "CIP-14.", example: "asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3" }),
  metadata: z.object({
    name: z.string(),
    description: z.string(),
    ticker: z.string().optional(),
    decimals: z.int().optional(),
    url: z.string().optional(),
    logo: z.string().optional(),
  }).optional(),
  metadata_error: z.enum(["fetch", "parse"]).optional(),
}).meta({ id: "Asset" });
