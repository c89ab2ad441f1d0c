/**
 * The builds that wallets' actors serve, as calls over the bus: what callers send, and the schemas by which the actors
 * read it. An intent is the same value on both sides; between processes it is JSON, so integers are read as `bigint`
 * and, in partial transactions, hexadecimal as bytes.
 */
import { z } from "zod";
import { fromHex } from "#src/base/bytes.ts";
import { type Messaged, messaged } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type {
  BalanceInput,
  ConstructedTransaction,
  DecodedTransaction,
  FeeEstimate,
  MigrationPart,
  PaymentIntent,
} from "#src/wallets/builds/types.ts";

/** A result as it comes over the bus: integers are `number` or `bigint`, bytes hexadecimal. */
type BuildResult<T> = Promise<Result<Messaged<T>, Failure>>;

/** The builds of a wallet, the same for each kind that has them (`wallet`, `shared-wallet`). */
export interface WalletBuilds {
  /** An unsigned transaction that carries out an intent. Other builds avoid its inputs for two minutes. */
  construct(entity: EntityRef, intent: PaymentIntent, deadlineMs?: number): BuildResult<ConstructedTransaction>;
  /** The fee of such a transaction, in lovelace. */
  fees(entity: EntityRef, intent: PaymentIntent, deadlineMs?: number): BuildResult<FeeEstimate>;
  /** A partial transaction, completed: inputs, change, collateral, execution units, fee. */
  balance(
    entity: EntityRef,
    input: PartialTransaction,
    deadlineMs?: number,
  ): BuildResult<ConstructedTransaction & Warned>;
  /** A part of the transactions that move everything the wallet has to some addresses (bytes in hexadecimal). */
  migrate(
    entity: EntityRef,
    part: PlanPart & { readonly addresses: readonly string[] },
    deadlineMs?: number,
  ): BuildResult<MigrationPart>;
  /** A part of the transactions that merge the wallet's coins of less than `below` lovelace. */
  consolidate(entity: EntityRef, part: PlanPart & Consolidation, deadlineMs?: number): BuildResult<MigrationPart>;
  /** A transaction, decoded, with what of it is the wallet's. */
  decode(entity: EntityRef, transaction: Uint8Array, deadlineMs?: number): BuildResult<DecodedTransaction>;
}

/** A partial transaction, with outputs that it spends and arguments for its scripts. */
export type PartialTransaction = Pick<BalanceInput, "transaction" | "inputs" | "redeemers">;

/** A part of a plan; `slot` and `plan` are those of its first part, null and absent for that. */
export interface PlanPart {
  readonly part: number;
  readonly slot: number | null;
  readonly plan?: string;
}

/** Which coins a consolidation merges. */
export interface Consolidation {
  readonly below: bigint;
  /** Most transactions. */
  readonly most: number;
  /** Whether it is never signed: then any change address will do. */
  readonly estimate: boolean;
}

/** Warnings beside a built transaction. */
export interface Warned {
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}

/** The builds of wallets' actors, called over the bus. */
export function walletBuilds(build: Ask["build"]): WalletBuilds {
  const call = <T>(entity: EntityRef, name: string, input: object, deadlineMs?: number) =>
    build(entity, name, messaged(input), deadlineMs === undefined ? {} : { deadlineMs }) as BuildResult<T>;
  return {
    construct: (entity, intent, deadlineMs) => call(entity, "construct", { [SENT_AS]: intent }, deadlineMs),
    fees: (entity, intent, deadlineMs) => call(entity, "fees", { [SENT_AS]: intent }, deadlineMs),
    balance: (entity, input, deadlineMs) => call(entity, "balance", input, deadlineMs),
    migrate: (entity, part, deadlineMs) => call(entity, "migrate", part, deadlineMs),
    consolidate: (entity, part, deadlineMs) => call(entity, "consolidate", part, deadlineMs),
    decode: (entity, transaction, deadlineMs) => call(entity, "decode", { transaction }, deadlineMs),
  };
}

const hex = z.string().regex(/^([0-9a-f]{2})*$/);
const hash = z.string().regex(/^[0-9a-f]{56}$/);
const whole = z.union([z.number().int(), z.bigint()]).transform((value) => BigInt(value));
const bound = z.object({ quantity: whole, unit: z.enum(["slot", "second"]) });
const template = z.custom<string>((value) =>
  typeof value === "string" || (typeof value === "object" && value !== null)
);

const ref = z.object({ txHash: hex, index: z.number().int().min(0) });

const anchor = z.object({ url: z.string(), hash: hex }).optional();

const paymentIntent: z.ZodType<PaymentIntent> = z.object({
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
  governance: z.object({
    drep: z.object({ does: z.enum(["register", "update", "deregister"]), anchor }).optional(),
    votes: z.array(
      z.object({
        action: ref,
        vote: z.enum(["no", "yes", "abstain"]),
        anchor,
      }).transform(({ anchor, ...vote }) => anchor ? { ...vote, anchor } : vote),
    ).optional(),
  }).optional(),
  withdrawal: z.union([z.literal("self"), z.object({ stakeKey: hash })]).optional(),
  validity: z.object({ from: bound.optional(), before: bound.optional() }).optional(),
  referencePolicy: template.optional(),
  coins: z.object({ spend: z.array(ref), only: z.boolean(), avoid: z.array(ref) }).optional(),
  changeTo: z.object({ address: hex, foreign: z.boolean() }).optional(),
}).strict();

/** A member that the kind's published schema only names: the edge has validated what it makes it of. */
const member = <T>(schema: z.ZodType<T>) => z.unknown().pipe(schema);

/**
 * The member that has the intent. Workers of earlier releases (2026.11.23) know only `wish`, and processes are replaced
 * one by one: it is sent until a release after one that reads `intent`.
 */
const SENT_AS = "wish";

/** Input of `construct` and `fees`. */
export const intentInput: z.ZodType<{ readonly intent: PaymentIntent }> = z.union([
  z.object({ intent: member(paymentIntent) }),
  z.object({ wish: member(paymentIntent) }).transform(({ wish }) => ({ intent: wish })),
]);

const bytes = hex.transform(fromHex);

/** Input of `balance`. */
export const balanceInput: z.ZodType<PartialTransaction> = z.object({
  transaction: member(bytes),
  inputs: member(z.array(z.object({
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
  }))),
  redeemers: member(z.array(z.union([
    z.object({ purpose: z.literal("spending"), data: bytes, ref }),
    z.object({ purpose: z.literal("minting"), data: bytes, policy: hash }),
    z.object({ purpose: z.literal("rewarding"), data: bytes, account: hex }),
  ]))),
});

/** Input of `decode`. */
export const decodeInput = z.object({ transaction: bytes });
