/**
 * Events of wallets for transactions that stand in the network's mempool: SEEN, and WITHDRAWN when one leaves it without
 * a block.
 */
import { z } from "zod";

const hash = z.string().regex(/^[0-9a-f]{64}$/).describe("Hash of the transaction.");
const direction = z.enum(["incoming", "outgoing"]).describe("Whether the wallet gains or loses lovelace.");
const amount = z.string().regex(/^\d+$/).describe("Lovelace that the wallet gains or loses, without a sign.");
const assets = z.record(z.string(), z.string().regex(/^-?\d+$/)).describe(
  "Quantities that the wallet gains, by policy id and asset name in hexadecimal; negative for those that it loses.",
);
const addresses = z.array(z.string()).describe("Addresses of the wallet among the outputs.");
const cut = z.boolean().optional().describe("True if there are more assets or addresses than an event has room for.");
const validTo = z.number().int().optional().describe("First slot in which the transaction is no longer valid.");
const at = z.object({ slot: z.number().int(), height: z.number().int() })
  .describe("Block up to which the chain was read when the transaction was seen.");
const reason = z.enum(["expired", "conflict", "failed", "left"]).describe(
  "`expired`: its last slot has passed. `conflict`: an input is gone. `failed`: its script failed in a block. `left`: none of these is known.",
);

/** The incarnation of the wallet that an event belongs to. */
const ofIncarnation = { life: z.number().int().positive().optional() };

const seen = { hash, direction, amount, assets, addresses, cut, validTo, at };
const withdrawn = { hash, reason };

/** Inputs of wallets of all kinds. */
export const seenInputs = [
  /** A transaction of the mempool concerns the wallet; the event TRANSACTION of a block or WITHDRAWN ends that. */
  z.object({ type: z.literal("SEEN"), ...seen, ...ofIncarnation }).strict(),
  /** A transaction that was seen left the mempool, and no block holds it. */
  z.object({ type: z.literal("WITHDRAWN"), ...withdrawn, ...ofIncarnation }).strict(),
] as const;

/** What subscribers get of these events. */
export const seenContent = { SEEN: z.object(seen), WITHDRAWN: z.object(withdrawn) };
