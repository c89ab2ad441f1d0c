/**
 * Requests a change of a fact: an output at the contract, the first of its transaction.
 *
 * It locks enough lovelace for a refund that the ledger allows and for the offered fee: max(min-UTxO of the request, min-UTxO
 * of the refund + fee). Only this transaction limits the size of key and values: the transaction that applies the request
 * reads the datum from the ledger and carries a proof over digests of fixed size.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { atLeast, leastLovelace } from "#src/transaction/output.ts";
import { encodeRequest, type Operation } from "#src/contract/datum.ts";
import {
  type BuildFailure,
  type BuildInput,
  type Built,
  excessIn,
  finish,
  keyAddressOf,
} from "#src/contract/transactions/common.ts";
import { offeredFee } from "#src/contract/transactions/fee.ts";

/** Input of `buildRequest`. */
export interface RequestInput extends BuildInput {
  /** Name of the token, 32 bytes in hexadecimal. */
  readonly token: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

/** A request transaction, and the lovelace it locks and offers. */
export interface BuiltRequest extends Built {
  /** Lovelace in the request's output. */
  readonly locked: bigint;
  /** Lovelace of it that the token's owner gets for applying it. */
  readonly offered: bigint;
}

const NO_SCRIPT: Measure = () => {
  throw new TypeError("a request runs no script");
};

/** Builds the transaction that requests a change. The details of `too_large` give the size and the limit of key and values. */
export function buildRequest(input: RequestInput): Result<BuiltRequest, BuildFailure> {
  const from = keyAddressOf(input);
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
  if (!limit) return built;
  // an update holds both values, a deletion and an insert one each
  const each = operation.type === "update" &&
    key.length + Math.max(operation.old.length, operation.value.length) <= limit.limit;
  const hint = each ? " Delete the fact and insert it with the new value, by two requests: each holds one value." : "";
  return fail("too_large", `Key and values have ${limit.size} bytes; the limit is ${limit.limit}.${hint}`, limit);
}

/** Size of key and values and its limit, in bytes; the datum has byte strings in chunks of 64, each with 2 bytes of header. */
function factLimit(key: Uint8Array, operation: Operation, details: unknown) {
  const excess = excessIn(details);
  if (excess?.what !== "bytes") return undefined;
  const bytes = key.length + operation.value.length + (operation.type === "update" ? operation.old.length : 0);
  const least = Math.ceil(((excess.size - excess.limit) * 64) / 66) + 1;
  return { what: "fact", size: bytes, limit: Math.max(0, bytes - least) };
}
