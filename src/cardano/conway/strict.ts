/**
 * Strict reading, as the ledger's decoder does it from protocol version 9 on: no unknown or repeated key, nothing empty where
 * the grammar says nonempty, every number and every length in its range. All of it throws `CborError`.
 */
import { byteAt, toHex } from "#src/base/bytes.ts";
import { type Address, type Credential, readAddress } from "#src/cardano/address.ts";
import { as, asInt, asSet, CborError, type Item, raw } from "#src/cardano/cbor.ts";
import { type Data, readData } from "#src/cardano/data.ts";
import type { Anchor } from "#src/cardano/certificates.ts";
import type { Ratio } from "#src/cardano/parameters.ts";

const MAX_WORD64 = (1n << 64n) - 1n;

/** Entries of a map with small integers for keys; only those listed, each once. */
export function fields(item: Item | undefined, what: string, allowed: readonly number[]): ReadonlyMap<number, Item> {
  const found = new Map<number, Item>();
  for (const [key, value] of as(item, "map").value) {
    const field = Number(as(key, "int").value);
    if (!allowed.includes(field)) throw new CborError(`${what} has no field ${field}`);
    if (found.has(field)) throw new CborError(`${what} has the field ${field} twice`);
    found.set(field, value);
  }
  return found;
}

/** A member of this name, left out where there is no value. To the compiler a computed name is any text, hence the cast. */
export function given<K extends string, V>(key: K, value: V | undefined): { readonly [_ in K]?: V } {
  return value === undefined ? {} : { [key]: value } as { [_ in K]: V };
}

/** As many items as `tuple` was given for one length. */
type Items<N extends number> = N extends 2 ? readonly [Item, Item]
  : N extends 4 ? readonly [Item, Item, Item, Item]
  : readonly Item[];

/** Elements of an array that has one of the lengths given. */
export function tuple<N extends number>(item: Item | undefined, what: string, length: N): Items<N>;
export function tuple(item: Item | undefined, what: string, ...lengths: readonly number[]): readonly Item[];
export function tuple(item: Item | undefined, what: string, ...lengths: readonly number[]): readonly Item[] {
  const elements = as(item, "array").value;
  if (!lengths.includes(elements.length)) throw new CborError(`${what} has ${elements.length} elements`);
  return elements;
}

/** An integer of 0 to `max`. */
export function uint(item: Item | undefined, what: string, max = MAX_WORD64): bigint {
  const value = as(item, "int").value;
  if (value < 0n || value > max) throw new CborError(`${what} is out of range`);
  return value;
}

/** One of a list, whose index is written. */
export function choice<T>(item: Item | undefined, what: string, of: readonly T[]): T {
  const chosen = of[Number(uint(item, what))];
  if (chosen === undefined) throw new CborError(`${what} is out of range`);
  return chosen;
}

/** An integer of 1 to 2^64 − 1. */
export function positive(item: Item | undefined, what: string): bigint {
  const value = uint(item, what);
  if (value === 0n) throw new CborError(`${what} is zero`);
  return value;
}

/** Bytes of one length, in hexadecimal. */
export function hash(item: Item | undefined, what: string, length: number): string {
  const { value } = as(item, "bytes");
  if (value.length !== length) throw new CborError(`${what} has ${value.length} bytes`);
  return toHex(value);
}

/** Elements of a list or set that is not empty. */
export function nonEmpty(item: Item | undefined, what: string): readonly Item[] {
  const elements = asSet(item);
  if (elements.length === 0) throw new CborError(`${what} is empty`);
  return elements;
}

/** What was read of each element, none of them twice by the key given. */
export function unique<T>(
  elements: readonly Item[],
  what: string,
  read: (element: Item) => T,
  key: (value: T, element: Item) => string = (_, element) => toHex(raw(element)),
): T[] {
  const seen = new Set<string>();
  return elements.map((element) => {
    const value = read(element);
    const name = key(value, element);
    if (seen.has(name)) throw new CborError(`${what} has an element twice`);
    seen.add(name);
    return value;
  });
}

/** Entries of a map, none of its keys twice, read one by one. */
export function entries<K, V>(
  item: Item | undefined,
  what: string,
  key: (item: Item) => K,
  value: (item: Item, key: K) => V,
): [K, V][] {
  const seen = new Set<string>();
  return as(item, "map").value.map(([k, v]) => {
    const name = toHex(raw(k));
    if (seen.has(name)) throw new CborError(`${what} has a key twice`);
    seen.add(name);
    const read = key(k);
    return [read, value(v, read)];
  });
}

/** `credential` of the grammar. */
export function credential(item: Item | undefined): Credential {
  const [kind, of] = tuple(item, "credential", 2);
  const isScript = uint(kind, "kind of credential", 1n) === 1n;
  return { kind: isScript ? "script" : "key", hash: hash(of, "credential", 28) };
}

