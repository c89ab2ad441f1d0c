import { expect, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { drawLeader } from "#src/devnet/blocks/blockProducer.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { newState } from "#src/ledger/state.ts";

const seed = utf8("a seed");
const none = new Uint8Array();
const pool = (lovelace: bigint) => ({ certificate: none, members: new Map([["k1", lovelace]]) });
const keys = new Map(["aa", "bb", "cc"].map((id) => [id, utf8(id)]));

/** A state in epoch 3 whose leaders are drawn by the given stake. */
function state(stakes: Record<string, bigint>) {
  const made = newState({ parameters: mainnetParameters, epoch: 3 });
  const pools = new Map(Object.entries(stakes).map(([id, lovelace]) => [id, pool(lovelace)]));
  made.snapshots.set("2", { pools, fees: 0n });
  made.snapshots.set("3", { pools: new Map([["zz", pool(1_000_000n)]]), fees: 0n });
  for (const id of ["aa", "bb"]) made.pools.set(id, { certificate: none, deposit: 0n });
  return made;
}

function counts(of: ReturnType<typeof state>, slots: number, known: ReadonlyMap<string, Uint8Array> = keys) {
  const drawn = new Map<string | undefined, number>();
  for (let slot = 0; slot < slots; slot++) {
    const id = drawLeader(of, { seed, slot, keys: known, rotation: ["bb", "aa", "cc"] });
    drawn.set(id, (drawn.get(id) ?? 0) + 1);
  }
  return drawn;
}

test("pools are drawn by their share of the earlier epoch's stake", () => {
  const drawn = counts(state({ aa: 700n, bb: 200n, cc: 100n, dd: 0n }), 10_000);
  expect([...drawn.keys()].sort()).toEqual(["aa", "bb", "cc"]);
  // five standard deviations of 10,000 draws are below 250
  for (const [id, expected] of [["aa", 7_000], ["bb", 2_000], ["cc", 1_000]] as const) {
    expect(Math.abs(drawn.get(id)! - expected)).toBeLessThan(250);
  }
});

test("a draw is reproducible, and differs with another seed", () => {
  const of = state({ aa: 500n, bb: 500n });
  const draws = (seed: Uint8Array) =>
    Array.from({ length: 64 }, (_, slot) => drawLeader(of, { seed, slot, keys, rotation: [] })).join();
  expect(draws(seed)).toBe(draws(seed));
  expect(draws(seed)).not.toBe(draws(utf8("another seed")));
});

test("a pool whose key is not known is not drawn", () => {
  expect([...counts(state({ aa: 1n, bb: 1_000n }), 100, new Map([["aa", none]])).keys()]).toEqual(["aa"]);
});

test("without stake the registered pools of the genesis take turns; without any there is none", () => {
  expect(counts(state({}), 10)).toEqual(new Map([["bb", 5], ["aa", 5]]));
  expect(counts(newState({ parameters: mainnetParameters }), 3)).toEqual(new Map([[undefined, 3]]));
});
