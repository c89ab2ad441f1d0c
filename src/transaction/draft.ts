/** What a transaction must do and who pays for it; drafts of it on the way to the finished one. */
import type { Failure } from "#src/base/result.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { NewOutput, RedeemerFor, TransactionParts } from "#src/cardano/transaction.ts";
import type { Assets } from "#src/cardano/value.ts";
import type { Collateral } from "#src/transaction/collateral.ts";
import type { Candidate } from "#src/transaction/select.ts";

/** What a transaction must do. */
export interface Skeleton {
  /** Inputs that it must spend, beside those that pay for it. */
  readonly inputs: readonly Utxo[];
  /** Its first outputs, in this order; change follows. */
  readonly outputs: readonly NewOutput[];
  readonly mint?: Assets | undefined;
  readonly redeemers: readonly { readonly for: RedeemerFor; readonly data: Uint8Array }[];
  readonly references: readonly Utxo[];
  /** Plutus V3 scripts that travel along. */
  readonly scripts: readonly Uint8Array[];
  /** Key hashes. */
  readonly requiredSigners: readonly string[];
  /** First slot in which it is no longer valid. */
  readonly validTo?: number | undefined;
  readonly validFrom?: number | undefined;
}

/** Who pays, and gets the change. */
export interface Payer {
  /** Address, its bytes in hexadecimal. */
  readonly address: string;
  /** Unspent outputs of payment keys. */
  readonly available: readonly Candidate[];
}

/**
 * Why there is no such transaction. Details: `not_enough_money` `{shortfall, for}` with the lovelace missing, for `transaction` or `collateral`
 * (and `assets` where those are missing); `too_large` `{what, size, limit}` with `what` one of `bytes`, `memory`, `steps`, `inputs`;
 * `script_refused` `{logs}`; `not_evaluated` `{errors}`, which the ledger has of it (`CollectErrors`), where scripts cannot be run on it.
 */
export type BalanceFailure = Failure<"not_enough_money" | "too_large" | "script_refused" | "not_evaluated">;

/** Units by what the redeemer is for (`subjectOf`): its index may change with the inputs. */
export type UnitsOf = ReadonlyMap<string, Units>;

/** Sum of units. */
export function total(units: UnitsOf): Units {
  let memory = 0n, steps = 0n;
  for (const each of units.values()) {
    memory += each.memory;
    steps += each.steps;
  }
  return { memory, steps };
}

/** A whole transaction; where it lacks lovelace, with the least change that it could have. */
export interface Composed {
  readonly parts: TransactionParts;
  readonly transaction: Uint8Array;
  readonly fee: bigint;
  readonly size: number;
  readonly units: UnitsOf;
  readonly inputs: readonly Utxo[];
  readonly collateral?: Collateral;
  readonly change: readonly NewOutput[];
  /** Lovelace. */
  readonly missing: bigint;
  readonly missingCollateral: bigint;
}

/** A transaction, or why there is none and what it would have been. */
export type Paid =
  | { readonly draft: Composed; readonly failure?: never }
  | { readonly draft?: Composed; readonly failure: BalanceFailure };
