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
  decodeAll,
  type Encodable,
  encode,
  Encoded,
  head,
  raw,
  Tagged,
} from "#src/cardano/cbor.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
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
  | { readonly purpose: "mint"; readonly policy: string }
  /** `account` is the reward address, its bytes in hexadecimal. */
  | { readonly purpose: "reward"; readonly account: string }
  /** Of what stands in the order of the body, its place there. */
  | { readonly purpose: "cert" | "vote" | "propose"; readonly index: number };

/** An argument for a script. */
export interface Redeemer {
  readonly for: RedeemerFor;
  /** CBOR of the argument; a function of the redeemer's index if the argument names it. */
  readonly data: Uint8Array | ((index: number) => Uint8Array);
  readonly units: Units;
}

/** What a transaction is made of; sets are put in the ledger's order here. */
export interface TransactionParts {
  readonly inputs: readonly OutRef[];
  /** One that goes into many transactions may come as its CBOR. */
  readonly outputs: readonly (NewOutput | Encoded)[];
  /** Lovelace. */
  readonly fee: bigint;
  /** First slot in which it is valid. */
  readonly validFrom?: number | bigint | undefined;
  /** First slot in which it is no longer valid. */
  readonly validTo?: number | bigint | undefined;
  /** CBOR of each, in the order in which they take effect. */
  readonly certificates?: readonly Uint8Array[] | undefined;
  readonly withdrawals?: readonly Withdrawal[] | undefined;
  readonly mint?: Assets | undefined;
  readonly scriptDataHash?: string | undefined;
  readonly collateral?: readonly OutRef[] | undefined;
  /** Key hashes that must sign, in hexadecimal. */
  readonly requiredSigners?: readonly string[] | undefined;
  readonly collateralReturn?: NewOutput | undefined;
  /** Lovelace. */
  readonly totalCollateral?: bigint | undefined;
  readonly references?: readonly OutRef[] | undefined;
  /** CBOR of the votes on governance actions (`encodeVotes`). */
  readonly votes?: Uint8Array | undefined;
  /** CBOR of each proposal of a governance action (`encodeProposal`). */
  readonly proposals?: readonly Uint8Array[] | undefined;
  readonly redeemers?: readonly Redeemer[] | undefined;
  /** CBOR of native scripts that travel along. */
  readonly nativeScripts?: readonly Uint8Array[] | undefined;
  /** Plutus V3 scripts that travel along, as the bytes of a witness set. */
  readonly scripts?: readonly Uint8Array[] | undefined;
  /** CBOR of auxiliary data, such as a map of metadata. */
  readonly auxiliary?: Uint8Array | undefined;
}

