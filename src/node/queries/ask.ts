/** Asking a node's ledger with values, over whatever carries the bytes. */
import { fail, ok, type Result } from "#src/base/result.ts";
import { asNodeError, type NodeFailure } from "#src/node/errors.ts";
import {
  type Answer,
  encodeQuery,
  type EraAnswer,
  type EraQuery,
  isKnownTo,
  type Query,
} from "#src/node/queries/query.ts";
import { decodeResult } from "#src/node/queries/result.ts";

/** What a question goes through: `QuerySession`, or another that carries CBOR. */
export interface Carrier {
  /** The version of the protocol that was agreed on. */
  readonly version: number;
  query(query: Uint8Array, signal?: AbortSignal): Promise<Result<Uint8Array, NodeFailure>>;
}

/**
 * Asks. A query that the node's version does not have is not sent, since the node would hang up: `unsupported_version`. An answer that is
 * not one is a `protocol_violation`. For a query about an era the value is itself a result, which may be an era mismatch.
 */
export async function ask<Q extends Query>(
  carrier: Carrier,
  query: Q,
  signal?: AbortSignal,
): Promise<Result<Answer<Q>, NodeFailure>> {
  if (!isKnownTo(query, carrier.version)) {
    return fail("unsupported_version", `Version ${carrier.version} of the protocol has no query "${query.kind}".`);
  }
  const answer = await carrier.query(encodeQuery(query, carrier.version), signal);
  if (!answer.ok) return answer;
  try {
    return ok(decodeResult(query, answer.value, carrier.version));
  } catch (error) {
    const { code, message } = asNodeError(error, `The node's answer to "${query.kind}" cannot be read`).failure;
    return fail(code, message);
  }
}

/** Asks an era's ledger; the era given must be the ledger's, as it is after `currentEra` in the same session: another is `era_unknown`. */
export async function askEra<Q extends EraQuery>(
  carrier: Carrier,
  query: Q,
  signal?: AbortSignal,
): Promise<Result<EraAnswer<Q>, NodeFailure>> {
  const asked = await ask<EraQuery>(carrier, query, signal);
  if (!asked.ok) return asked;
  const { value } = asked;
  return value.ok ? ok(value.value as EraAnswer<Q>) : fail("era_unknown", value.error.message);
}
