/**
 * Requesting a change of a fact: an output at the contract, the first of its transaction.
 *
 * It locks enough that its owner gets a refund which the ledger allows, and the owner of the token the fee that it offers:
 * max(least of the request, least of the refund + fee). What key and values may take is limited by this transaction alone:
 * the one that applies the request reads the datum from the ledger and carries a proof over digests of fixed size.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { atLeast, leastLovelace } from "#src/transaction/output.ts";
import { encodeRequest, type Operation } from "#src/cage/datum.ts";
import { type BuildFailure, type BuildInput, type Built, finish, requester } from "#src/cage/transactions/common.ts";
import { offeredFee } from "#src/cage/transactions/fee.ts";

/** What is asked for. */
export interface RequestInput extends BuildInput {
  /** Name of the token, 32 bytes in hexadecimal. */
  readonly token: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

/** A request, and what it locks. */
export interface BuiltRequest extends Built {
  /** Lovelace in the request's output. */
  readonly locked: bigint;
  /** Lovelace of it that the token's owner gets for applying it. */
  readonly offered: bigint;
}

const NO_SCRIPT: Measure = () => {
  throw new TypeError("a request runs no script");
};

/** Builds the transaction that asks for a change. `too_large` says in its details how many bytes key and values have and may have. */
export function buildRequest(input: RequestInput): Result<BuiltRequest, BuildFailure> {
  const from = requester(input);
  if (!from.ok) return from;
  const { parameters, script, network, token, key, operation, address } = input;
  const offered = input.settings?.offeredFee ?? offeredFee(parameters, script.compiledCode, !input.reference);
  const refund = leastLovelace(parameters, { address, value: lovelace(0n) });
  const output = atLeast(parameters, {
    address: scriptAddress(network, script.hash).hex,
    value: lovelace(refund + offered),
    datum: encodeRequest({ policy: script.hash, name: token, refund: from.value, fee: offered, key, operation }),
  });
  const built = finish(input, from.value, { inputs: [], outputs: [output], redeemers: [] }, NO_SCRIPT);
  if (built.ok) return ok({ ...built.value, locked: output.value.lovelace, offered });
  const { code, details } = built.error;
  const limit = code === "too_large" ? factLimit(key, operation, details) : undefined;
  return limit
    ? fail("too_large", `Key and values have ${limit.size} bytes; the limit is ${limit.limit}.`, limit)
    : built;
}

/** Bytes of key and values, and how many would fit; byte strings stand in the datum in pieces of 64 with 2 bytes before each. */
function factLimit(key: Uint8Array, operation: Operation, details: unknown) {
  const { what, size, limit } = details as { what: string; size: number; limit: number };
  if (what !== "bytes") return undefined;
  const bytes = key.length + operation.value.length + (operation.type === "update" ? operation.old.length : 0);
  return { what: "fact", size: bytes, limit: Math.max(0, bytes - Math.ceil(((size - limit) * 64) / 66) - 1) };
}
