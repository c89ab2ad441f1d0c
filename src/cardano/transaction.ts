/**
 * Transactions without signatures, assembled and signed (Conway CDDL).
 *
 * Assembled here and not by the builder of `@blaze-cardano/sdk`: that one orders inputs as texts, so that redeemers of inputs 2 and 10 of
 * one transaction change places, chooses at most 30 inputs, and is half a second and tens of megabytes to load for each thread.
 */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import {
  as,
  asInt,
  asSet,
  CborError,
  decode,
  type Encodable,
  encode,
  Encoded,
  head,
  raw,
  Tagged,
} from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { compareRefs, type Output, type OutRef, readOutput, refKey } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { type Assets, encodeAssets, encodeValue, policyOf, type Value } from "#src/cardano/value.ts";

/** An output to be made. */
export interface NewOutput {
  /** The address, its bytes in hexadecimal. */
  readonly address: string;
  readonly value: Value;
  /** CBOR of the inline datum. */
  readonly datum?: Uint8Array | undefined;
  /** CBOR of `script`: `[language, bytes or native script]`. */
  readonly script?: Uint8Array | undefined;
}

/** What a redeemer is for. Its index is worked out from the finished transaction. */
export type RedeemerFor =
  | { readonly purpose: "spend"; readonly ref: OutRef }
  | { readonly purpose: "mint"; readonly policy: string };

/** An argument for a script. */
export interface Redeemer {
  readonly for: RedeemerFor;
  /** CBOR of the argument. */
  readonly data: Uint8Array;
  readonly units: Units;
}

/** What a transaction is made of; sets are put in the ledger's order here. */
export interface TransactionParts {
  readonly inputs: readonly OutRef[];
  readonly outputs: readonly NewOutput[];
  /** Lovelace. */
  readonly fee: bigint;
  /** First slot in which it is valid. */
  readonly validFrom?: number | undefined;
  /** First slot in which it is no longer valid. */
  readonly validTo?: number | undefined;
  readonly mint?: Assets | undefined;
  readonly scriptDataHash?: string | undefined;
  readonly collateral?: readonly OutRef[] | undefined;
  /** Key hashes that must sign, in hexadecimal. */
  readonly requiredSigners?: readonly string[] | undefined;
  readonly collateralReturn?: NewOutput | undefined;
  /** Lovelace. */
  readonly totalCollateral?: bigint | undefined;
  readonly references?: readonly OutRef[] | undefined;
  readonly redeemers?: readonly Redeemer[] | undefined;
  /** Plutus V3 scripts that travel along, as the bytes of a witness set. */
  readonly scripts?: readonly Uint8Array[] | undefined;
}

function sorted(refs: readonly OutRef[]): OutRef[] {
  return [...refs].sort(compareRefs);
}

function set(elements: readonly Encodable[]): Tagged {
  return new Tagged(258, elements);
}

function refs(list: readonly OutRef[]): Tagged {
  return set(sorted(list).map(({ txHash, index }) => [fromHex(txHash), index]));
}

/** CBOR of an output: the short array of the older eras where it says all, else a map. */
export function encodeOutput(output: NewOutput): Uint8Array {
  const address = fromHex(output.address);
  const value = encodeValue(output.value);
  if (!output.datum && !output.script) return encode([address, value]);
  const map = new Map<Encodable, Encodable>([[0, address], [1, value]]);
  if (output.datum) map.set(2, [1, new Tagged(24, output.datum)]);
  if (output.script) map.set(3, new Tagged(24, output.script));
  return encode(map);
}

/** An output as the ledger will hold it. */
export function madeOutput(output: NewOutput): Output {
  return readOutput(decode(encodeOutput(output)));
}

const TAGS = { spend: 0, mint: 1 } as const;

/**
 * Gives each thing that a redeemer can be for its place in the ledger's order: inputs by hash and by index as a number, policies by
 * bytes. The function throws a `RangeError` for what is not in the transaction.
 */
export function redeemerIndices(parts: Pick<TransactionParts, "inputs" | "mint">): (target: RedeemerFor) => number {
  const policies = [...new Set([...(parts.mint?.keys() ?? [])].map(policyOf))].sort();
  const places = new Map<string, number>([
    ...sorted(parts.inputs).map((ref, index) => [refKey(ref), index] as const),
    ...policies.map((policy, index) => [policy, index] as const),
  ]);
  return (target) => {
    const index = places.get(target.purpose === "spend" ? refKey(target.ref) : target.policy);
    if (index === undefined) throw new RangeError("a redeemer for nothing in its transaction");
    return index;
  };
}

