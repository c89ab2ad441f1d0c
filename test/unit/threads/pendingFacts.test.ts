/** Facts of a state that no block holds: those of the ledger, whole or as a cut, and the pending changes in order. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { concat, utf8 } from "#src/base/bytes.ts";
import { openState, type PackedFacts } from "#src/tokens/builds/packedFacts.ts";
import { bucketOf, cutOf, neededBuckets } from "#src/forestry/cut.ts";
import { digest, initHash } from "#src/forestry/hash.ts";
import { type Change, Forestry, type Leaf, leafOf } from "#src/forestry/trie.ts";
import { cases } from "../../support/base/longTests.ts";

const key = (n: number) => utf8(`key ${n}`);
const KEYS = 3_000;

function packed(leaves: readonly Leaf[]): Uint8Array {
  return concat(...leaves.flatMap(({ path, value }) => [path, value]));
}

/** What the index gives for changes at some paths. */
function stored(
  leaves: readonly Leaf[],
  hashes: Uint8Array | undefined,
  paths: readonly Uint8Array[],
): PackedFacts {
  if (!hashes) return { leaves: packed(leaves) };
  const buckets = neededBuckets(hashes, paths);
  const wanted = new Set(buckets);
  return { leaves: packed(leaves.filter(({ path }) => wanted.has(bucketOf(path)))), cut: { hashes, buckets } };
}

/** A change of a key that its value allows. */
function changeAt(trie: Forestry, n: number, remove: boolean): Change {
  const path = digest(key(n));
  const found = trie.get(path);
  if (found === undefined) return { type: "insert", path, value: digest(utf8(`new ${n}`)) };
  return remove ? { type: "delete", path, value: found } : { type: "update", path, old: found, value: digest(found) };
}

describe("the facts of a pending state", () => {
  beforeAll(() => initHash());

  it.each([[false, 40], [false, KEYS], [true, KEYS], [true, 3]])(
    "have the root and the proofs of all changes in order (cut: %s, %i facts)",
    (isCut, count) => {
      const leaves = Array.from({ length: count }, (_, n) => leafOf(key(n), utf8(`value ${n}`)));
      const begin = Forestry.from(leaves);
      const cut = isCut ? cutOf(begin) : undefined;
      const picks = fc.array(fc.record({ n: fc.nat(2 * count), remove: fc.boolean() }), {
        minLength: 1,
        maxLength: 30,
      });
      fc.assert(
        fc.property(picks, fc.nat(2 * count), (changed, next) => {
          const now = begin.copy();
          const changes = changed.map(({ n, remove }) => {
            const change = changeAt(now, n, remove);
            expect(now.change(change).ok).toBe(true);
            return change;
          });
          const last = changeAt(now, next, false);
          const facts = stored(leaves, cut, [...changes, last].map(({ path }) => path));
          const opened = openState({ facts, changes });
          if (!opened.ok) throw new Error(opened.error.message);
          expect(opened.value.root).toEqual(now.root);
          expect(opened.value.apply(last)).toEqual(now.apply(last));
        }),
        { numRuns: cases(8, 30) },
      );
    },
  );

  it("are refused where a change does not apply", () => {
    const change: Change = { type: "delete", path: digest(key(1)), value: digest(key(2)) };
    const opened = openState({ facts: { leaves: new Uint8Array() }, changes: [change] });
    expect(opened).toMatchObject({ ok: false, error: { code: "state_differs" } });
  });
});
