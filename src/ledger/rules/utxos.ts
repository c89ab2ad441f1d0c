/** Rule UTXOS: runs Plutus scripts; their result must be the one that the transaction states. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import { plutusUses, type Scripts } from "#src/ledger/scripts.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import type { Evaluate, Evaluation } from "#src/plutus/types.ts";

/**
 * Runs the scripts of a transaction that passed all other rules; `utxos` are all its inputs. A transaction that its scripts cannot be shown is
 * refused whatever it says of its validity: neither its inputs nor its collateral may be spent.
 */
export async function checkPhase2(
  { bytes, valid }: Transaction,
  utxos: readonly Utxo[],
  scripts: Scripts,
  parameters: Parameters,
  evaluate: Evaluate,
  slots: SlotConfig,
): Promise<LedgerFailure[]> {
  const evaluation: Evaluation = plutusUses(scripts).length === 0
    ? { ok: true, redeemers: [] }
    : await evaluate({ transaction: bytes, utxos, parameters, slots, limited: true });
  if (evaluation.ok) return valid ? [] : [{ name: "ValidationTagMismatch", kind: "PassedUnexpectedly" }];
  switch (evaluation.kind) {
    case "undecodable":
      return [{ name: "DeserialiseFailure", message: evaluation.message }];
    case "not_collected":
      return [{ name: "CollectErrors", errors: evaluation.errors }];
    case "refused": {
      const { message, logs } = evaluation;
      return valid ? [{ name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message, logs }] : [];
    }
    case "over_limit":
      throw new TypeError("scripts ran without the limits of their redeemers");
  }
}
