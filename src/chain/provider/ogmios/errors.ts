/** Failures of an Ogmios server and of Kupo. */
import type { Json } from "#src/base/json.ts";
import type { Failure } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { OgmiosFormError } from "#src/ogmios/form.ts";

/**
 * - `unreachable`: no connection, a connection that broke, or no answer in time.
 * - `unusable`: an answer that is not in the expected form, or that contradicts what the server said before.
 * - `refused`: the server answered with an error (`ServerError`).
 * - `too_large`: an answer that is larger than a message may be.
 * - `lacking`: the server does not have the query, in its version or in the era of its ledger.
 * - `wrong_network`: the server is for another network.
 * - `unknown_start`: the chain does not have the block at which the index should start.
 * - `era_unknown`: the chain is in an era that this release does not know.
 * - `aborted`: the caller aborted the request, or closed the port.
 */
export type OgmiosFailureCode =
  | "unreachable"
  | "unusable"
  | "refused"
  | "too_large"
  | "lacking"
  | "wrong_network"
  | "unknown_start"
  | "era_unknown"
  | "aborted";

export type OgmiosFailure = Failure<OgmiosFailureCode>;

/** A failure as an exception. */
export class OgmiosError extends Error {
  override readonly name = "OgmiosError";
  readonly code: OgmiosFailureCode;
  constructor(readonly failure: OgmiosFailure) {
    super(failure.message);
    this.code = failure.code;
  }
}

export function ogmiosError(code: OgmiosFailureCode, message: string): OgmiosError {
  return new OgmiosError({ code, message });
}

/** An error that a server answered with. */
export class ServerError extends OgmiosError {
  /** `json`: the error as the server sent it; `said` is its message, cleaned. */
  constructor(method: string, readonly number: number, said: string, readonly json: Json) {
    super({ code: isLacking(number) ? "lacking" : "refused", message: `${method}: ${said} (${number})` });
  }
}

/** A thrown value as an `OgmiosError`: JSON or CBOR of another form than expected is an answer that cannot be used. */
export function asOgmiosError(error: unknown, where: string): OgmiosError {
  if (error instanceof OgmiosError) return error;
  if (!(error instanceof OgmiosFormError || error instanceof CborError)) throw error;
  return ogmiosError("unusable", `An answer of ${where} cannot be read: ${error.message}.`);
}

/** -32600: a request that the server's version does not know. 2001, 2002: one that the ledger's era does not have. */
const isLacking = (number: number) => number === -32_600 || number === 2001 || number === 2002;

/** Whether a later attempt may succeed. */
export function isTransient(code: OgmiosFailureCode): boolean {
  return code === "unreachable" || code === "unusable" || code === "refused" || code === "too_large";
}
