/** Retracts a request: its whole deposit returns to the refund address. */
import { fail, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { decodeDatum } from "#src/contract/datum.ts";
import { spendData } from "#src/contract/redeemer.ts";
import {
  type BuildFailure,
  type BuildInput,
  type Built,
  finish,
  keyAddressOf,
} from "#src/contract/transactions/common.ts";

export interface RetractInput extends BuildInput {
  /** The request's output. */
  readonly request: Utxo;
}

/** Failure: the address may not retract the request. */
export const NOT_REQUESTER = fail("not_owner", "The request does not belong to this address.");

/** Builds the transaction that retracts a request; `not_owner` unless the address has the refund address's payment key. */
export function buildRetract(input: RetractInput, measure: Measure): Result<Built, BuildFailure> {
  const from = keyAddressOf(input);
  if (!from.ok) return from;
  const { request } = input;
  const datum = request.output.datum && decodeDatum(request.output.datum);
  if (datum?.type !== "request" || datum.request.refund.payment !== from.value.payment) {
    return NOT_REQUESTER;
  }
  return finish(input, from.value, {
    inputs: [request],
    outputs: [],
    redeemers: [{ for: { purpose: "spend", ref: request.ref }, data: encodeData(spendData({ type: "retract" })) }],
  }, measure);
}
