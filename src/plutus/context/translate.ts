/**
 * The ledger's translation of a transaction into what its Plutus scripts are run with (Conway, protocol versions 9 to 11).
 *
 * Bytes are decoded once, by the ledger's own decoder, and nothing is encoded again: data that the decoder took is shown as it is, however it was
 * written and however deeply it is nested. Three things can go wrong, and each has its own answer: bytes that are no transaction or no data are the
 * decoder's `CborError`, a transaction that a language cannot be shown is a `ContextError` here, and a script that fails is the machine's.
 */
import { ok, type Result } from "#src/base/result.ts";
import type { Redeemer } from "#src/cardano/conway/witnesses.ts";
import { constr, type Data, decodeData } from "#src/cardano/data.ts";
import { refKey } from "#src/cardano/output.ts";
import { type ContextError, Untranslatable } from "#src/plutus/context/error.ts";
import { purposeV1, scriptInfo, type Target, targets } from "#src/plutus/context/purpose.ts";
import { type ContextInput, txInfo } from "#src/plutus/context/txInfo.ts";

/** Arguments that the script of a redeemer is applied to, in their order. */
export type ScriptArguments = (redeemer: Redeemer) => Result<readonly Data[], ContextError>;

/**
 * Translates a transaction for the scripts of one language (1 to 3 for Plutus V1 to V3). The result gives the arguments of each redeemer whose
 * script is of that language: datum (of a spend whose output has one), redeemer and context for Plutus V1 and V2, the context alone for V3.
 *
 * @throws CborError where an output behind an input holds an address or a datum that is none.
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

/** The datum of the output that is spent: its own, or the one in the witness set that has the hash it states. */
function spentDatum(target: Target, { transaction, resolved }: ContextInput): Data | undefined {
  const output = target.purpose === "spend" ? resolved.get(refKey(target.ref)) : undefined;
  if (output?.datum) return decodeData(output.datum);
  return output?.datumHash === undefined ? undefined : transaction.witnesses.datums.get(output.datumHash);
}
