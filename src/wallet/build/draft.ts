/** Transactions written before they are signed, with the size and the least fee that they come to have. */
import type { Encoded } from "#src/cardano/cbor.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { encodeTransaction, type NewOutput, type TransactionParts } from "#src/cardano/transaction.ts";
import { type FeeParameters, ledgerSize, minFee } from "#src/transaction/fee.ts";
import { refScriptSize } from "#src/transaction/output.ts";
import type { Framed } from "#src/wallet/build/feeBalance.ts";
import { type KnownScript, Signers } from "#src/wallet/build/signers.ts";
import type { OwnCoin } from "#src/wallet/build/types.ts";

/** A transaction without signatures. */
export interface Draft extends Framed {
  readonly transaction: Uint8Array;
}

/** All of a transaction but inputs, outputs and fee. */
export interface Drafting {
  readonly parameters: FeeParameters & Pick<Parameters, "maxTxSize">;
  readonly parts: Omit<TransactionParts, "inputs" | "outputs" | "fee">;
  /** Hashes of keys that sign whatever coins are spent. */
  readonly keys: readonly string[];
  /** Scripts that travel along whatever coins are spent. */
  readonly scripts: readonly KnownScript[];
  /** Those behind addresses of coins, by hash. */
  readonly known: ReadonlyMap<string, KnownScript>;
  /** Bytes of scripts that are referred to whatever coins are spent. */
  readonly referenceBytes: number;
}

/** Writes such transactions. */
export function drafting(
  { parameters, parts, keys, scripts, known, referenceBytes }: Drafting,
): (coins: readonly OwnCoin[], outputs: readonly (NewOutput | Encoded)[], fee: bigint) => Draft {
  return (coins, outputs, fee) => {
    const signers = new Signers(keys, scripts, known);
    for (const { utxo } of coins) signers.spend(utxo.output.address);
    const transaction = encodeTransaction({
      ...parts,
      inputs: coins.map(({ utxo }) => utxo.ref),
      outputs,
      fee,
      nativeScripts: signers.nativeScripts(),
    });
    const size = ledgerSize(transaction.length + signers.bytes());
    const refScriptBytes = coins.reduce(
      (sum, { utxo: { output } }) => sum + (output.script ? refScriptSize(output.script) : 0),
      referenceBytes,
    );
    return { transaction, size, minFee: minFee(parameters, { size, refScriptBytes }) };
  };
}
