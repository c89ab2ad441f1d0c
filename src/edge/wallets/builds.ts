/** What is asked of wallets' actors beside commands: transactions that they build, and ones that they read. */
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
} from "#src/wallet/build/types.ts";

/** An answer as it comes over the bus: integers are `number` or `bigint`, bytes hexadecimal. */
type Answer<T> = Promise<Result<Messaged<T>, Failure>>;

/** The builds of a wallet, the same for each kind that has them (`wallet`, `shared-wallet`). */
export interface WalletBuilds {
  /** An unsigned transaction that does what is wished. Its inputs are avoided by other builds for two minutes. */
  construct(entity: EntityRef, wish: PaymentIntent, deadlineMs?: number): Answer<ConstructedTransaction>;
  /** What that would cost. */
  fees(entity: EntityRef, wish: PaymentIntent, deadlineMs?: number): Answer<FeeEstimate>;
  /** A partial transaction made whole. */
  balance(
    entity: EntityRef,
    input: Pick<BalanceInput, "transaction" | "inputs" | "redeemers">,
    deadlineMs?: number,
  ): Answer<ConstructedTransaction>;
  /** A part of the transactions that carry all that the wallet has to some addresses (their bytes in hexadecimal). */
  migrate(
    entity: EntityRef,
    asked: {
      readonly addresses: readonly string[];
      readonly part: number;
      readonly slot: number | null;
      readonly plan?: string;
    },
    deadlineMs?: number,
  ): Answer<MigrationPart>;
  /** A transaction, taken apart, with what of it is the wallet's. */
  decode(entity: EntityRef, transaction: Uint8Array, deadlineMs?: number): Answer<DecodedTransaction>;
}

/** Asks builds of actors. */
export function walletBuilds(build: Ask["build"]): WalletBuilds {
  const ask = <T>(entity: EntityRef, name: string, input: Json, deadlineMs?: number) =>
    build(entity, name, input, deadlineMs === undefined ? {} : { deadlineMs }) as Answer<T>;
  return {
    construct: (entity, wish, deadlineMs) => ask(entity, "construct", { wish: messaged(wish) }, deadlineMs),
    fees: (entity, wish, deadlineMs) => ask(entity, "fees", { wish: messaged(wish) }, deadlineMs),
    balance: (entity, input, deadlineMs) => ask(entity, "balance", messaged(input), deadlineMs),
    migrate: (entity, asked, deadlineMs) => ask(entity, "migrate", messaged(asked), deadlineMs),
    decode: (entity, transaction, deadlineMs) => ask(entity, "decode", { transaction: toHex(transaction) }, deadlineMs),
  };
}
