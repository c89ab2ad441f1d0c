/** Spending limits of wallets; safe in a browser. */
import { z } from "zod";
import { amount, lovelace, passphrase } from "#src/wallets/api/text.ts";

export const limitBody = z.object({
  passphrase,
  per_day: lovelace.describe("Lovelace that may leave the wallet in 24 hours."),
}).meta({ id: "SpendingLimitBody" });
export const unlimitedBody = z.object({ passphrase }).meta({ id: "NoSpendingLimitBody" });

export const spendingState = z.object({
  per_day: amount.optional(),
  spent: amount.optional().describe("Lovelace that left the wallet in the last 24 hours, or is signed for."),
  remaining: amount.optional(),
}).meta({ id: "SpendingState", description: "Empty where the wallet has no limit." });
