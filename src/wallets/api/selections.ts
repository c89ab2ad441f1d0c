/** Coin selections without a transaction, and wallet migrations; safe in a browser. */
import { z } from "zod";
import { anyAddress } from "#src/wallets/api/addresses.ts";
import { assetAmount } from "#src/wallets/api/amounts.ts";
import { poolId } from "#src/wallets/api/params.ts";
import { amount, lovelace, passphrase, whole } from "#src/wallets/api/text.ts";
import { byronFeesBody, coinSelection, paymentFeesBody } from "#src/wallets/api/transactions.ts";

const action = z.discriminatedUnion("action", [
  z.object({ action: z.literal("join"), pool: poolId }),
  z.object({ action: z.literal("quit") }),
]);

/** Payments, or an action on the delegation. */
export const selectBody = paymentFeesBody.partial({ payments: true }).extend({
  delegation_action: action.optional().describe("Cannot be combined with payments and their options."),
}).refine(
  ({ delegation_action: delegates, ...others }) =>
    delegates === undefined
      ? others.payments !== undefined
      : Object.values(others).every((value) => value === undefined),
  "expected either payments or a delegation_action",
).meta({ id: "SelectCoinsBody" });

export const byronSelectBody = byronFeesBody.meta({ id: "ByronSelectCoinsBody" });

const addresses = z.array(anyAddress).min(1).max(1_000).describe("Target addresses, used in rotation.");
export const planBody = z.object({ addresses }).meta({ id: "MigrationPlanBody" });
export const migrationBody = z.object({ passphrase, addresses }).meta({ id: "MigrationBody" });

const balance = z.object({ ada: amount, assets: z.array(assetAmount) });
const merging = {
  below: lovelace.default({ quantity: 5_000_000n, unit: "lovelace" }).describe(
    "Outputs with less lovelace are merged; 5 ada by default.",
  ),
  max_transactions: whole(1, 50).default(10),
};
export const consolidationPlanBody = z.object(merging).meta({ id: "ConsolidationPlanBody" });
export const consolidationBody = z.object({ ...merging, passphrase }).meta({ id: "ConsolidationBody" });
export const consolidationPlan = z.object({
  selections: z.array(coinSelection).describe("One coin selection per transaction."),
  total_fee: amount,
  merged: z.int().describe("Outputs that are merged."),
  into: z.int().describe("Outputs that they become."),
}).meta({ id: "ConsolidationPlan" });

export const migrationPlan = z.object({
  selections: z.array(coinSelection).describe("One coin selection per transaction."),
  total_fee: amount,
  balance_leftover: balance.describe(
    "Balance of the outputs that are not migrated because their fee exceeds their value.",
  ),
  balance_selected: balance.describe("Balance of the migrated outputs and the withdrawn rewards, before fees."),
}).meta({ id: "MigrationPlan" });
