/**
 * The documents of a Blockfrost service, as far as they are used.
 *
 * Amounts are decimal strings and counts are numbers; compatible services mix the two, so both are accepted everywhere.
 */
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { blockfrostError } from "#src/chain/provider/blockfrost/errors.ts";

export const whole = z.union([z.bigint(), z.number().int(), z.string().regex(/^-?\d{1,40}$/)]).transform((given) =>
  BigInt(given)
);
export const count = whole.transform((value, context) => {
  if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  context.addIssue({ code: "custom", message: "not a count" });
  return z.NEVER;
});
export const hash = z.string().regex(/^[0-9a-f]{64}$/);
const hex = z.string().regex(/^([0-9a-f]{2})*$/i);
/** A decimal fraction, exact. */
export const decimal = z.union([z.bigint(), z.number(), z.string()]).transform((given, context): Ratio => {
  const ratio = ratioOf(String(given));
  if (ratio) return ratio;
  context.addIssue({ code: "custom", message: "not a decimal fraction" });
  return z.NEVER;
});

/** The fraction that a decimal text states, in lowest terms; undefined if it is not one. */
export function ratioOf(text: string): Ratio | undefined {
  const parts = /^(\d{1,40})(?:\.(\d{1,40}))?(?:e([+-]?\d{1,2}))?$/i.exec(text);
  if (!parts) return undefined;
  const [, integer, fraction = "", exponent = "0"] = parts;
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(integer + fraction);
  const numerator = shift > 0 ? digits * 10n ** BigInt(shift) : digits;
  const denominator = shift < 0 ? 10n ** BigInt(-shift) : 1n;
  const common = divisor(numerator, denominator);
  return { numerator: numerator / common, denominator: denominator / common };
}

function divisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : divisor(b, a % b);
}

/** Transactions of a block at most. Blocks of existing networks hold less than a tenth. */
const MAX_TRANSACTIONS = 10_000;

export const blockDocument = z.object({
  hash,
  slot: count,
  height: count,
  size: count,
  tx_count: count.refine((transactions) => transactions <= MAX_TRANSACTIONS, "more than fit into a block"),
  /** Seconds since 1970. */
  time: count,
  previous_block: hash.nullish(),
});
/** A block, without its transactions. */
export type BlockDocument = z.infer<typeof blockDocument>;
export const blocksDocument = z.array(blockDocument).max(100);

export const transactionsDocument = z.array(z.object({ tx_hash: hash, cbor: hex })).max(100);
export const transactionDocument = z.object({ cbor: hex });

const amount = z.array(z.object({ unit: z.string().regex(/^(lovelace|[0-9a-f]{56,120})$/), quantity: whole }));
const output = z.object({
  address: z.string().max(1_000),
  output_index: count,
  amount,
  data_hash: hash.nullish(),
  inline_datum: hex.nullish(),
  reference_script_hash: z.string().nullish(),
});
export const addressOutputs = z.array(output.extend({ tx_hash: hash })).max(100);
export const transactionOutputs = z.object({
  hash,
  outputs: z.array(
    output.extend({ collateral: z.boolean().nullish(), consumed_by_tx: z.string().nullable().optional() }),
  ),
});
/** An output of the service. */
export type OutputDocument = z.infer<typeof output>;

/** Private networks may have fractions of seconds. */
export const seconds = z.union([z.number(), z.bigint()]).transform(Number);
export const genesisDocument = z.object({
  network_magic: count,
  active_slots_coefficient: decimal,
  security_param: count,
  slot_length: seconds,
  /** Seconds since 1970. */
  system_start: count,
  epoch_length: count,
  max_lovelace_supply: whole,
});

const bound = z.object({ time: seconds, slot: count, epoch: count });
export const erasDocument = z.array(z.object({
  start: bound,
  end: bound,
  parameters: z.object({ slot_length: seconds, epoch_length: count, safe_zone: count }),
}));

export const epochDocument = z.object({ epoch: count });

export const accountDocument = z.object({
  active: z.boolean(),
  /** Newer than `active`, which used to mean the same. */
  registered: z.boolean().optional(),
  withdrawable_amount: whole,
  pool_id: z.string().max(200).nullish(),
  drep_id: z.string().max(200).nullish(),
});

/** A representative. `active` is not read: it used to mean what `retired` and `expired` say now. */
export const drepDocument = z.object({
  amount: whole,
  retired: z.boolean(),
  expired: z.boolean(),
});

/** Where a representative's metadata is. */
export const drepMetadataDocument = z.object({ url: z.string().max(1_000), hash: z.string().max(100) });

/** A governance action, and the epochs of what became of it. */
export const proposalDocument = z.object({
  enacted_epoch: count.nullish(),
  dropped_epoch: count.nullish(),
  expired_epoch: count.nullish(),
  /** The last epoch in which it is voted on. */
  expiration: count,
});

export const poolsDocument = z.array(z.object({
  pool_id: z.string().max(200),
  live_stake: whole,
  declared_pledge: whole,
  margin_cost: decimal,
  fixed_cost: whole,
  metadata: z.object({ url: z.string().max(1_000).nullish(), hash: z.string().max(100).nullish() }).nullish(),
})).max(1_000);

export const retiringDocument = z.array(z.object({ pool_id: z.string().max(200), epoch: count })).max(1_000);

export const networkDocument = z.object({ supply: z.object({ total: whole }) });

export const parametersDocument = z.object({
  min_fee_a: whole,
  min_fee_b: whole,
  max_block_size: count,
  max_tx_size: count,
  max_block_header_size: count,
  key_deposit: whole,
  pool_deposit: whole,
  e_max: count,
  n_opt: count,
  a0: decimal,
  rho: decimal,
  tau: decimal,
  protocol_major_ver: count,
  protocol_minor_ver: count,
  min_pool_cost: whole,
  price_mem: decimal,
  price_step: decimal,
  max_tx_ex_mem: whole,
  max_tx_ex_steps: whole,
  max_block_ex_mem: whole,
  max_block_ex_steps: whole,
  max_val_size: count,
  collateral_percent: count,
  max_collateral_inputs: count,
  coins_per_utxo_size: whole,
  gov_action_deposit: whole,
  drep_deposit: whole,
  min_fee_ref_script_cost_per_byte: decimal,
  cost_models_raw: z.record(z.string(), z.array(whole)),
});

/**
 * Parses an answer.
 *
 * @throws BlockfrostError `unusable`, with what is wrong.
 */
export function parse<T>(form: z.ZodType<T>, answer: Json, what: string): T {
  const found = form.safeParse(answer);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const at = issue && issue.path.length > 0 ? ` (${issue.path.join(".")}: ${issue.message.slice(0, 100)})` : "";
  throw blockfrostError("unusable", `The service returned malformed data for ${what}${at}.`);
}
