/** Calls of the builds that wallets' actors serve: transactions built and decoded. */
import { type Json, type Messaged, messaged } from "#src/base/json.ts";
import { toHex } from "#src/base/bytes.ts";
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
    input: Pick<BalanceInput, "transaction" | "inputs" | "redeemers">,
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
  const call = <T>(entity: EntityRef, name: string, input: Json, deadlineMs?: number) =>
    build(entity, name, input, deadlineMs === undefined ? {} : { deadlineMs }) as BuildResult<T>;
  return {
    construct: (entity, intent, deadlineMs) => call(entity, "construct", { wish: messaged(intent) }, deadlineMs),
    fees: (entity, intent, deadlineMs) => call(entity, "fees", { wish: messaged(intent) }, deadlineMs),
    balance: (entity, input, deadlineMs) => call(entity, "balance", messaged(input), deadlineMs),
    migrate: (entity, part, deadlineMs) => call(entity, "migrate", messaged(part), deadlineMs),
    consolidate: (entity, part, deadlineMs) => call(entity, "consolidate", messaged(part), deadlineMs),
    decode: (entity, transaction, deadlineMs) =>
      call(entity, "decode", { transaction: toHex(transaction) }, deadlineMs),
  };
}
