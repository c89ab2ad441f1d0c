/** Delegation of a wallet's stake; safe in a browser. */
import { z } from "zod";
import { count, epochStart } from "#src/wallets/api/places.ts";
import { amount } from "#src/wallets/api/text.ts";

const whom = {
  status: z.enum(["not_delegating", "delegating", "voting", "delegating_and_voting"]),
  target: z.string().optional().describe("Id of the pool, `pool1…`."),
  voting: z.string().optional().describe("`abstain`, `no_confidence`, or `drep1…` (CIP-129)."),
};

export const delegation = z.object({
  active: z.object(whom).describe("Delegation in effect in this epoch."),
  next: z.array(z.object({ ...whom, changes_at: epochStart })).describe(
    "Delegations that take effect in later epochs.",
  ),
}).meta({ id: "Delegation" });

export const stakeKeys = z.object({
  ours: z.array(z.object({
    index: count.max(2_147_483_647),
    key: z.string().describe("Reward address."),
    stake: amount,
    reward_balance: amount,
    delegation,
  })),
  foreign: z.array(z.object({ key: z.string(), stake: amount, reward_balance: amount })),
  none: z.object({ stake: amount }),
}).meta({ id: "StakeKeys" });
