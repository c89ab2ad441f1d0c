/** Stake pools and the source of their metadata; safe in a browser. */
import { z } from "zod";
import { epochStart, time } from "#src/wallets/api/places.ts";
import { amount, MOST_LOVELACE } from "#src/wallets/api/text.ts";

export const percent = z.object({ quantity: z.number().min(0).max(100), unit: z.literal("percent") });

export const stakePool = z.object({
  id: z.string().describe("`pool1…`"),
  metrics: z.object({
    non_myopic_member_rewards: amount.describe("Expected rewards per epoch for the stake in the query."),
    relative_stake: percent,
    saturation: z.number().min(0).describe("Saturation; from 1 on, additional stake earns no additional rewards."),
    produced_blocks: z.object({ quantity: z.bigint().meta({ type: "integer", minimum: 0 }), unit: z.literal("block") })
      .describe("Blocks produced since this service started to index the chain."),
  }),
  cost: amount,
  margin: percent,
  pledge: amount,
  metadata: z.object({
    ticker: z.string().min(3).max(5),
    name: z.string().min(1).max(50),
    description: z.string().max(255).optional(),
    homepage: z.string(),
  }).optional(),
  retirement: epochStart.optional(),
  flags: z.array(z.enum(["delisted"])),
}).meta({ id: "StakePool" });

export const stakePoolsQuery = {
  // a missing stake has an error code of its own
  stake: z.string().optional().transform((text, context) => {
    if (text === undefined) return undefined;
    const value = /^\d{1,17}$/.test(text) ? BigInt(text) : -1n;
    if (value >= 0n && value <= MOST_LOVELACE) return value;
    context.addIssue({ code: "custom", message: `The stake must be a whole number from 0 to ${MOST_LOVELACE}.` });
    return z.NEVER;
  }).meta({
    type: "integer",
    minimum: 0,
    maximum: Number(MOST_LOVELACE),
    description: "Lovelace to delegate; determines the ranking. Required.",
    example: 1_000_000_000,
  }),
};

const SERVER = /^https?:\/\/[a-zA-Z0-9-_~.]+(:[0-9]+)?\/?$/;
const source = z.string().refine(
  (text) => text === "none" || text === "direct" || SERVER.test(text),
  "expected 'none', 'direct' or the URL of a SMASH server, without a path",
).meta({
  description: "`none`, `direct` (from the URL in each pool's registration), or the URL of a SMASH server.",
  example: "direct",
});
export const settings = z.object({ pool_metadata_source: source }).meta({ id: "Settings" });
export const settingsBody = z.object({ settings: settings.optional() }).meta({ id: "SettingsBody" });

export const smashQuery = {
  url: z.string().refine((text) => SERVER.test(text), "The url must be that of a SMASH server, without a path.")
    .optional().describe("URL of the SMASH server. Default: the server in the settings."),
};
export const smashHealth = z.object({
  health: z.enum(["available", "unavailable", "unreachable", "no_smash_configured"]),
}).meta({ id: "SmashHealth" });

export const maintenanceBody = z.object({ maintenance_action: z.enum(["gc_stake_pools"]) }).meta({
  id: "MaintenanceBody",
});
export const maintenance = z.object({
  gc_stake_pools: z.object({
    status: z.enum(["not_applicable", "not_started", "restarting", "has_run"]),
    last_run: time.optional(),
  }),
}).meta({ id: "Maintenance" });
