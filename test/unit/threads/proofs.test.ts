/** Proofs from builder threads: the same with all facts, with a cut, and with the thread's cache. */
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { PackedFacts } from "#src/tokens/builds/packedFacts.ts";
import { packFacts } from "../../support/contract/packedFacts.ts";
import { prove } from "#src/tokens/builds/proofs.ts";
import { bucketOf, cutOf, neededBuckets } from "#src/forestry/cut.ts";
import { encodeProof } from "#src/forestry/proof.ts";
import { Forestry, type Leaf, leafOf } from "#src/forestry/trie.ts";

const leaves = (count: number, from = 0): Leaf[] =>
  Array.from({ length: count }, (_, i) => leafOf(utf8(`key ${from + i}`), utf8(`value ${i}`)));
const pathOf = (key: string) => leafOf(utf8(key), utf8("")).path;
const bare = { hashes: new Uint8Array(), buckets: [] };

class Facts {
  readonly trie: Forestry;
  readonly root: string;
  private readonly hashes: Uint8Array;

  constructor(readonly all: readonly Leaf[]) {
    this.trie = Forestry.from(all);
    this.root = toHex(this.trie.root);
    this.hashes = cutOf(this.trie);
  }

  /** Whether the proof of a path only shows its own bucket. */
  alone(path: Uint8Array): boolean {
    return neededBuckets(this.hashes, [path]).length === 1;
  }

  /** The result of the index if it reads everything required. */
  whole(path: Uint8Array, cut: boolean): PackedFacts {
    if (!cut) return packFacts(this.all);
    const buckets = neededBuckets(this.hashes, [path]);
    return packFacts(this.all.filter((leaf) => buckets.includes(bucketOf(leaf.path))), {
      hashes: this.hashes,
      buckets,
    });
  }

  /** The result of the index if the thread may have the rest cached. */
  slim(path: Uint8Array, cut: boolean): PackedFacts {
    const buckets = [bucketOf(path)];
    const mine = this.all.filter((leaf) => buckets.includes(bucketOf(leaf.path)));
    return cut ? packFacts(mine, { ...bare, buckets }) : packFacts([]);
  }

  expected(path: Uint8Array) {
    const value = this.trie.get(path);
    const proof = value ? this.trie.prove(path) : this.trie.proveAbsent(path);
    if (!proof.ok) throw new Error(proof.error.message);
    return {
      ok: true,
      value: { root: this.root, ...(value ? { value } : {}), proof: proof.value, cbor: encodeProof(proof.value) },
    };
  }
}

const needed = { ok: false, error: { code: "facts_needed" } };
const ask = (facts: Facts, path: Uint8Array, cut: boolean, whole: boolean) =>
  prove({ root: facts.root, path, facts: whole ? facts.whole(path, cut) : facts.slim(path, cut), whole });

describe.each([[false, 40], [true, 2_000]])("with a cut (%s), %i facts", (cut, count) => {
  it("are proven from the given facts, and then from the cache", async () => {
    const facts = new Facts(leaves(count, cut ? 10_000 : 0));
    const paths = [...facts.all.slice(0, 10).map(({ path }) => path), ...leaves(10, 99_000).map(({ path }) => path)];
    expect(await ask(facts, paths[0]!, cut, false)).toMatchObject(needed);
    expect(await ask(facts, paths[0]!, cut, true)).toEqual(facts.expected(paths[0]!));
    for (const path of paths) {
      const slim = await ask(facts, path, cut, false);
      if (facts.alone(path)) expect(slim).toEqual(facts.expected(path));
      else if (!slim.ok) expect(slim).toMatchObject(needed);
      else expect(slim).toEqual(facts.expected(path));
      expect(await ask(facts, path, cut, true)).toEqual(facts.expected(path));
    }
  });

  it("that do not lead to the root give their own root, and are never cached under the expected one", async () => {
    const [facts, other] = [new Facts(leaves(count, 20_000)), new Facts(leaves(count - 1, 20_000))];
    const { path } = facts.all[0]!;
    const answer = await prove({ root: facts.root, path, facts: other.whole(path, cut), whole: true });
    expect(answer).toEqual(other.expected(path));
    expect(await ask(facts, path, cut, false)).toMatchObject(needed);
  });

  it("are dropped from the cache after others", async () => {
    const facts = new Facts(leaves(count, 30_000));
    const { path } = facts.all.find((leaf) => facts.alone(leaf.path))!;
    await ask(facts, path, cut, true);
    expect((await ask(facts, path, cut, false)).ok).toBe(true);
    for (let i = 0; i < 12; i++) {
      const more = new Facts(leaves(3, 1_000 * i));
      await ask(more, path, false, true);
    }
    expect(await ask(facts, path, cut, false)).toMatchObject(needed);
  });
});

it("the facts of a neighbour bucket are requested if the proof shows them", async () => {
  const facts = new Facts(leaves(2, 40_000));
  const { path } = facts.all[0]!;
  expect(await ask(facts, path, true, true)).toEqual(facts.expected(path));
  expect(await ask(facts, path, true, false)).toMatchObject(needed);
});

it("rows of a bucket that do not belong to the root are reported", async () => {
  const facts = new Facts(leaves(2_000, 50_000));
  const { path } = facts.all[0]!;
  await ask(facts, path, true, true);
  const slim = facts.slim(path, true);
  for (const wrong of [slim.leaves.slice(64), slim.leaves.map((byte, i) => i === 40 ? byte ^ 1 : byte)]) {
    const answer = await prove({ root: facts.root, path, facts: { ...slim, leaves: wrong }, whole: false });
    expect(answer).toMatchObject({ ok: false, error: { code: "cut_mismatch" } });
  }
});

it("a root is cached with a cut and without", async () => {
  const facts = new Facts(leaves(30, 60_000));
  const { path } = facts.all[0]!;
  for (const cut of [true, false, true]) {
    expect(await ask(facts, path, cut, true)).toEqual(facts.expected(path));
    expect(await ask(facts, pathOf("nothing"), cut, true)).toEqual(facts.expected(pathOf("nothing")));
  }
});

it("an empty trie proves every absence", async () => {
  const facts = new Facts([]);
  for (const cut of [false, true]) {
    expect(await ask(facts, pathOf("a"), cut, true)).toEqual(facts.expected(pathOf("a")));
    expect(await ask(facts, pathOf("b"), cut, false)).toEqual(facts.expected(pathOf("b")));
  }
});
