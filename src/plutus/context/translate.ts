/**
 * Translates a transaction into the arguments of its Plutus scripts, as the ledger does (Conway, protocol versions 9 to 11).
 *
 * Bytes are decoded once and never encoded again: scripts see data as the decoder read it, whatever its encoding and depth.
 * There are three kinds of failure: malformed bytes are a `CborError` of the decoder; a transaction that a language cannot
 * represent is a `ContextError`; a script that fails is a `Failure` of the machine.
 */
import { ok, type Result } from "#src/base/result.ts";
import type { Redeemer } from "#src/cardano/conway/witnesses.ts";
import { constr, type Data, decodeData } from "#src/cardano/data.ts";
import { refKey } from "#src/cardano/output.ts";
import { type ContextError, Untranslatable } from "#src/plutus/context/error.ts";
import { purposeV1, scriptInfo, type Target, targets } from "#src/plutus/purpose.ts";
import { type ContextInput, txInfo } from "#src/plutus/context/txInfo.ts";

/** The arguments, in order, of the script that a redeemer runs. */
export type ScriptArguments = (redeemer: Redeemer) => Result<readonly Data[], ContextError>;

/**
 * Translates a transaction for the scripts of one language (1 to 3 for Plutus V1 to V3). The result gives the arguments for
 * each redeemer whose script is in that language: for Plutus V1 and V2 the datum (if the spent output has one), the redeemer
 * and the context; for V3 the context alone.
 *
 * @throws {CborError} if an output that the transaction refers to has a malformed address or datum.
 */
export function translate(language: 1 | 2 | 3, input: ContextInput): Result<ScriptArguments, ContextError> {
  return translated(() => {
    const info = txInfo[language](input);
    const targetOf = targets(input.transaction.body);
    return (redeemer) =>
      translated(() => {
        const target = targetOf(redeemer);
        const datum = spentDatum(target, input);
        if (language === 3) {
          return [constr(0, info, redeemer.data, scriptInfo(target, input.protocolMajor, datum))];
        }
        const context = constr(0, info, purposeV1(target));
        return datum === undefined ? [redeemer.data, context] : [datum, redeemer.data, context];
      });
  });
}

function translated<T>(make: () => T): Result<T, ContextError> {
  try {
    return ok(make());
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    return { ok: false, error: error.error };
  }
}

/** The datum of the spent output: its inline datum, or the datum in the witness set with the output's datum hash. */
function spentDatum(target: Target, { transaction, resolved }: ContextInput): Data | undefined {
  const output = target.purpose === "spend" ? resolved.get(refKey(target.ref)) : undefined;
  if (output?.datum) return decodeData(output.datum);
  return output?.datumHash === undefined ? undefined : transaction.witnesses.datums.get(output.datumHash);
}