/** Rewards that are withdrawn. */
export interface Withdrawal {
  /** Reward address, its bytes in hexadecimal. */
  readonly account: string;
  /** Lovelace: all that the account has. */
  readonly amount: bigint;
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

/** Tags of redeemers by purpose (CDDL `redeemer_tag`). */
export const REDEEMER_TAGS = { spend: 0, mint: 1, cert: 2, reward: 3, vote: 4, propose: 5 } as const;

/** The ledger's order of reward accounts: by network, scripts before keys, then by hash. */
export function inLedgerOrder(withdrawals: readonly Withdrawal[] = []): readonly Withdrawal[] {
  const rank = ({ account }: Withdrawal) => `${account[1]}${account[0] === "f" ? 0 : 1}${account.slice(2)}`;
  return [...withdrawals].sort((a, b) => rank(a) < rank(b) ? -1 : 1);
}

/** What a redeemer is for, as a text that names it among all of a transaction: it stays as inputs come and go. */
export function subjectOf(target: RedeemerFor): string {
  switch (target.purpose) {
    case "spend":
      return refKey(target.ref);
    case "mint":
      return target.policy;
    case "reward":
      return target.account;
    default:
      return `${target.purpose} ${target.index}`;
  }
}

/**
 * The index of each redeemer target in the ledger's order: inputs by hash and numeric index, policies by bytes, accounts with
 * scripts first. The returned function throws a `RangeError` for a target that is not in the transaction.
 */
export function redeemerIndices(
  parts: Pick<TransactionParts, "inputs" | "mint" | "withdrawals">,
): (target: RedeemerFor) => number {
  const policies = [...new Set([...(parts.mint?.keys() ?? [])].map(policyOf))].sort();
  const places = new Map<string, number>([
    ...sorted(parts.inputs).map((ref, index) => [refKey(ref), index] as const),
    ...policies.map((policy, index) => [policy, index] as const),
    ...inLedgerOrder(parts.withdrawals).map(({ account }, index) => [account, index] as const),
  ]);
  return (target) => {
    const index = "index" in target ? target.index : places.get(subjectOf(target));
    if (index === undefined) throw new RangeError("a redeemer for nothing in its transaction");
    return index;
  };
}

/** CBOR of redeemers (witness set field 5), as a map in ascending order; what the script data hash is over. */
export function encodeRedeemers(
  parts: Pick<TransactionParts, "inputs" | "mint" | "redeemers" | "withdrawals">,
): Uint8Array | undefined {
  if (!parts.redeemers?.length) return undefined;
  const indexOf = redeemerIndices(parts);
  const entries = parts.redeemers.map(({ for: target, data, units }) => {
    const index = indexOf(target);
    const argument = typeof data === "function" ? data(index) : data;
    return {
      tag: REDEEMER_TAGS[target.purpose],
      index,
      value: [new Encoded(argument), [units.memory, units.steps]],
    };
  });
  entries.sort((a, b) => a.tag - b.tag || a.index - b.index);
  return encode(new Map(entries.map(({ tag, index, value }) => [[tag, index], value] as const)));
}

/** CBOR of a transaction's body. */
function encodeBody(parts: TransactionParts): Uint8Array {
  const body = new Map<Encodable, Encodable>([
    [0, refs(parts.inputs)],
    [1, parts.outputs.map((output) => output instanceof Encoded ? output : new Encoded(encodeOutput(output)))],
    [2, parts.fee],
  ]);
  if (parts.validTo !== undefined) body.set(3, parts.validTo);
  if (parts.certificates?.length) body.set(4, set(parts.certificates.map((bytes) => new Encoded(bytes))));
  if (parts.withdrawals?.length) {
    body.set(5, new Map(inLedgerOrder(parts.withdrawals).map(({ account, amount }) => [fromHex(account), amount])));
  }
  if (parts.auxiliary) body.set(7, blake2b256(parts.auxiliary));
  if (parts.validFrom !== undefined) body.set(8, parts.validFrom);
  if (parts.mint?.size) body.set(9, encodeAssets(parts.mint));
  if (parts.scriptDataHash) body.set(11, fromHex(parts.scriptDataHash));
  if (parts.collateral?.length) body.set(13, refs(parts.collateral));
  if (parts.requiredSigners?.length) body.set(14, set([...new Set(parts.requiredSigners)].sort().map(fromHex)));
  if (parts.collateralReturn) body.set(16, new Encoded(encodeOutput(parts.collateralReturn)));
  if (parts.totalCollateral !== undefined) body.set(17, parts.totalCollateral);
  if (parts.references?.length) body.set(18, refs(parts.references));
  if (parts.votes) body.set(19, new Encoded(parts.votes));
  if (parts.proposals?.length) body.set(20, set(parts.proposals.map((bytes) => new Encoded(bytes))));
  return encode(body);
}

/** CBOR of a whole transaction without signatures: `[body, witness set, true, auxiliary data or null]`. */
export function encodeTransaction(parts: TransactionParts): Uint8Array {
  const redeemers = encodeRedeemers(parts);
  const witnesses = new Map<Encodable, Encodable>();
  if (parts.nativeScripts?.length) witnesses.set(1, set(parts.nativeScripts.map((bytes) => new Encoded(bytes))));
  if (redeemers) witnesses.set(5, new Encoded(redeemers));
  if (parts.scripts?.length) witnesses.set(7, set(parts.scripts));
  const { auxiliary } = parts;
  return encode([new Encoded(encodeBody(parts)), witnesses, true, auxiliary ? new Encoded(auxiliary) : null]);
}

/** A signature and the key that it verifies under. */
export interface KeyWitness {
  /** Public key, 32 bytes. */
  readonly key: Uint8Array;
  /** Signature of the transaction's hash, 64 bytes. */
  readonly signature: Uint8Array;
}

/** A signature by a key of Byron, with what makes its address out of it. */
export interface BootstrapWitness extends KeyWitness {
  /** 32 bytes for every key of Byron; the ledger accepts any number beside the witnesses that it needs. */
  readonly chainCode: Uint8Array;
  /** CBOR of the address's attributes. */
  readonly attributes: Uint8Array;
}

/** Bytes of a field of the witness set with so many elements, beside the elements: its key, the set's tag and head. */
function fieldBytes(count: number): number {
  return count === 0 ? 0 : 1 + 3 + head(4, count).length;
}

/** Bytes that so many signatures add to a transaction that has none: the field, its set, and 101 bytes for each. */
export function witnessBytes(count: number): number {
  return fieldBytes(count) + 101 * count;
}

/** Bytes that signatures of Byron keys add to a transaction that has none, by the attributes of the addresses. */
export function bootstrapBytes(attributes: readonly Uint8Array[]): number {
  return attributes.reduce(
    (sum, { length }) => sum + 135 + head(2, length).length + length,
    fieldBytes(attributes.length),
  );
}

/** A transaction's four parts. Throws `CborError` on bytes that are none. */
export function partsOf(transaction: Uint8Array) {
  const [body, witnesses, valid, auxiliary, more] = as(decodeAll(transaction), "array").value;
  if (!body || !witnesses || !valid || !auxiliary || more) throw new CborError("not a transaction");
  as(body, "map");
  as(valid, "bool");
  return { body, witnesses: as(witnesses, "map").value, valid, auxiliary };
}

/**
 * Hash of a transaction's body: the message that is signed, and the transaction's id.
 *
 * @throws {CborError} if the bytes are not a transaction
 */
export function transactionHash(transaction: Uint8Array): string {
  return hash256(raw(partsOf(transaction).body));
}

/** The transaction with signatures put beside those it has; every other byte of body and witnesses stays. Throws `CborError`. */
export function addWitness(transaction: Uint8Array, ...added: readonly KeyWitness[]): Uint8Array {
  return addWitnesses(transaction, { keys: added });
}

/** As `addWitness`, for signatures of both kinds. One under the same key as before (and the same address) takes its place. */
export function addWitnesses(
  transaction: Uint8Array,
  added: { readonly keys?: readonly KeyWitness[]; readonly bootstraps?: readonly BootstrapWitness[] },
): Uint8Array {
  const { body, witnesses, valid, auxiliary } = partsOf(transaction);
  const fields = new Map([
    [0n, (added.keys ?? []).map(({ key, signature }) => encode([key, signature]))],
    [
      2n,
      (added.bootstraps ?? []).map(({ key, signature, chainCode, attributes }) =>
        encode([key, signature, chainCode, attributes])
      ),
    ],
  ]);
  const written: [number | bigint, Uint8Array][] = [];
  for (const [field, list] of fields) {
    if (list.length > 0) written.push([field, encode(set(merged(witnesses, field, list)))]);
  }
  const replaced = new Set(written.map(([field]) => field));
  const others = witnesses.filter(([field]) => !replaced.has(asInt(field)));
  return concat(
    head(4, 4),
    raw(body),
    head(5, others.length + written.length),
    ...written.flatMap(([field, value]) => [encode(field), value]),
    ...others.flatMap(([field, value]) => [raw(field), raw(value)]),
    raw(valid),
    raw(auxiliary),
  );
}

/** Existing and added signatures of a field, by their identity: the key and, for Byron, the address attributes. */
function merged(
  witnesses: ReturnType<typeof partsOf>["witnesses"],
  field: bigint,
  added: readonly Uint8Array[],
): Encoded[] {
  const present = witnesses.filter(([key]) => asInt(key) === field).flatMap(([, list]) => asSet(list).map(raw));
  const nameOf = (witness: Uint8Array) => {
    const [key, , , attributes] = as(decode(witness), "array").value;
    return toHex(as(key, "bytes").value) + (attributes ? toHex(as(attributes, "bytes").value) : "");
  };
  return [...new Map([...present, ...added].map((witness) => [nameOf(witness), witness])).values()]
    .map((bytes) => new Encoded(bytes));
}
