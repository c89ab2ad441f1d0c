import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { blake2b256, initHash } from "#src/cardano/hash.ts";
import { LoadedTree } from "#src/csmt/loading.ts";
import { type Node, rootOf } from "#src/csmt/node.ts";
import { proveInclusion } from "#src/csmt/prove.ts";
import { topBytes } from "#src/csmt/rows.ts";
import { type Element, elements, find, insert, remove } from "#src/csmt/tree.ts";
import { bitText, modelRoot } from "../../support/csmt/model.ts";

beforeAll(initHash);

/** Keys of four bytes with long common beginnings and near neighbours, of which none begins another. */
const keys = fc.array(
  fc.tuple(fc.constantFrom(0x00, 0x01, 0xf0), fc.constantFrom(0, 0x80), fc.nat(255), fc.nat(3)).map((bytes) =>
    toHex(Uint8Array.from(bytes))
  ),
  { maxLength: 80 },
);
const elementOf = (key: string): Element => ({ key: fromHex(key), value: blake2b256(fromHex(key)) });
const rootOfKeys = (keys: Iterable<string>) => {
  const root = modelRoot([...new Set(keys)].map((key) => [bitText(fromHex(key)), elementOf(key).value]));
  return root && toHex(root);
};
const rootText = (root: Uint8Array | undefined) => root ? toHex(root) : null;
const build = (keys: Iterable<string>) => {
  let top: Node | undefined;
  for (const key of keys) top = insert(top, elementOf(key));
  return top;
};

describe("the tree", () => {
  it("has the root of the definition, in whatever order elements come and go", () => {
    fc.assert(fc.property(keys, keys, (kept, passing) => {
      const leaving = [...new Set(passing)].filter((key) => !kept.includes(key));
      let top = build([...leaving.slice(0, 5), ...kept, ...leaving.slice(5)]);
      expect(rootText(rootOf(top))).toBe(rootOfKeys([...kept, ...leaving]));
      for (const key of leaving) top = remove(top, fromHex(key));
      expect(rootText(rootOf(top))).toBe(rootOfKeys(kept));
      expect([...elements(top)].map(({ path }) => toHex(path))).toEqual([...new Set(kept)].sort());
    }));
  });

  it("finds what it has, replaces values, and refuses to remove what it does not have", () => {
    fc.assert(fc.property(keys, keys, (some, others) => {
      const top = build(some);
      for (const key of [...some, ...others]) {
        const found = find(top, fromHex(key));
        if (some.includes(key)) expect(found && toHex(found.value)).toBe(toHex(elementOf(key).value));
        else {
          expect(found).toBeUndefined();
          expect(() => remove(top, fromHex(key))).toThrow(RangeError);
        }
      }
      if (some.length === 0) return;
      const replaced = insert(top, { key: fromHex(some[0]!), value: new Uint8Array(32) });
      expect(find(replaced, fromHex(some[0]!))!.value).toEqual(new Uint8Array(32));
      expect(rootText(rootOf(insert(replaced, elementOf(some[0]!))))).toBe(rootOfKeys(some));
    }));
  });

  it("refuses a key that is the beginning of another one", () => {
    const top = build(["0102", "0304"]);
    for (const key of ["01", "010203"]) expect(() => insert(top, elementOf(key))).toThrow("beginning of another");
  });
});

/** A tree in rows, as a database holds it. */
class StoredTree {
  rows = new Map<string, Uint8Array>();
  top: Uint8Array = new Uint8Array();
  reads = 0;

  load(): LoadedTree {
    return new LoadedTree(this.top, async (names) => {
      this.reads++;
      return new Map(names.flatMap((name) => this.rows.has(name) ? [[name, this.rows.get(name)!] as const] : []));
    });
  }

  async change(added: readonly string[], removed: readonly string[]): Promise<string | null> {
    const tree = this.load();
    await tree.change({ added: added.map(elementOf), removed: removed.map(fromHex) });
    const { written, deleted } = tree.changedRows();
    for (const name of deleted) expect(this.rows.delete(name)).toBe(true);
    for (const [name, bytes] of written) this.rows.set(name, bytes);
    this.top = topBytes(tree.top);
    return rootText(tree.root);
  }

  /** All elements; every row is reached. */
  async all(): Promise<string[]> {
    const reached = new Set<string>();
    const tree = new LoadedTree(this.top, async (names) => {
      for (const name of names) reached.add(name);
      return new Map(names.map((name) => [name, this.rows.get(name)!]));
    });
    const found = await tree.run((top) => [...elements(top)]);
    expect([...reached].sort()).toEqual([...this.rows.keys()].sort());
    expect(tree.changedRows()).toEqual({ written: new Map(), deleted: [] });
    return found.map(({ path }) => toHex(path));
  }
}

describe("a tree in rows", () => {
  const batches = fc.array(fc.tuple(keys, fc.array(fc.nat(1_000), { maxLength: 40 })), { maxLength: 6 });

  it("has the same root and elements as one in memory, after any changes", async () => {
    await fc.assert(fc.asyncProperty(batches, async (batches) => {
      const stored = new StoredTree();
      const model = new Set<string>();
      for (const [more, gone] of batches) {
        const present = [...model];
        const removed = [...new Set(gone.flatMap((n) => present[n % Math.max(1, present.length)] ?? []))];
        const added = [...new Set(more)].filter((key) => !model.has(key));
        for (const key of removed) model.delete(key);
        for (const key of added) model.add(key);
        expect(await stored.change(added, removed)).toBe(rootOfKeys(model));
        expect(await stored.all()).toEqual([...model].sort());
      }
      expect(await stored.change([], [...model])).toBeNull();
      expect(stored.rows.size).toBe(0);
    }));
  });

  it("reads few rows for a change of one element, and proves from those of one path", async () => {
    const stored = new StoredTree();
    const many = Array.from({ length: 3_000 }, (_, i) => toHex(blake2b256(Uint8Array.of(i >> 8, i & 255))));
    for (let from = 0; from < many.length; from += 700) await stored.change(many.slice(from, from + 700), []);
    const sizes = [...stored.rows.values()].map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThan(2_500);
    for (const key of many.slice(0, 50)) {
      const tree = stored.load();
      stored.reads = 0;
      const proof = await tree.run((top) => proveInclusion(top, fromHex(key)));
      expect(proof?.steps.length).toBeGreaterThan(5);
      expect(stored.reads).toBeLessThanOrEqual(5);
      await stored.change([], [key]);
      await stored.change([key], []);
    }
    expect(rootText((stored.load()).root)).toBe(rootOfKeys(many));
    expect(await stored.all()).toEqual([...many].sort());
  });

  it("keeps keys with a long common beginning in few rows", async () => {
    const stored = new StoredTree();
    const address = blake2b256(Uint8Array.of(1));
    const of = (i: number) => toHex(concat(address, blake2b256(Uint8Array.of(i >> 8, i & 255))));
    const many = Array.from({ length: 300 }, (_, i) => of(i));
    await stored.change(many, []);
    await stored.change([toHex(concat(blake2b256(Uint8Array.of(2)), address))], []);
    expect(stored.rows.size).toBeLessThan(100);
    expect(await stored.all()).toHaveLength(301);
    expect([...stored.rows.keys()].filter((name) => name !== "" && name.length < 60)).toEqual([]);
  });
});
