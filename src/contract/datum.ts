/**
 * Datums of the contract: a token's state, and a request for a change.
 *
 * Reading is as strict as the contract: any other form gives undefined, and the contract applies no request that cannot be
 * read here. Encoding gives the only valid form.
 *
 * - Request: `C0[C0[C0[policy, name], refund address, fee, key, operation]]`
 * - State: `C1[C0[owner, root]]`
 * - Operation: insert `C0[value]`, delete `C1[value]`, update `C2[old, value]`
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { constr, type Data, decodeData, encodeData } from "#src/cardano/data.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { digest } from "#src/forestry/hash.ts";
import type { Change } from "#src/forestry/trie.ts";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { fieldsOf, hash28, type KeyAddress, keyAddressData, readKeyAddress } from "#src/contract/plutusAddress.ts";

/** A token's state. */
export interface State {
  /** Hash of the key that may change the token, 28 bytes in hexadecimal. */
  readonly owner: string;
  /** Root of its facts, 32 bytes in hexadecimal; all zero when there are none. */
  readonly root: string;
}

/** A change of one fact, in bytes (not digests). */
export type Operation =
  | { readonly type: "insert"; readonly value: Uint8Array }
  | { readonly type: "delete"; readonly value: Uint8Array }
  | { readonly type: "update"; readonly old: Uint8Array; readonly value: Uint8Array };

/** A request for a change of one fact of one token. */
export interface Request {
  /** The contract's hash, 28 bytes in hexadecimal. */
  readonly policy: string;
  /** The token's name, 32 bytes in hexadecimal. */
  readonly name: string;
  /** Address that the deposit returns to; its payment key may retract the request. */
  readonly refund: KeyAddress;
  /** Lovelace of the deposit that the owner may keep when applying the request. */
  readonly fee: bigint;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

export type Datum =
  | { readonly type: "state"; readonly state: State }
  | { readonly type: "request"; readonly request: Request };

/** Maximum size of a key or a value in bytes: no transaction is larger today. */
export const MAX_FACT_BYTES = 16_384;
/** Maximum supply in lovelace: no request holds more, so none with a larger fee can be applied. */
const MAX_FEE = 45_000_000_000_000_000n;

/** Root of a token without facts. */
export const EMPTY_ROOT = "00".repeat(32);

/** Name of the token that is booted by spending an output: sha2-256 of its reference, in hexadecimal. */
export function tokenName(seed: OutRef): string {
  return toHex(sha256(concat(fromHex(seed.txHash), Uint8Array.of(seed.index >> 8, seed.index & 255))));
}

/** The token in a request's datum. */
function tokenData(policy: string, name: string): Data {
  return constr(0, fromHex(policy), fromHex(name));
}

function operationData(operation: Operation): Data {
  switch (operation.type) {
    case "insert":
      return constr(0, operation.value);
    case "delete":
      return constr(1, operation.value);
    case "update":
      return constr(2, operation.old, operation.value);
  }
}

/** A datum as Plutus data. */
export function datumData(datum: Datum): Data {
  if (datum.type === "state") return constr(1, constr(0, fromHex(datum.state.owner), fromHex(datum.state.root)));
  const { policy, name, refund, fee, key, operation } = datum.request;
  return constr(
    0,
    constr(0, tokenData(policy, name), keyAddressData(refund), fee, key, operationData(operation)),
  );
}

/** A datum as CBOR. */
export function encodeDatum(datum: Datum): Uint8Array {
  return encodeData(datumData(datum));
}

/** CBOR of a state's datum. */
export function encodeState(state: State): Uint8Array {
  return encodeDatum({ type: "state", state });
}

/** CBOR of a request's datum. */
export function encodeRequest(request: Request): Uint8Array {
  return encodeDatum({ type: "request", request });
}

function fact(data: Data | undefined): Uint8Array | undefined {
  return data instanceof Uint8Array && data.length <= MAX_FACT_BYTES ? data : undefined;
}

function readOperation(data: Data | undefined): Operation | undefined {
  const inserted = fact(fieldsOf(data, 0, 1)?.[0]);
  if (inserted) return { type: "insert", value: inserted };
  const deleted = fact(fieldsOf(data, 1, 1)?.[0]);
  if (deleted) return { type: "delete", value: deleted };
  const [before, after] = fieldsOf(data, 2, 2) ?? [];
  const old = fact(before);
  const value = fact(after);
  return old && value && { type: "update", old, value };
}

function readRequest(data: Data | undefined): Request | undefined {
  const [token, address, fee, rawKey, rawOperation] = fieldsOf(data, 0, 5) ?? [];
  const [rawPolicy, rawName] = fieldsOf(token, 0, 2) ?? [];
  const policy = hash28(rawPolicy);
  const refund = readKeyAddress(address);
  const key = fact(rawKey);
  const operation = readOperation(rawOperation);
  if (policy === undefined || !(rawName instanceof Uint8Array) || rawName.length !== 32) return undefined;
  if (typeof fee !== "bigint" || fee < 0n || fee > MAX_FEE || !refund || !key || !operation) return undefined;
  return { policy, name: toHex(rawName), refund, fee, key, operation };
}

function readState(data: Data | undefined): State | undefined {
  const [rawOwner, root] = fieldsOf(data, 0, 2) ?? [];
  const owner = hash28(rawOwner);
  if (owner === undefined || !(root instanceof Uint8Array) || root.length !== 32) return undefined;
  return { owner, root: toHex(root) };
}

/** Reads a datum; undefined on anything not exactly right. */
export function readDatum(data: Data): Datum | undefined {
  const request = readRequest(fieldsOf(data, 0, 1)?.[0]);
  if (request) return { type: "request", request };
  const state = readState(fieldsOf(data, 1, 1)?.[0]);
  return state && { type: "state", state };
}

/** Reads a datum out of CBOR; undefined on anything not exactly right. */
export function decodeDatum(cbor: Uint8Array): Datum | undefined {
  let data: Data;
  try {
    data = decodeData(cbor);
  } catch {
    return undefined;
  }
  return readDatum(data);
}

/** A request's change of the trie, in digests. */
export function changeOf(key: Uint8Array, operation: Operation): Change {
  const path = digest(key);
  const value = digest(operation.value);
  if (operation.type !== "update") return { type: operation.type, path, value };
  return { type: "update", path, old: digest(operation.old), value };
}
