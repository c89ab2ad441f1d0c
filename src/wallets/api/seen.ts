/** Transactions of the network's mempool that concern a wallet; safe in a browser. */
import { z } from "zod";
import { blockPlace, slotPlace } from "#src/wallets/api/places.ts";
import { amount } from "#src/wallets/api/text.ts";

/** Entries of a page at most, and without `limit`. */
export const SEEN_MOST = 1_000;

export const seenTransaction = z.object({
  id: z.string().describe("Hash of the transaction."),
  direction: z.enum(["outgoing", "incoming"]),
  amount: amount.describe("Lovelace that the wallet gains or loses."),
  assets: z.array(z.object({
    policy_id: z.string(),
    asset_name: z.string(),
    quantity: z.bigint().meta({ type: "integer", description: "Negative if the wallet loses it." }),
  })),
  addresses: z.array(z.string()).describe("Addresses of the wallet among the outputs."),
  incomplete: z.literal(true).optional().describe("Present if there are more assets or addresses than are listed."),
  seen_at: blockPlace.describe("Newest block when the transaction was first seen."),
  expires_at: slotPlace.optional(),
}).meta({ id: "SeenTransaction" });
