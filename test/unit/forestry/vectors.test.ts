import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { initHash } from "#src/forestry/hash.ts";
import { encodeProof, type Proof, readProof, type Step } from "#src/forestry/proof.ts";
import { type Change, Forestry, leafOf } from "#src/forestry/trie.ts";
import { excludes, includes, rootWith, rootWithout } from "#src/forestry/verify.ts";
import { decodeData } from "#src/cardano/data.ts";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { rootOfFacts } from "../../support/contract/forestryModel.ts";
import { vectors } from "../../support/base/vectors.ts";

type VectorStep =
  | { type: "branch"; skip: number; neighbors: string }
  | { type: "fork"; skip: number; neighbor: { nibble: number; prefix: string; root: string } }
  | { type: "leaf"; skip: number; neighbor: { key: string; value: string } };
interface Operation {
  op: "insert" | "delete" | "update";
  key: string;
  value: string;
  old?: string;
  proof: VectorStep[];
  cbor?: string;
  newRoot?: string;
  before?: string;
  after?: string;
}
interface Vector {
  n: number;
  root: string;
  ops: Operation[];
}

function step(given: VectorStep): Step {
  const { skip } = given;
  if (given.type === "branch") return { type: "branch", skip, neighbors: fromHex(given.neighbors) };
  if (given.type === "leaf") {
    return { type: "leaf", skip, key: fromHex(given.neighbor.key), value: fromHex(given.neighbor.value) };
  }
  const { nibble, prefix, root } = given.neighbor;
  return { type: "fork", skip, nibble, prefix: fromHex(prefix), root: fromHex(root) };
}

function change(op: Operation): Change {
  const { path, value } = leafOf(utf8(op.key), utf8(op.value));
  if (op.op !== "update") return { type: op.op, path, value };
  return { type: "update", path, value, old: leafOf(utf8(op.key), utf8(op.old!)).value };
}

const folder = vectors("forestry");

describe("tries of the reference library", () => {
  const load = (name: string): Vector => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
  const facts = (n: number) => Array.from({ length: n }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`value-${i}`)));
  beforeAll(initHash);

  function follow(trie: Forestry, op: Operation, before: string, after: string): void {
    expect(toHex(trie.root)).toBe(before);
    const wanted = change(op);
    const proof = trie.apply(wanted);
    if (!proof.ok) throw new Error(`${op.op} ${op.key}: ${proof.error.message}`);
    expect(proof.value).toEqual(op.proof.map(step));
    expect(toHex(trie.root)).toBe(after);
    const { path, value } = wanted;
    const old = wanted.type === "update" ? wanted.old : undefined;
    const [without, present] = op.op === "insert"
      ? [before, after]
      : op.op === "delete"
      ? [after, before]
      : ["", after];
    expect(toHex(rootWith(path, value, proof.value)!)).toBe(present);
    expect(includes(fromHex(present), path, value, proof.value)).toBe(true);
    if (old) expect(includes(fromHex(before), path, old, proof.value)).toBe(true);
    else expect(toHex(rootWithout(path, proof.value)!)).toBe(without);
    expect(excludes(fromHex(present), path, proof.value)).toBe(false);
    // the published library encodes an empty proof as an empty list of indefinite length
    if (op.cbor) expect(toHex(encodeProof(proof.value))).toBe(op.cbor === "9fff" ? "80" : op.cbor);
    expect(readProof(decodeData(encodeProof(proof.value)))).toEqual(proof.value);
  }

  it.each([1, 10, 100, 1000])("single operations on %i elements", (n) => {
    const vector = load(`fx-${n}`);
    const trie = Forestry.from(facts(n));
    expect(toHex(trie.root)).toBe(vector.root);
    for (const op of vector.ops) follow(trie.copy(), op, vector.root, op.newRoot!);
    expect(toHex(trie.root)).toBe(vector.root);
  });

  it.each([10, 100, 1000])("batches of operations on %i elements", (n) => {
    const vector = load(`batch-${n}`);
    const trie = new Forestry();
    for (const { path, value } of facts(n)) expect(trie.insert(path, value).ok).toBe(true);
    for (const op of vector.ops) follow(trie, op, op.before!, op.after!);
  });

  // the model that the service is compared with where no fixture is, with nothing of the product's trie
  it.each(["fx-1", "fx-10", "fx-100", "batch-10", "batch-100", "fx-1000"])("have the model's roots: %s", (name) => {
    const { n, root, ops } = load(name);
    const raw = new Map(Array.from({ length: n }, (_, i) => [`fact-${i}`, `value-${i}`]));
    const rootOf = (some: ReadonlyMap<string, string>) =>
      toHex(rootOfFacts([...some].map(([key, value]) => [utf8(key), utf8(value)])));
    expect(rootOf(raw)).toBe(name.startsWith("fx") ? root : ops[0]!.before);
    for (const { op, key, value, newRoot, after } of n > 10 ? ops.slice(0, 600 / n) : ops) {
      const changed = name.startsWith("fx") ? new Map(raw) : raw;
      if (op === "delete") changed.delete(key);
      else changed.set(key, value);
      expect(rootOf(changed)).toBe(newRoot ?? after);
    }
  });

  it("covers every operation", () => {
    const all = ["fx-1", "fx-10", "fx-100", "fx-1000", "batch-10", "batch-100", "batch-1000"].map(load);
    const proofs: Proof[] = all.flatMap((vector) => vector.ops.map((op) => op.proof.map(step)));
    expect(proofs.length).toBe(402);
  });
});
