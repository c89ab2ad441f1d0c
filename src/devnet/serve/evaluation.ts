/**
 * Evaluates the scripts of a transaction on the devnet, for every API that offers it.
 *
 * Outputs are those of the tip, those that transactions of the mempool create (also those that they spend), and additional
 * ones of the request. The transaction need not be complete, balanced or signed.
 */
import { type Log, reason } from "#src/base/log.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { compareRefs, type Output, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { MAX_SIZE_FACTOR } from "#src/devnet/blocks/submission.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { EvaluationAnswer } from "#src/ogmios/evaluation.ts";
import type { MeasureRedeemers } from "#src/plutus/types.ts";

/** What evaluating a transaction came to. */
export type TransactionEvaluation =
  | Exclude<EvaluationAnswer, { readonly kind: "not_text" }>
  /** It has no answer now; a later attempt may have one. */
  | { readonly kind: "unavailable"; readonly message: string };

export interface EvaluationService {
  readonly devnet: Pick<Devnet, "genesis" | "network" | "mempool" | "query" | "horizon" | "runs">;
  /** Measures the redeemers of a transaction, in a thread. */
  readonly measure: MeasureRedeemers;
  readonly log: Log;
}

/**
 * Evaluates a transaction (CBOR) with the outputs of the ledger, of the mempool, and additional ones. An additional output
 * that contradicts a known one is a failure; with `additionalFirst` it counts instead of the known one.
 */
export async function evaluateTransaction(
  { devnet, measure, log }: EvaluationService,
  transaction: Uint8Array,
  additional: readonly Utxo[],
  { additionalFirst = false } = {},
): Promise<TransactionEvaluation> {
  const { maxTxSize } = devnet.genesis.parameters;
  if (transaction.length > MAX_SIZE_FACTOR * maxTxSize) {
    const message = `The transaction has ${transaction.length} bytes; the maximum size is ${maxTxSize}.`;
    return { kind: "undecodable", message };
  }
  const read = readTransaction(transaction);
  if (!read.ok) return { kind: "undecodable", message: read.error.message };
  const { inputs, references, collateral } = read.value.body;
  const pending = new Map<string, Output>(
    devnet.mempool().flatMap(({ applied }) => applied.created.map(({ ref, output }) => [refKey(ref), output])),
  );
  const ledger = await devnet.query(({ utxo, parameters }) => {
    const known = (ref: OutRef) => utxo.get(ref) ?? pending.get(refKey(ref));
    const needed = [...inputs, ...references, ...collateral];
    return {
      parameters,
      utxos: needed.flatMap((ref) => {
        const output = known(ref);
        return output ? [{ ref, output }] : [];
      }),
      overlap: additionalFirst
        ? []
        : additional.filter(({ ref, output }) => contradicts(known(ref), output)).map(({ ref }) => ref),
    };
  });
  if (!ledger) return { kind: "unavailable", message: "The devnet is not running in this process; try again." };
  const { parameters, utxos, overlap } = ledger;
  if (overlap.length > 0) return { kind: "overlap", refs: overlap.sort(compareRefs) };
  const measured = await measure({
    transaction,
    // of two outputs with one reference the later counts; what is on the chain is complete
    utxos: additionalFirst ? [...utxos, ...additional] : [...additional, ...utxos],
    parameters,
    slots: devnet.network.slots,
    horizon: devnet.horizon(),
  }).catch((error) => {
    log.warn("a transaction was not evaluated", { reason: reason(error) });
  });
  if (!measured) return { kind: "unavailable", message: "The scripts could not be evaluated now; try again." };
  return measured.ok ? { kind: "measured", redeemers: measured.redeemers } : measured;
}

/**
 * Whether an additional output has another address or value than the known one. Data and scripts are not compared: clients leave
 * them out.
 */
function contradicts(known: Output | undefined, { address, value }: Output): boolean {
  if (!known) return false;
  const { lovelace, assets } = known.value;
  return address !== known.address || value.lovelace !== lovelace || value.assets.size !== assets.size ||
    [...assets].some(([unit, quantity]) => value.assets.get(unit) !== quantity);
}
