/** Refusals of the development wallet's endpoints: those of CIP-30, and those of Yaci DevKit's payments. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure } from "#src/base/result.ts";
import { answeredBy } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** An error of CIP-30: its type and number, such as `TxSignError` 1, which is `ProofGeneration`. */
type Cip30Error = readonly [type: string, code: number];
const INVALID_REQUEST: Cip30Error = ["APIError", -1];
const INTERNAL_ERROR: Cip30Error = ["APIError", -2];

/** The status of each failure of the wallet, and its error of CIP-30. */
const CIP30: Readonly<Record<string, readonly [status: ContentfulStatusCode, error: Cip30Error]>> = {
  undecodable: [400, INVALID_REQUEST],
  bad_address: [400, INVALID_REQUEST],
  bad_value: [400, INVALID_REQUEST],
  account_unknown: [404, INVALID_REQUEST],
  cannot_sign: [400, ["TxSignError", 1]],
  refused_by_ledger: [400, ["TxSendError", 2]],
  key_unknown: [400, ["DataSignError", 1]],
  address_without_key: [400, ["DataSignError", 2]],
  network_unreachable: [503, INTERNAL_ERROR],
  devnet_unavailable: [503, INTERNAL_ERROR],
  mempool_full: [503, INTERNAL_ERROR],
};

/** The status of each failure of a payment, and Yaci DevKit's code. */
const PAYMENT: Readonly<Record<string, readonly [status: ContentfulStatusCode, errorCode: string]>> = {
  account_unknown: [404, "ACCOUNT_NOT_FOUND"],
  bad_address: [400, "INVALID_ADDRESS"],
  sender_without_key: [400, "INVALID_ADDRESS"],
  bad_amount: [400, "INVALID_AMOUNT"],
  amount_too_small: [400, "MIN_UTXO_NOT_MET"],
  not_enough_money: [422, "INSUFFICIENT_FUNDS"],
  too_large: [422, "BUILD_ERROR"],
  undecodable: [400, "INVALID_TX"],
  bad_witness_set: [400, "INVALID_WITNESS"],
  // an input was spent, or rolled back, meanwhile
  cannot_sign: [422, "TRANSACTION_FAILED"],
  refused_by_ledger: [422, "TRANSACTION_FAILED"],
  network_unreachable: [503, "SERVICE_UNAVAILABLE"],
  devnet_unavailable: [503, "SERVICE_UNAVAILABLE"],
  mempool_full: [503, "SERVICE_UNAVAILABLE"],
};

/** The refusal of a call of CIP-30; a failure without a status is internal. */
export function refusal({ code: reason, message: info, details }: Failure): Error {
  const known = CIP30[reason];
  if (!known) return new Error(`unexpected failure: ${reason}: ${info}`);
  const [status, [type, code]] = known;
  return new HttpFailure(status, reason, info, details, { type, code, info, reason });
}

/** The refusal of a payment; a failure without a status is internal. */
export function paymentRefusal({ code, message, details }: Failure): Error {
  const known = PAYMENT[code];
  if (!known) return new Error(`unexpected failure: ${code}: ${message}`);
  const [status, errorCode] = known;
  return new HttpFailure(status, code, message, details, { success: false, errorCode, message });
}

/** The value of a call of CIP-30. @throws {HttpFailure} for a failure */
export const answered = answeredBy(refusal);
/** The value of a step of a payment. @throws {HttpFailure} for a failure */
export const paid = answeredBy(paymentRefusal);
