/**
 * Which unspent outputs a transaction spends.
 *
 * Few and large ones: the largest alone suffices whenever any alone does, and few inputs make a cheap transaction. Outputs that
 * carry a reference script are never spent: others may rely on them.
 */
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import { type AssetId, subtractValues, sumValues, type Value } from "#src/cardano/value.ts";

/** An unspent output on offer. */
export interface Candidate {
  readonly utxo: Utxo;
  /** Lower is taken first: 0 (the default) confirmed and unreserved, more for what is better left to others. */
  readonly preference?: number | undefined;
}

/** What was chosen; `missing` is what even everything does not cover, `crowded` that it takes more inputs than allowed. */
export type Selection =
  | { readonly type: "chosen"; readonly utxos: readonly Utxo[] }
  | { readonly type: "missing"; readonly missing: Value }
  | { readonly type: "crowded" };

/** Candidates in the order in which they are taken: by preference, outputs without assets first, large before small. */
export function inOrder(candidates: readonly Candidate[]): readonly Utxo[] {
  return candidates
    .filter(({ utxo }) => utxo.output.script === undefined)
    .sort((a, b) =>
      (a.preference ?? 0) - (b.preference ?? 0) ||
      Number(a.utxo.output.value.assets.size > 0) - Number(b.utxo.output.value.assets.size > 0) ||
      largerFirst(a.utxo, b.utxo)
    )
    .map(({ utxo }) => utxo);
}

function largerFirst(a: Utxo, b: Utxo): number {
  const difference = b.output.value.lovelace - a.output.value.lovelace;
  return difference > 0n ? 1 : difference < 0n ? -1 : compareRefs(a.ref, b.ref);
}

/**
 * Chooses outputs that together hold at least `need` (what is negative in it needs nothing), at most `most` of them. `available` comes from
 * `inOrder`.
 */
export function select(available: readonly Utxo[], need: Value, most: number): Selection {
  const chosen = take(available, need);
  if (!chosen) return { type: "missing", missing: positive(subtractValues(need, sumOf(available))) };
  if (chosen.length <= most) return { type: "chosen", utxos: chosen };
  const largest = take([...available].sort(largerFirst), need)!;
  return largest.length <= most ? { type: "chosen", utxos: largest } : { type: "crowded" };
}

function sumOf(utxos: readonly Utxo[]): Value {
  return sumValues(utxos.map(({ output }) => output.value));
}

function positive(value: Value): Value {
  return {
    lovelace: value.lovelace > 0n ? value.lovelace : 0n,
    assets: new Map([...value.assets].filter(([, quantity]) => quantity > 0n)),
  };
}

function take(available: readonly Utxo[], need: Value): readonly Utxo[] | undefined {
  const chosen = new Set<Utxo>();
  for (const [asset, quantity] of need.assets) {
    if (quantity > 0n && !takeUntil(quantity, holders(available, asset), (utxo) => held(utxo, asset), chosen)) {
      return undefined;
    }
  }
  if (!takeUntil(need.lovelace, available, (utxo) => utxo.output.value.lovelace, chosen)) return undefined;
  return withoutNeedless([...chosen], need);
}

function held(utxo: Utxo, asset: AssetId): bigint {
  return utxo.output.value.assets.get(asset) ?? 0n;
}

function holders(available: readonly Utxo[], asset: AssetId): readonly Utxo[] {
  return available.filter((utxo) => held(utxo, asset) > 0n)
    .sort((a, b) => held(a, asset) > held(b, asset) ? -1 : held(a, asset) < held(b, asset) ? 1 : largerFirst(a, b));
}

/** Adds to `chosen` until it amounts to `wanted`; false when everything does not. */
function takeUntil(wanted: bigint, from: readonly Utxo[], amount: (utxo: Utxo) => bigint, chosen: Set<Utxo>): boolean {
  let sum = 0n;
  for (const utxo of chosen) sum += amount(utxo);
  for (const utxo of from) {
    if (sum >= wanted) return true;
    if (chosen.has(utxo)) continue;
    chosen.add(utxo);
    sum += amount(utxo);
  }
  return sum >= wanted;
}

/** Leaves out, from the smallest on, what turned out to be needless once larger ones were taken. */
function withoutNeedless(chosen: readonly Utxo[], need: Value): readonly Utxo[] {
  const kept = new Set(chosen);
  const wanted = [...need.assets].filter(([, quantity]) => quantity > 0n);
  const spare = new Map(wanted.map(([asset, quantity]) => [
    asset,
    chosen.reduce((sum, utxo) => sum + held(utxo, asset), 0n) - quantity,
  ]));
  let lovelace = chosen.reduce((sum, utxo) => sum + utxo.output.value.lovelace, 0n) - need.lovelace;
  for (const utxo of [...chosen].sort((a, b) => largerFirst(b, a))) {
    if (utxo.output.value.lovelace > lovelace) break;
    if (wanted.some(([asset]) => held(utxo, asset) > spare.get(asset)!)) continue;
    kept.delete(utxo);
    lovelace -= utxo.output.value.lovelace;
    for (const [asset] of wanted) spare.set(asset, spare.get(asset)! - held(utxo, asset));
  }
  return [...kept];
}
