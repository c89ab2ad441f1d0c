/** The journal of what blocks change while a tree is built. */
import { expect, it } from "vitest";
import { type JournalBlock, TreeJournal } from "#src/chain/utxoRoot/treeJournal.ts";

const at = (hash: string) => ({ height: 1, hash });

/** A block that adds so many elements. */
function block(hash: string, count = 1): JournalBlock {
  const element = { key: new Uint8Array(2), value: new Uint8Array(32) };
  return { ...at(hash), changes: { added: Array.from({ length: count }, () => element), removed: [] } };
}

const hashes = (blocks: readonly JournalBlock[] | undefined) => blocks?.map(({ hash }) => hash);

it("gives the blocks from the snapshot to the newest one", () => {
  const journal = new TreeJournal();
  journal.add(at("a"), [block("b")]);
  journal.add(at("b"), [block("c"), block("d")]);
  journal.add(at("d"), [block("e")]);
  journal.begin(at("b"));
  expect(hashes(journal.until(at("e")))).toEqual(["c", "d", "e"]);
  expect(hashes(journal.until(at("d")))).toEqual(["c", "d"]);
  expect(hashes(journal.until(at("b")))).toEqual([]);
  expect(journal.until(at("x"))).toBeUndefined();
});

it("has the blocks of a rollback, and those after it", () => {
  const journal = new TreeJournal();
  journal.begin(at("a"));
  journal.add(at("a"), [block("b")]);
  journal.add(at("b"), [block("a")]);
  journal.add(at("a"), [block("c")]);
  expect(hashes(journal.until(at("c")))).toEqual(["b", "a", "c"]);
  expect(hashes(journal.until(at("a")))).toEqual(["b", "a"]);
});

it("forgets moves that were not committed", () => {
  const journal = new TreeJournal();
  journal.add(at("a"), [block("b")]);
  journal.add(at("a"), [block("b"), block("c")]);
  journal.begin(at("a"));
  journal.add(at("c"), [block("d")]);
  journal.add(at("c"), [block("e")]);
  journal.add(at("e"), [block("f")]);
  expect(hashes(journal.until(at("e")))).toEqual(["b", "c", "e"]);
  expect(journal.until(at("d"))).toBeUndefined();
});

it("lets blocks be taken that another one follows, until few changes are left", () => {
  const journal = new TreeJournal();
  journal.begin(at("a"));
  journal.add(at("a"), [block("b", 1_500)]);
  journal.add(at("b"), [block("c", 1_500)]);
  journal.add(at("c"), [block("d", 1_500)]);
  expect(hashes(journal.takeSettled())).toEqual(["b", "c"]);
  expect(journal.takeSettled()).toEqual([]);
  // the move to d was not committed
  journal.add(at("c"), [block("e", 1_500)]);
  journal.add(at("e"), [block("f", 1_500)]);
  expect(hashes(journal.takeSettled())).toEqual(["e"]);
  expect(hashes(journal.until(at("f")))).toEqual(["f"]);
  expect(hashes(journal.until(at("e")))).toEqual([]);
  expect(journal.until(at("d"))).toBeUndefined();
});

it("gives nothing once there was too much", () => {
  const journal = new TreeJournal();
  journal.begin(at("a"));
  journal.add(at("a"), [block("b", 400_001)]);
  journal.add(at("b"), [block("c")]);
  expect(journal.takeSettled()).toEqual([]);
  expect(journal.until(at("c"))).toBeUndefined();
  expect(journal.until(at("a"))).toBeUndefined();
});
