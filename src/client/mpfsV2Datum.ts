/**
 * Datums of contract v2 of MPFS, which is not our contract. Byte strings over 64 bytes, which Plutus data has in chunks, are read;
 * any form but these gives undefined.
 *
 * - State: `C1[C0[owner, root, tip, process time, retract time]]`
 * - Request: `C0[C0[C0[token], owner, key, operation, tip, submitted at]]`
 * - Operation: insert `C0[value]`, delete `C1[value]`, update `C2[old, value]`
 */
import { toHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { type Data, decodeData } from "#src/cardano/data.ts";
import { MAX_FACT_BYTES, type Operation } from "#src/contract/datum.ts";
import { fieldsOf, hash28 } from "#src/contract/plutusAddress.ts";

/** A token's state as its datum has it. */
export interface V2State {
  /** Payment key hash of the owner. */
  readonly owner: string;
  readonly root: string;
  /** Lovelace that the owner may keep of each applied request. */
  readonly tip: bigint;
  /** Milliseconds after its submission in which the owner may apply a request. */
  readonly processTime: bigint;
  /** Milliseconds after those in which the requester may retract it. */
  readonly retractTime: bigint;
}

/** A request as its datum has it: its requester wrote it, and nothing on the ledger checks it before it is applied. */
export interface V2Request {
  readonly tokenId: string;
  /** Payment key hash of the requester. */
  readonly owner: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
  readonly tip: bigint;
  /** Milliseconds since 1970, by the requester or the service; it decides in which phase the request is. */
  readonly submittedAt: bigint;
}

/** Reads the datum of a state. */
export function decodeV2State(cbor: Uint8Array): V2State | undefined {
  const [rawOwner, root, tip, processTime, retractTime] = fieldsOf(fieldsOf(dataIn(cbor), 1, 1)?.[0], 0, 5) ?? [];
  const owner = hash28(rawOwner);
  if (owner === undefined || !(root instanceof Uint8Array) || root.length !== 32) return undefined;
  if (typeof tip !== "bigint" || typeof processTime !== "bigint" || typeof retractTime !== "bigint") return undefined;
  return { owner, root: toHex(root), tip, processTime, retractTime };
}

/** Reads the datum of a request. */
export function decodeV2Request(cbor: Uint8Array): V2Request | undefined {
  const [rawToken, rawOwner, rawKey, rawOperation, tip, submittedAt] =
    fieldsOf(fieldsOf(dataIn(cbor), 0, 1)?.[0], 0, 6) ?? [];
  const [token] = fieldsOf(rawToken, 0, 1) ?? [];
  const owner = hash28(rawOwner);
  const key = bytesIn(rawKey);
  const operation = operationIn(rawOperation);
  if (!(token instanceof Uint8Array) || token.length !== 32 || owner === undefined || !key || !operation) {
    return undefined;
  }
  if (typeof tip !== "bigint" || typeof submittedAt !== "bigint") return undefined;
  return { tokenId: toHex(token), owner, key, operation, tip, submittedAt };
}

function operationIn(data: Data | undefined): Operation | undefined {
  const inserted = bytesIn(fieldsOf(data, 0, 1)?.[0]);
  if (inserted) return { type: "insert", value: inserted };
  const deleted = bytesIn(fieldsOf(data, 1, 1)?.[0]);
  if (deleted) return { type: "delete", value: deleted };
  const [before, after] = fieldsOf(data, 2, 2) ?? [];
  const old = bytesIn(before);
  const value = bytesIn(after);
  return old && value && { type: "update", old, value };
}

function bytesIn(data: Data | undefined): Uint8Array | undefined {
  return data instanceof Uint8Array && data.length <= MAX_FACT_BYTES ? data : undefined;
}

function dataIn(cbor: Uint8Array): Data | undefined {
  try {
    return decodeData(cbor);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return undefined;
  }
}
