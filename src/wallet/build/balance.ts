/** Completing a partial transaction. */
import type { Result } from "#src/base/result.ts";
import type { Measure } from "#src/balance/balance.ts";
import type { BalanceInput, BalanceTxFailure, Constructed } from "#src/wallet/build/types.ts";

/** The transaction with inputs, change, collateral, units and fee; what it had stays as it was, its own witnesses too. */
export function balanceTransaction(_input: BalanceInput, _measure: Measure): Result<Constructed, BalanceTxFailure> {
  throw new Error("not written");
}
