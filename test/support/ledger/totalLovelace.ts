/** Lovelace of a state, from all its parts. */
import type { LedgerState } from "#src/ledger/state.ts";

/** Lovelace of all outputs, accounts and pots: no rule may change the sum. */
export function totalLovelace({ utxo, accounts, pots }: Pick<LedgerState, "utxo" | "accounts" | "pots">): bigint {
  let sum = Object.values(pots).reduce((total, pot) => total + pot, 0n);
  for (const { value } of utxo.outputs()) sum += value.lovelace;
  for (const [, { balance }] of accounts.entries()) sum += balance;
  return sum;
}
