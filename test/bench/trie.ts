/** The trie: inserts with a root after each, bulk loads, proofs, and changes on a cut. */
import { utf8 } from "#src/base/bytes.ts";
import { bucketOf, cutOf, neededBuckets, openCut } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { Forestry, type Leaf, leafOf } from "#src/forestry/trie.ts";
import { table } from "./machine.ts";

const leaves = (count: number, from = 0): Leaf[] =>
  Array.from({ length: count }, (_, i) => leafOf(utf8(`key-${from + i}`), utf8(`value-${from + i}`)));

function perSecond(count: number, work: () => void): number {
  const start = performance.now();
  work();
  return Math.round(count / ((performance.now() - start) / 1000));
}

/** Prints inserts, bulk loads, proofs and batches on a cut, per second or in ms. */
export async function benchTrie(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const rows: (string | number)[][] = [];
  for (const size of [1_000, 10_000, 100_000]) {
    const all = leaves(size);
    let trie = new Forestry();
    const start = performance.now();
    trie = Forestry.from(all);
    void trie.root;
    const bulk = performance.now() - start;
    const more = leaves(2_000, size);
    const grown = trie.copy();
    const inserts = perSecond(more.length, () => {
      for (const { path, value } of more) {
        grown.insert(path, value);
        void grown.root;
      }
    });
    const proofs = perSecond(2_000, () => {
      for (let i = 0; i < 2_000; i++) trie.prove(all[(i * 7919) % size]!.path);
    });
    const cut = cutOf(trie);
    const byBucket = new Map<number, Leaf[]>();
    for (const leaf of all) {
      const known = byBucket.get(bucketOf(leaf.path));
      if (known) known.push(leaf);
      else byBucket.set(bucketOf(leaf.path), [leaf]);
    }
    const batch = leaves(20, size + 10_000);
    const begun = performance.now();
    const needed = neededBuckets(cut, batch.map(({ path }) => path));
    const opened = openCut(cut, new Map(needed.map((bucket) => [bucket, byBucket.get(bucket) ?? []])));
    if (!opened.ok) throw new Error(opened.error.message);
    for (const { path, value } of batch) opened.value.apply({ type: "insert", path, value });
    void opened.value.root;
    const onCut = performance.now() - begun;
    rows.push([size, bulk.toFixed(0), inserts, proofs, onCut.toFixed(1)]);
  }
  table(
    ["facts", "bulk load, ms", "inserts/s, root after each", "proofs/s", "20 inserts with proofs on a cut, ms"],
    rows,
  )
    .forEach((line) => print(line));
}
