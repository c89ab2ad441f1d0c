/**
 * Reads payment intents and partial transactions that come over the bus as JSON: integers become `bigint`, hexadecimal
 * becomes bytes.
 */
import { z } from "zod";
import { fromHex } from "#src/base/bytes.ts";
import type { BalanceInput, PaymentIntent } from "#src/wallets/builds/types.ts";

const hex = z.string().regex(/^([0-9a-f]{2})*$/);
const hash = z.string().regex(/^[0-9a-f]{56}$/);
const whole = z.union([z.number().int(), z.bigint()]).transform((value) => BigInt(value));
const bound = z.object({ quantity: whole, unit: z.enum(["slot", "second"]) });
const template = z.custom<string>((value) =>
  typeof value === "string" || (typeof value === "object" && value !== null)
);

const ref = z.object({ txHash: hex, index: z.number().int().min(0) });

const intent: z.ZodType<PaymentIntent> = z.object({
  payments: z.array(
    z.object({ address: hex, lovelace: whole, assets: z.array(z.tuple([hex, whole])).optional() }),
  ).optional(),
  metadata: hex.optional(),
  mintBurn: z.array(z.object({
    policy: z.union([
      z.object({ template }),
      z.object({ id: hash, reference: ref }),
    ]),
    name: hex,
    quantity: whole,
    operation: z.enum(["mint", "burn"]),
    to: hex.optional(),
  })).optional(),
  delegations: z.array(z.object({ pool: hash.optional(), index: z.number().int().min(0) })).optional(),
  vote: z.union([
    z.object({ kind: z.enum(["key", "script"]), hash }),
    z.object({ kind: z.enum(["abstain", "no confidence"]) }),
  ]).optional(),
  withdrawal: z.union([z.literal("self"), z.object({ stakeKey: hash })]).optional(),
  validity: z.object({ from: bound.optional(), before: bound.optional() }).optional(),
  referencePolicy: template.optional(),
  coins: z.object({ spend: z.array(ref), only: z.boolean(), avoid: z.array(ref) }).optional(),
  changeTo: z.object({ address: hex, foreign: z.boolean() }).optional(),
}).strict();

/**
 * Reads a payment intent that `messaged` wrote.
 *
 * @throws ZodError where the message is not one; the edge has validated it before.
 */
export function receivePaymentIntent(message: unknown): PaymentIntent {
  return intent.parse(message);
}

const bytes = hex.transform(fromHex);

const partial: z.ZodType<Pick<BalanceInput, "transaction" | "inputs" | "redeemers">> = z.object({
  transaction: bytes,
  inputs: z.array(z.object({
    ref,
    output: z.object({
      address: hex,
      value: z.object({
        lovelace: whole,
        assets: z.array(z.tuple([hex, whole])).transform((pairs) => new Map(pairs)),
      }),
      datumHash: hex.optional(),
      raw: bytes,
    }).transform(({ datumHash, ...output }) => datumHash === undefined ? output : { ...output, datumHash }),
  })),
  redeemers: z.array(z.union([
    z.object({ purpose: z.literal("spending"), data: bytes, ref }),
    z.object({ purpose: z.literal("minting"), data: bytes, policy: hash }),
    z.object({ purpose: z.literal("rewarding"), data: bytes, account: hex }),
  ])),
});

/**
 * Reads a partial transaction with its inputs and redeemers that `messaged` wrote.
 *
 * @throws ZodError where the message is not one; the edge has validated it before.
 */
export function receivePartial(message: unknown): Pick<BalanceInput, "transaction" | "inputs" | "redeemers"> {
  return partial.parse(message);
}
