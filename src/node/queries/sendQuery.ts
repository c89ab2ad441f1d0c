/** Typed queries of a node's ledger, on the client's side. */
import { fail, ok, type Result } from "#src/base/result.ts";
import { asNodeError, type NodeFailure } from "#src/node/errors.ts";
import {
  encodeQuery,
  type EraAnswer,
  type EraQuery,
  isSupportedBy,
  type NodeQuery,
  type QueryAnswer,
} from "#src/node/queries/query.ts";
import { decodeResult } from "#src/node/queries/result.ts";

/** What carries queries and answers as CBOR, for example a `QuerySession`. */
interface QueryCarrier {
  /** The negotiated version of the protocol. */
  readonly version: number;
  query(query: Uint8Array, signal?: AbortSignal): Promise<Result<Uint8Array, NodeFailure>>;
}

/**
 * Sends a query. One that the node's version does not have is not sent, because the node would close the connection:
 * `unsupported_version`. An answer that cannot be decoded is a `protocol_violation`. For a query of an era the value is
 * itself a result, which may be an era mismatch.
 */
export async function sendQuery<Q extends NodeQuery>(
  carrier: QueryCarrier,
  query: Q,
  signal?: AbortSignal,
): Promise<Result<QueryAnswer<Q>, NodeFailure>> {
  if (!isSupportedBy(query, carrier.version)) {
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

/**
 * Sends a query of an era, which must be the ledger's (from `currentEra` in the same session): otherwise `era_unknown`.
 */
export async function sendEraQuery<Q extends EraQuery>(
  carrier: QueryCarrier,
  query: Q,
  signal?: AbortSignal,
): Promise<Result<EraAnswer<Q>, NodeFailure>> {
  const answer = await sendQuery<EraQuery>(carrier, query, signal);
  if (!answer.ok) return answer;
  const { value } = answer;
  return value.ok ? ok(value.value as EraAnswer<Q>) : fail("era_unknown", value.error.message);
}
