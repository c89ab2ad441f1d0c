/**
 * Refusals of transactions. Ogmios returns one error, however many rules a transaction breaks: that with the lowest rank, and of one rank the
 * first in the ledger's order.
 */
import { CborError } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import { transactionParts, withItems } from "#src/node/rejections/transactionParts.ts";
import { type OgmiosError, ogmiosError } from "#src/ogmios/errors.ts";
import { failureErrors } from "#src/ogmios/failureErrors.ts";
import type { OgmiosVersion } from "#src/ogmios/form.ts";

/** Codes by their rank; a code that is not here is before all. */
const RANKS: readonly (readonly number[])[] = [
  [3164],
  [3139, 3148, 3149, 3162, 3998, 3997, 3165],
  [3121, 3127, 3130, 3124, 3118, 3126, 3137, 3160, 3145, 3152, 3144, 3146, 3153, 3120, 3154, 3167, 3170, 3169],
  [3142, 3143, 3166, 3168],
  [3117, 3114, 3129, 3140, 3138],
  [3113],
  [3108, 3157],
  [3106, 3105],
  [3107, 3159, 3163],
  [3116, 3100, 3101, 3115],
  [3109, 3111, 3102],
  [3004],
  [3103],
  [3104, 3110, 3112, 3156],
  [3133, 3132, 3131],
  [3141, 3147, 3150],
  [3135, 3151, 3155, 3158],
  [3128, 3125],
  [3134, 3119],
  [3161, 3122],
  [3123, 3136],
];
const rankOf = new Map(RANKS.flatMap((codes, rank) => codes.map((code) => [code, rank] as const)));

/** What a server knows of a refused transaction besides its failures. */
interface RefusalContext {
  readonly version: OgmiosVersion;
  /** Its bytes: errors show outputs and what redeemers are for, which failures name by index. */
  readonly transaction?: Uint8Array | undefined;
  /** The output of an input. */
  readonly spends?: ((ref: OutRef) => Output | undefined) | undefined;
}

/** The error of a refusal; `failures` has at least one. */
export function submissionError(
  failures: readonly LedgerFailure[],
  { version, transaction, spends = () => undefined }: RefusalContext,
): OgmiosError {
  const parts = transaction && transactionParts(transaction);
  let chosen: OgmiosError | undefined;
  for (const failure of failures) {
    for (const error of errorsOf(withItems(failure, parts, spends), version)) {
      if (!chosen || rank(error) < rank(chosen)) chosen = error;
    }
  }
  return chosen ?? ogmiosError(3997, "The transaction was refused.", { error: "no reason is known" });
}

const rank = ({ code }: OgmiosError) => rankOf.get(code) ?? -1;

/** Errors of a failure; of one whose parts cannot be read, its text. */
function errorsOf(failure: LedgerFailure, version: OgmiosVersion): readonly OgmiosError[] {
  try {
    return failureErrors(failure, version);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return failureErrors({ name: "ConwayMempoolFailure", message: describeFailure(failure) }, version);
  }
}
