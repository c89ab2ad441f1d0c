/** Representatives in answers; safe in a browser. */
import { z } from "zod";
import { amount, whole } from "#src/wallets/api/text.ts";

/** A decimal text: sums of stake exceed the integers that JavaScript programs read exactly. */
export const votingPower = z.object({ quantity: z.string().regex(/^\d+$/), unit: z.literal("lovelace") });
const text = z.string().nullable();

const metadata = z.object({
  name: z.string(),
  objectives: text,
  motivations: text,
  qualifications: text,
  payment_address: text,
  do_not_list: z.boolean(),
  references: z.array(z.object({ label: z.string(), uri: z.string() })),
}).meta({ id: "DRepMetadata", description: "Metadata published by the DRep (CIP-119)." });

export const drepInfo = z.object({
  id: z.string().describe("`drep1…` (CIP-129)."),
  credential: z.object({ type: z.enum(["key_hash", "script_hash"]), hash: z.string() }),
  status: z.enum(["active", "inactive"]),
  expiry_epoch: z.int().min(0).optional().describe("Missing where the provider does not report it."),
  voting_power: votingPower,
  deposit: amount.optional().describe("Missing where the provider does not report it."),
  anchor: z.object({ url: z.string(), data_hash: z.string() }).nullable(),
  name: text,
  metadata: metadata.optional(),
}).meta({ id: "DRepInfo" });

const count = z.int().min(0);
export const drepSummary = z.object({
  total_drep_stake: votingPower,
  active_drep_count: count,
  inactive_drep_count: count,
  total_drep_count: count,
}).meta({ id: "DRepSummary" });

export const suggestedQuery = {
  count: z.string().regex(/^\d{1,9}$/, "count must be a whole number, at least 1").transform(Number)
    .pipe(whole(1, 999_999_999)).default(20)
    .meta({
      type: "integer",
      minimum: 1,
      maximum: 200,
      description: "Maximum number of DReps; at most 200 are returned.",
    }),
};
