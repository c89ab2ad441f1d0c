/** Ledger values as a type of constants (CIP-153): amounts by policy and token name, both sorted; no amount is zero. */
import { compareBytes, equalBytes } from "#src/base/bytes.ts";
import { DataMap } from "#src/cardano/data.ts";
import { DataKind, entriesOf, integerOf, kindOf, type MachineData } from "#src/plutus/machine/data.ts";
import { refuse } from "#src/plutus/machine/failure.ts";

/** Most bytes of a policy or a token name. */
export const MAX_KEY = 32;
const LEAST = -(1n << 127n);
const MOST = (1n << 127n) - 1n;

type Entry<V> = readonly [key: Uint8Array, value: V];
/** Amounts by token name. */
export type Tokens = readonly Entry<bigint>[];

export class Assets {
  /** Number of tokens. */
  readonly size: number;
  /** Largest number of tokens under one policy. */
  readonly most: number;
  /** Number of negative amounts. */
  readonly negative: number;

  /** `policies` and their tokens must be sorted; no amount may be zero and no policy empty. */
  constructor(readonly policies: readonly Entry<Tokens>[]) {
    let [size, most, negative] = [0, 0, 0];
    for (const [, tokens] of policies) {
      size += tokens.length;
      most = Math.max(most, tokens.length);
      for (const [, amount] of tokens) if (amount < 0n) negative++;
    }
    [this.size, this.most, this.negative] = [size, most, negative];
  }
}

const NO_ASSETS: Assets = new Assets([]);

export function isAmount(amount: bigint): boolean {
  return amount >= LEAST && amount <= MOST;
}

/** Index of a key, or the complement (`~`) of the index at which it would be inserted. */
function search<V>(entries: readonly Entry<V>[], key: Uint8Array): number {
  let [low, high] = [0, entries.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const [found] = entries[middle] ?? outside();
    const order = compareBytes(found, key);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return ~low;
}

function outside(): never {
  throw new RangeError("a search is outside its entries");
}

/** The entries with another value for a key; undefined removes the key. */
function changed<V>(entries: readonly Entry<V>[], key: Uint8Array, value: V | undefined): readonly Entry<V>[] {
  const at = search(entries, key);
  if (at < 0 && value === undefined) return entries;
  const place = at < 0 ? ~at : at;
  const rest = entries.slice(at < 0 ? place : place + 1);
  return value === undefined
    ? [...entries.slice(0, place), ...rest]
    : [...entries.slice(0, place), [key, value], ...rest];
}

export function amountOf(assets: Assets, policy: Uint8Array, token: Uint8Array): bigint {
  const tokens = assets.policies[search(assets.policies, policy)]?.[1] ?? [];
  return tokens[search(tokens, token)]?.[1] ?? 0n;
}

/** The value with the amount of one token set. */
export function insertAmount(assets: Assets, policy: Uint8Array, token: Uint8Array, amount: bigint): Assets {
  if (amount !== 0n) {
    if (policy.length > MAX_KEY || token.length > MAX_KEY) refuse("a key of a value has more than 32 bytes");
    if (!isAmount(amount)) refuse("an amount is beyond 128 bits");
  }
  const tokens = assets.policies[search(assets.policies, policy)]?.[1] ?? [];
  const after = changed(tokens, token, amount === 0n ? undefined : amount);
  return new Assets(changed(assets.policies, policy, after.length === 0 ? undefined : after));
}

/** Merges two sorted lists of entries; `both` combines the values of a key that is in both, or removes it by undefined. */
function merged<V>(
  a: readonly Entry<V>[],
  b: readonly Entry<V>[],
  both: (ours: V, theirs: V) => V | undefined,
): readonly Entry<V>[] {
  const all: Entry<V>[] = [];
  let next = 0;
  for (const [key, ours] of a) {
    let other = b[next];
    for (; other && compareBytes(other[0], key) < 0; other = b[++next]) all.push(other);
    const isBoth = other !== undefined && equalBytes(other[0], key);
    const value = other && isBoth ? both(ours, other[1]) : ours;
    if (value !== undefined) all.push([key, value]);
    if (isBoth) next++;
  }
  return all.concat(b.slice(next));
}

/** The sum of two values. */
export function union(a: Assets, b: Assets): Assets {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const sum = (x: bigint, y: bigint) => {
    const amount = x + y;
    if (!isAmount(amount)) refuse("an amount is beyond 128 bits");
    return amount === 0n ? undefined : amount;
  };
  return new Assets(merged<Tokens>(a.policies, b.policies, (ours, theirs) => {
    const tokens = merged(ours, theirs, sum);
    return tokens.length === 0 ? undefined : tokens;
  }));
}

/**
 * Whether a value has at least as much of each token as another.
 *
 * @throws {Failure} if one of them has negative amounts.
 */
export function contains(a: Assets, b: Assets): boolean {
  if (a.negative > 0 || b.negative > 0) refuse("a value has negative amounts");
  if (a.size < b.size) return false;
  return b.policies.every(([policy, tokens]) =>
    tokens.every(([token, amount]) => amountOf(a, policy, token) >= amount)
  );
}

/** Each amount multiplied. */
export function scaled(factor: bigint, assets: Assets): Assets {
  if (factor === 0n) return NO_ASSETS;
  return new Assets(assets.policies.map(([policy, tokens]) => [
    policy,
    tokens.map(([token, amount]) => {
      const product = factor * amount;
      return isAmount(product) ? [token, product] as const : refuse("an amount is beyond 128 bits");
    }),
  ]));
}

/** Most tokens of a value that can be converted to data (`valueDataMaxSize`). */
const MAX_DATA = 40_000;

/**
 * A value as data: a map of maps.
 *
 * @throws {Failure} if it has too many tokens.
 */
export function assetsData(assets: Assets): MachineData {
  if (assets.size > MAX_DATA) refuse("valueData: the value has more than 40,000 tokens");
  return new DataMap(assets.policies.map(([policy, tokens]) => [policy, new DataMap(tokens)]));
}

/**
 * Reads a value from data.
 *
 * @throws {Failure} unless keys are strictly ascending, no policy is empty and no amount is zero.
 */
export function assetsOf(data: MachineData): Assets {
  return new Assets(sortedEntries(data, (tokens) => {
    const entries = sortedEntries(tokens, (amount) => {
      if (kindOf(amount) !== DataKind.INTEGER) refuse("an amount of a value is no integer");
      const whole = BigInt(integerOf(amount));
      return whole !== 0n && isAmount(whole) ? whole : refuse("an amount of a value is zero or beyond 128 bits");
    });
    return entries.length > 0 ? entries : refuse("a policy of a value has no token");
  }));
}

function sortedEntries<V>(data: MachineData, valueOf: (data: MachineData) => V): readonly Entry<V>[] {
  if (kindOf(data) !== DataKind.MAP) refuse("a value is no map");
  let before: Uint8Array | undefined;
  return entriesOf(data).map(([key, value]) => {
    if (!(key instanceof Uint8Array)) return refuse("a key of a value is no byte string");
    if (key.length > MAX_KEY) refuse("a key of a value has more than 32 bytes");
    if (before !== undefined && compareBytes(before, key) >= 0) refuse("keys of a value are not in order");
    before = key;
    return [key, valueOf(value)] as const;
  });
}
