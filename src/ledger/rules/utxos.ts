/** Rule UTXOS: runs Plutus scripts; their result must be the one that the transaction states. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import { plutusUses, type Scripts } from "#src/ledger/scripts.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import type { Evaluate, Evaluation } from "#src/plutus/types.ts";

/**
 * Runs the scripts of a transaction that passed all other rules; `utxos` are all its inputs. A transaction that its scripts cannot be shown is
 * refused whatever it says of its validity: neither its inputs nor its collateral may be spent. So is one with a bound at or past the `horizon`,
 * the first slot whose time is not known.
 */
export async function checkPhase2(
  { bytes, valid, body: { from = 0n, before = 0n } }: Transaction,
  utxos: readonly Utxo[],
  scripts: Scripts,
  parameters: Parameters,
  evaluate: Evaluate,
  slots: SlotConfig,
  horizon = Infinity,
): Promise<LedgerFailure[]> {
  const past = from >= horizon || before >= horizon ? { horizon } : {};
  const evaluation: Evaluation = plutusUses(scripts).length === 0
    ? { ok: true, redeemers: [] }
    : await evaluate({ transaction: bytes, utxos, parameters, slots, ...past, limited: true });
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
