/** A transaction as it is submitted, read for the rules: strictly, and with every hash over the bytes as they came. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { as, CborError, decodeAll, raw } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { toHex } from "#src/base/bytes.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { type Auxiliary, readAuxiliary } from "#src/cardano/conway/auxiliary.ts";
import { type Body, readBody } from "#src/cardano/conway/body.ts";
import { checkEncoding } from "#src/cardano/conway/encoding.ts";
import { tuple } from "#src/cardano/conway/strict.ts";
import { readWitnesses, sumUnits, type Witnesses } from "#src/cardano/conway/witnesses.ts";

/** A transaction, read. */
export interface Transaction {
  /** The whole transaction as submitted. */
  readonly bytes: Uint8Array;
  /** Hash of its body: 32 bytes, and in hexadecimal. */
  readonly id: Uint8Array;
  readonly hash: string;
  /** Bytes as the ledger counts them: without the validity flag. */
  readonly size: number;
  /** False when it is marked as failing in phase 2. */
  readonly valid: boolean;
  readonly body: Body;
  readonly witnesses: Witnesses;
  readonly auxiliary?: Auxiliary;
  /** Sum of the units that its redeemers state. */
  readonly units: Units;
}

/** Bytes that the ledger's decoder refuses. */
export type Undecodable = Failure<"undecodable">;

/**
 * Reads `[body, witness set, validity, auxiliary data or nil]` of the Conway era. A transaction that is `stored` in a chain
 * may have encodings which an earlier release accepted (`encoding.ts`).
 */
export function readTransaction(bytes: Uint8Array, { stored = false } = {}): Result<Transaction, Undecodable> {
  try {
    const [body, witnesses, valid, auxiliary] = tuple(decodeAll(bytes), "transaction", 4);
    const id = blake2b256(raw(body));
    const read = { body: readBody(body), witnesses: readWitnesses(witnesses) };
    if (!stored) checkEncoding(body, witnesses, auxiliary, read.body);
    return ok({
      bytes,
      id,
      hash: toHex(id),
      size: 1 + raw(body).length + raw(witnesses).length + raw(auxiliary).length,
      valid: as(valid, "bool").value,
      ...read,
      units: sumUnits(read.witnesses.redeemers),
      ...(auxiliary.type === "null" ? {} : { auxiliary: readAuxiliary(auxiliary) }),
    });
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `These bytes are no transaction: ${error.message}.`);
  }
}
