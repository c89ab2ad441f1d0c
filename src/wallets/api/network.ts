/** The network in answers of the wallet service; safe in a browser. */
import { z } from "zod";
import { shownHex } from "#src/wallets/api/text.ts";
import { blockPlace, count, epochStart, slotPlace, time } from "#src/wallets/api/places.ts";

export const syncProgress = z.object({
  status: z.enum(["ready", "syncing", "not_responding"]),
  progress: z.object({ quantity: z.number().min(0).max(100), unit: z.literal("percent") }).optional(),
});

const ERAS = ["byron", "shelley", "allegra", "mary", "alonzo", "babbage", "conway"] as const;

export const networkInformation = z.object({
  sync_progress: syncProgress,
  node_tip: blockPlace.describe("The last block that this service has processed."),
  network_tip: slotPlace.optional().describe("The current slot, if known."),
  next_epoch: epochStart.optional(),
  node_era: z.enum([...ERAS, "dijkstra"]),
  network_info: z.object({ protocol_magic: count, network_id: z.enum(["mainnet", "testnet"]) }),
  wallet_mode: z.enum(["node", "light"]),
}).meta({ id: "NetworkInformation" });

export const networkClock = z.object({
  status: z.enum(["available", "unavailable", "pending"]),
  offset: z.object({ quantity: z.int(), unit: z.literal("microsecond") }).optional(),
}).meta({ id: "NetworkClock" });

const percent = z.object({ quantity: z.number().min(0).max(100), unit: z.literal("percent") });
const unit = <U extends string>(name: U) => z.object({ quantity: z.number().min(0), unit: z.literal(name) });

const whole = <U extends string>(name: U) => z.object({ quantity: count, unit: z.literal(name) });
// a union: `nullable` of a schema with an id is described without null
const eraStart = z.union([epochStart, z.null()]);

export const networkParameters = z.object({
  genesis_block_hash: z.string().describe(
    "Hash of the first genesis; empty if the network provider does not report it.",
  ),
  blockchain_start_time: time,
  slot_length: unit("second"),
  epoch_length: whole("slot"),
  security_parameter: whole("block"),
  active_slot_coefficient: percent,
  decentralization_level: percent,
  desired_pool_number: count,
  eras: z.object({
    byron: eraStart,
    shelley: eraStart,
    allegra: eraStart,
    mary: eraStart,
    alonzo: eraStart,
    babbage: eraStart,
    conway: eraStart,
  }),
  maximum_collateral_input_count: count,
  minimum_collateral_percentage: count,
  maximum_token_bundle_size: unit("byte"),
  execution_unit_prices: z.object({ step_price: z.number().min(0), memory_unit_price: z.number().min(0) }),
}).meta({ id: "NetworkParameters" });

export const blockHeader = z.object({
  header_hash: shownHex(64),
  slot_no: z.object({ quantity: count, unit: z.literal("slot") }),
  block_height: z.object({ quantity: count, unit: z.literal("block") }),
}).meta({ id: "BlockHeader" });

export const epochQuery = {
  epoch: z.string().regex(/^(latest|\d{1,9})$/, "expected `latest` or the number of an epoch").optional().meta({
    description: "`latest`, or an epoch up to the current one. The response always has the current parameters.",
    example: "latest",
  }),
};
export const clockQuery = {
  forceNtpCheck: z.string().transform((text) => text !== "false").optional().meta({
    type: "boolean",
    description:
      "Ask the NTP servers now, and wait for the result. Within 2 seconds of the last check its result is returned.",
  }),
};