/** An account that rewards go to. */
export interface RewardAccount {
  /** Bytes of the reward address, in hexadecimal. */
  readonly hex: string;
  readonly network: 0 | 1;
  readonly credential: Credential;
}

/** The ledger's order of credentials: scripts before keys, then by hash. */
export function compareCredentials(a: Credential, b: Credential): number {
  if (a.kind !== b.kind) return a.kind === "script" ? -1 : 1;
  return a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;
}

/** The ledger's order of reward accounts: by network, then by credential. */
export function compareAccounts(a: RewardAccount, b: RewardAccount): number {
  return a.network - b.network || compareCredentials(a.credential, b.credential);
}

/** `reward_account` of the grammar. */
export function rewardAccount(item: Item | undefined): RewardAccount {
  return rewardAccountOf(as(item, "bytes").value);
}

/** The account that a reward address names. */
export function rewardAccountOf(bytes: Uint8Array): RewardAccount {
  const address = readAddress(bytes);
  if (!address.ok) throw new CborError(`reward account: ${address.error.message}`);
  if (address.value.kind !== "reward") throw new CborError("not a reward account");
  const { hex, network, stake } = address.value;
  return { hex, network, credential: stake };
}

/** `address` of an output: of payment or of Byron. */
export function paymentAddress(bytes: Uint8Array): Address {
  const address = readAddress(bytes);
  if (!address.ok) throw new CborError(`address: ${address.error.message}`);
  if (address.value.kind === "reward") throw new CborError("an output at a reward account");
  if (address.value.kind === "pointer") checkPointer(bytes.subarray(POINTER_AT));
  return address.value;
}

/** Where the pointer begins in an address: after the header and the payment credential. */
const POINTER_AT = 29;
/** Bits of a slot, of a transaction's index and of a certificate's (ledger: `decodePtr`). */
const POINTER_BITS = [32, 16, 16] as const;

/** Checks the three numbers of a pointer: each has no more groups of seven bits than its type fills, leading zeros included. */
function checkPointer(bytes: Uint8Array): void {
  let at = 0;
  for (const bits of POINTER_BITS) {
    const first = at;
    let value = 0;
    let byte: number;
    do {
      byte = byteAt(bytes, at++);
      value = value * 128 + (byte & 127);
    } while (byte >= 128);
    if (7 * (at - first - 1) >= bits || value >= 2 ** bits) throw new CborError("a pointer out of range");
  }
}

/** A text of at most so many bytes of UTF-8. */
function text(item: Item | undefined, what: string, max: number): string {
  const { value } = as(item, "text");
  if (new TextEncoder().encode(value).length > max) throw new CborError(`${what} is longer than ${max} bytes`);
  return value;
}

/** `anchor / nil`: a URL of up to 128 bytes and a hash. */
export function anchorOrNil(item: Item | undefined): Anchor | undefined {
  if (item?.type === "null") return undefined;
  const [url, of] = tuple(item, "anchor", 2);
  return { url: text(url, "anchor", 128), hash: hash(of, "anchor", 32) };
}

/** A fraction under its tag, not negative; at most one when `unit`. */
export function ratio(item: Item | undefined, what: string, unit = false): Ratio {
  const tagged = as(item, "tag");
  if (tagged.tag !== 30n) throw new CborError(`${what} is no fraction`);
  const [above, below] = tuple(tagged.value, what, 2);
  return boundedRatio(asInt(above), asInt(below), what, unit);
}

/** A fraction in lowest terms, of integers of 64 bits without a sign (ledger: `BoundedRatio`); at most one when `unit`. */
export function boundedRatio(above: bigint, below: bigint, what: string, unit = false): Ratio {
  if (below === 0n) throw new CborError(`${what} is a share of nothing`);
  const divisor = greatestDivisor(above, below) * (below < 0n ? -1n : 1n);
  const [numerator, denominator] = [above / divisor, below / divisor];
  if (numerator < 0n || numerator > MAX_WORD64 || denominator > MAX_WORD64) {
    throw new CborError(`${what} is out of range`);
  }
  if (unit && numerator > denominator) throw new CborError(`${what} is more than one`);
  return { numerator, denominator };
}

/** The greatest common divisor, which is positive; one of the numbers is not zero. */
function greatestDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

/** `plutus_data` of the grammar, however deeply it is nested. */
export function plutusData(item: Item | undefined): Data {
  if (!item) throw new CborError("data is missing");
  return readData(item);
}

/** The integer that an item is, of 64 bits with a sign, and not zero. */
export function nonZeroInt64(item: Item | undefined, what: string): bigint {
  const value = asInt(item);
  if (value === 0n) throw new CborError(`${what} is zero`);
  if (value < -(1n << 63n) || value >= 1n << 63n) throw new CborError(`${what} is out of range`);
  return value;
}