/** CBOR of redeemers (witness set field 5), as a map in ascending order; what the script data hash is over. */
export function encodeRedeemers(
  parts: Pick<TransactionParts, "inputs" | "mint" | "redeemers">,
): Uint8Array | undefined {
  if (!parts.redeemers?.length) return undefined;
  const indexOf = redeemerIndices(parts);
  const entries = parts.redeemers.map(({ for: target, data, units }) => ({
    tag: TAGS[target.purpose],
    index: indexOf(target),
    value: [new Encoded(data), [units.memory, units.steps]],
  }));
  entries.sort((a, b) => a.tag - b.tag || a.index - b.index);
  return encode(new Map(entries.map(({ tag, index, value }) => [[tag, index], value] as const)));
}

/** CBOR of a transaction's body. */
export function encodeBody(parts: TransactionParts): Uint8Array {
  const body = new Map<Encodable, Encodable>([
    [0, refs(parts.inputs)],
    [1, parts.outputs.map((output) => new Encoded(encodeOutput(output)))],
    [2, parts.fee],
  ]);
  if (parts.validTo !== undefined) body.set(3, parts.validTo);
  if (parts.validFrom !== undefined) body.set(8, parts.validFrom);
  if (parts.mint?.size) body.set(9, encodeAssets(parts.mint));
  if (parts.scriptDataHash) body.set(11, fromHex(parts.scriptDataHash));
  if (parts.collateral?.length) body.set(13, refs(parts.collateral));
  if (parts.requiredSigners?.length) body.set(14, set([...new Set(parts.requiredSigners)].sort().map(fromHex)));
  if (parts.collateralReturn) body.set(16, new Encoded(encodeOutput(parts.collateralReturn)));
  if (parts.totalCollateral !== undefined) body.set(17, parts.totalCollateral);
  if (parts.references?.length) body.set(18, refs(parts.references));
  return encode(body);
}

/** CBOR of a whole transaction without signatures: `[body, witness set, true, null]`. */
export function encodeTransaction(parts: TransactionParts): Uint8Array {
  const redeemers = encodeRedeemers(parts);
  const witnesses = new Map<Encodable, Encodable>();
  if (redeemers) witnesses.set(5, new Encoded(redeemers));
  if (parts.scripts?.length) witnesses.set(7, set(parts.scripts));
  return encode([new Encoded(encodeBody(parts)), witnesses, true, null]);
}

/** A signature and the key that it verifies under. */
export interface KeyWitness {
  /** Public key, 32 bytes. */
  readonly key: Uint8Array;
  /** Signature of the transaction's hash, 64 bytes. */
  readonly signature: Uint8Array;
}

/** Bytes that so many signatures add to a transaction that has none: the field, its set, and 101 bytes for each. */
export function witnessBytes(count: number): number {
  return count === 0 ? 0 : 1 + 3 + head(4, count).length + 101 * count;
}

function parts(transaction: Uint8Array) {
  const [body, witnesses, valid, auxiliary, more] = as(decode(transaction), "array").value;
  if (!body || !witnesses || !auxiliary || more) throw new CborError("not a transaction");
  as(body, "map");
  as(valid, "bool");
  return { body, witnesses: as(witnesses, "map").value, valid: valid!, auxiliary };
}

/** Hash of a transaction (of its body), which is what is signed and what its outputs are known by. Throws `CborError` on other bytes. */
export function transactionHash(transaction: Uint8Array): string {
  return hash256(raw(parts(transaction).body));
}

/** The transaction with signatures put beside those it has; every other byte of body and witnesses stays. Throws `CborError`. */
export function addWitness(transaction: Uint8Array, ...added: readonly KeyWitness[]): Uint8Array {
  const { body, witnesses, valid, auxiliary } = parts(transaction);
  const isKeys = (field: (typeof witnesses)[number][0]) => asInt(field) === 0n;
  const present = witnesses.filter(([field]) => isKeys(field)).flatMap(([, keys]) => asSet(keys));
  const keys = new Map(present.map((item) => [toHex(as(as(item, "array").value[0], "bytes").value), raw(item)]));
  for (const { key, signature } of added) keys.set(toHex(key), encode([key, signature]));
  const others = witnesses.filter(([field]) => !isKeys(field));
  return concat(
    head(4, 4),
    raw(body),
    head(5, others.length + 1),
    encode(0),
    encode(set([...keys.values()].map((bytes) => new Encoded(bytes)))),
    ...others.flatMap(([field, value]) => [raw(field), raw(value)]),
    raw(valid),
    raw(auxiliary),
  );
}
