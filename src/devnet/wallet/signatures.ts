/** Signatures of a transaction with given keys: exactly those that the ledger's rules need. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { agrees, keysOf, type NativeScript } from "#src/cardano/nativeScript.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { lookUp, readScripts } from "#src/ledger/inputs.ts";
import { keysGiven, keysNeeded } from "#src/ledger/keys.ts";
import { scriptsOf } from "#src/ledger/scripts.ts";
import { verifySignature } from "#src/ledger/signature.ts";
import type { UtxoView } from "#src/ledger/state.ts";

/** Details: hashes of keys (of Byron addresses their roots), and inputs that are unknown, as `<hash>#<index>`. */
export type CannotSign = Failure<"cannot_sign">;

/** The signatures of a transaction. */
export interface TransactionSignatures {
  /** CBOR of a witness set that has only these signatures. */
  readonly witnessSet: Uint8Array;
  /** Hash of the transaction. */
  readonly hash: string;
}

/**
 * Signs a transaction with those of the keys (by hash) that it needs: for inputs, collateral, withdrawals, certificates,
 * votes, required signers, and native scripts that the signatures of others do not satisfy.
 *
 * `utxo` has the outputs that the transaction refers to. `partial`: leaves needed signatures out that other keys must give. Otherwise they are a failure, unless the transaction
 * has them already, and so are unknown inputs.
 */
export async function signatures(
  transaction: Transaction,
  keys: ReadonlyMap<string, SigningKey>,
  utxo: UtxoView,
  partial: boolean,
): Promise<Result<TransactionSignatures, CannotSign>> {
  const { id, hash, body } = transaction;
  const inputs = lookUp(utxo, body.inputs);
  const collateral = lookUp(utxo, body.collateral);
  const needed = keysNeeded(body, inputs.found, collateral.found);
  const given = validSignatures(transaction);
  const scripts = await nativeScripts(transaction, utxo);
  const interval = { from: body.from, before: body.before };

  const own = new Set([...needed].filter((key) => keys.has(key)));
  const others = new Set([...given].filter((key) => !keys.has(key)));
  for (const script of scripts) {
    if (agrees(script, others.union(own), interval)) continue;
    for (const key of keysOf(script)) if (keys.has(key)) own.add(key);
  }
  if (!partial) {
    const all = others.union(own);
    const unsatisfied = scripts.filter((script) => !agrees(script, all, interval));
    const missing = [...new Set([...needed, ...unsatisfied.flatMap(keysOf)])].filter((key) => !all.has(key));
    const unknown = [...inputs.missing, ...collateral.missing];
    if (missing.length + unknown.length > 0) return cannotSign(missing, unknown);
  }
  const signed = [...keys].filter(([key]) => own.has(key)).map(([, key]) => [publicKey(key), sign(key, id)]);
  return ok({ hash, witnessSet: encode(new Map(signed.length > 0 ? [[0, signed]] : [])) });
}

/** Keys (and Byron roots) whose signatures the transaction has; wrong signatures do not count. */
function validSignatures({ id, witnesses: { keys, bootstraps } }: Transaction): ReadonlySet<string> {
  const isValid = ({ key, signature }: { key: Uint8Array; signature: Uint8Array }) =>
    verifySignature(key, id, signature);
  return keysGiven({ keys: keys.filter(isValid), bootstraps: bootstraps.filter(isValid) });
}

/** The native scripts that must agree, as far as the transaction or its inputs have them. */
async function nativeScripts({ body, witnesses }: Transaction, utxo: UtxoView): Promise<readonly NativeScript[]> {
  const inputs = lookUp(utxo, body.inputs).found;
  const references = lookUp(utxo, body.references).found;
  await readScripts([...inputs, ...references].map(({ output }) => output));
  const { needed, provided } = scriptsOf(body, witnesses.scripts, inputs, references);
  return [...needed].flatMap((hash) => {
    const script = provided.get(hash);
    return script?.language === 0 ? [script.native] : [];
  });
}

function cannotSign(keys: readonly string[], unknown: readonly OutRef[]): { ok: false; error: CannotSign } {
  const inputs = unknown.map(refKey);
  const sentences = [
    ...keys.length > 0
      ? [`The account does not have these keys, whose signatures are needed: ${keys.join(", ")}.`]
      : [],
    ...inputs.length > 0 ? [`These inputs are neither on the chain nor in the mempool: ${inputs.join(", ")}.`] : [],
  ];
  return fail("cannot_sign", sentences.join(" "), { keys, inputs });
}
