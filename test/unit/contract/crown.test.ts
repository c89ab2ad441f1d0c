/** Updates whose proofs share the top branch (the crown). */
import { beforeAll, describe, expect, it } from "vitest";
import { concat, toHex, utf8 } from "#src/base/bytes.ts";
import { Constr, constr, type Data } from "#src/cardano/data.ts";
import { readSpend, spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import {
  proofBelowTopBranch,
  readSlot,
  TOP_BRANCH_BYTES,
  topBranchOf,
  topBranchRoot,
  withSlot,
} from "#src/forestry/topBranch.ts";
import { bucketOf, cutOf, neededBuckets, openCut } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";
import type { Proof } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { factsOf, op } from "../../support/contract/contractLedger.ts";
import {
  modifying,
  type Plan,
  type RequestSpec,
  stateOutput,
  type Update,
  update,
  verdict,
} from "../../support/contract/contractPlan.ts";
import { accepted, paying, requestFields, updating, type Whole } from "../../support/contract/wholeTransaction.ts";

beforeAll(initHash);

const TOKEN = "5a".repeat(32);
const facts = factsOf(300);
const crown = topBranchOf(facts)!;

const requests: readonly RequestSpec[] = [
  { id: 61, key: "new" },
  { id: 62, key: "key 7", operation: op.remove("value 7") },
  { id: 63, key: "key 8", operation: op.update("value 8", "w") },
  { id: 64, key: "new", operation: op.update("v", "x") },
  { id: 65, key: "key 7", operation: op.insert("again") },
];
const proofs = (plan: Update): Proof[] =>
  plan.actions.flatMap((action) => action.type === "apply" ? [action.proof] : []);
const behind = (plan: Update) => proofs(plan).map((proof) => proofBelowTopBranch(proof)!);
/** The update with another redeemer for its state. */
function by(plan: Update, list: readonly Proof[], top: Uint8Array): Plan {
  const redeemer = modifying(list.map((proof) => ({ type: "apply", proof })), top);
  return { ...plan, spends: plan.spends.map((spend) => spend === plan.state ? { ...spend, redeemer } : spend) };
}

describe("a crown", () => {
  it("leads to the root", () => {
    expect(crown.length).toBe(TOP_BRANCH_BYTES);
    expect(topBranchRoot(crown)).toEqual(facts.root);
    expect(topBranchRoot(crown.subarray(1))).toBeUndefined();
    expect(topBranchRoot(new Uint8Array(TOP_BRANCH_BYTES))).toBeUndefined();
  });
  it("exists for tries whose top branch has no shared prefix", () => {
    expect(topBranchOf(new Forestry())).toBeUndefined();
    expect(topBranchOf(Forestry.from([leafOf(utf8("a"), utf8("v"))]))).toBeUndefined();
    const leaves = Array.from({ length: 2_000 }, (_, i) => leafOf(utf8(`${i}`), utf8("v")));
    const alike = leaves.filter(({ path }) => path[0] === leaves[0]!.path[0]);
    expect(alike.length).toBeGreaterThan(1);
    expect(topBranchOf(Forestry.from(alike))).toBeUndefined();
  });
  it("of a large trie can be computed from its cut and some buckets", () => {
    const whole = factsOf(3_000);
    const changed = Array.from({ length: 5 }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`)));
    const cut = cutOf(whole);
    const needed = neededBuckets(cut, changed.map(({ path }) => path));
    const all = Array.from({ length: 3_000 }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`)));
    const buckets = new Map(needed.map((bucket) => [bucket, all.filter(({ path }) => bucketOf(path) === bucket)]));
    const opened = openCut(cut, buckets);
    if (!opened.ok) throw new Error(opened.error.message);
    expect(topBranchOf(opened.value)).toEqual(topBranchOf(whole));
    for (const { path, value } of changed) {
      expect(opened.value.apply({ type: "delete", path, value })).toEqual(whole.apply({ type: "delete", path, value }));
      expect(topBranchOf(opened.value)).toEqual(topBranchOf(whole));
    }
  });
  it("computes the same next root with each following proof as the trie", () => {
    const trie = facts.copy();
    let now = crown;
    for (let i = 0; i < 40; i++) {
      const { path, value } = leafOf(utf8(`key ${i}`), utf8(`value ${i}`));
      const proof = trie.apply({ type: "delete", path, value });
      if (!proof.ok) throw new Error(proof.error.message);
      const rest = proofBelowTopBranch(proof.value)!;
      expect(rootWith(path, value, rest, 1)).toEqual(readSlot(now, path));
      now = withSlot(now, path, rootWithout(path, rest, 1)!);
      expect(toHex(topBranchRoot(now)!)).toBe(toHex(trie.root));
      expect(now).toEqual(topBranchOf(trie));
    }
  });
});

describe("an update with a crown", () => {
  const plan = update(requests, facts);
  it("has the same effect as one without", () => {
    expect(verdict(plan)).toBe("accepted");
    expect(verdict(by(plan, behind(plan), crown))).toBe("accepted");
    expect(verdict(by(update([], facts), [], crown))).toBe("accepted");
  });
  it("has the computed root, and no other", () => {
    const honest = by(plan, behind(plan), crown);
    for (const root of [plan.before, topBranchRoot(withSlot(crown, new Uint8Array(32), plan.after))!]) {
      expect(verdict({ ...honest, outputs: [stateOutput(root), ...plan.outputs.slice(1)] })).toMatch(
        /not the next state/,
      );
    }
    // the crown instead of the root
    const odd = (owner: Uint8Array) => verdict({ ...honest, outputs: [stateOutput(owner), ...plan.outputs.slice(1)] });
    expect(odd(crown)).toMatch(/not the next state/);
  });
  it("requires the crown of the previous root", () => {
    const after = topBranchOf(after300())!;
    for (
      const [i, other] of [
        after,
        new Uint8Array(TOP_BRANCH_BYTES),
        withSlot(crown, new Uint8Array(32), new Uint8Array(32)),
      ]
        .entries()
    ) {
      expect(verdict(by(plan, behind(plan), other)), `${i}`).toMatch(/does not lead to the root|less than two/);
    }
    for (const length of [0, 32, 480, 511, 513, 544, 1024]) {
      const other = concat(crown, crown).subarray(0, length);
      expect(verdict(by(plan, behind(plan), other)), `${length}`).toMatch(/not 16 slots/);
    }
    for (let bit = 0; bit < TOP_BRANCH_BYTES * 8; bit += 509) {
      const other = crown.slice();
      other[bit >> 3]! ^= 1 << (bit & 7);
      expect(verdict(by(plan, behind(plan), other)), `${bit}`).toMatch(/does not lead to the root/);
    }
  });
  it("requires each proof to begin below it", () => {
    expect(verdict(by(plan, proofs(plan), crown))).not.toBe("accepted");
    const mixed = behind(plan);
    for (const [i, proof] of proofs(plan).entries()) {
      expect(verdict(by(plan, mixed.map((one, j) => i === j ? proof : one), crown))).not.toBe("accepted");
      expect(verdict(by(plan, mixed.map((one, j) => i === j ? proofBelowTopBranch(one) ?? [] : one), crown))).not.toBe(
        "accepted",
      );
    }
    expect(verdict(by(plan, [...mixed].reverse(), crown))).not.toBe("accepted");
    const without = {
      ...plan,
      spends: plan.spends.map((s) =>
        s === plan.state ? { ...s, redeemer: modifying(mixed.map((proof) => ({ type: "apply", proof }))) } : s
      ),
    };
    expect(verdict(without)).not.toBe("accepted");
  });
  it("applies a request only to the slot of its path", () => {
    // the same proof for keys of all other slots
    const single = update([requests[0]!], facts);
    const [proof] = behind(single) as [Proof];
    const slot = leafOf(utf8("new"), utf8("v")).path[0]! >> 4;
    const seen = new Set<number>();
    for (let i = 0; seen.size < 15; i++) {
      const key = `other ${i}`;
      const at = leafOf(utf8(key), utf8("v")).path[0]! >> 4;
      if (at === slot || seen.has(at)) continue;
      seen.add(at);
      const other = update([{ id: 61, key }], facts);
      expect(verdict(by(other, [proof], crown))).toMatch(/does not lead to the root|proof:/);
    }
  });
  it("leaves at least two slots occupied, as the trie would have no branch there otherwise", () => {
    const [a, b] = ["a", "b", "c", "d", "e"].filter((key, i, all) =>
      i === 0 || leafOf(utf8(key), utf8("")).path[0]! >> 4 !== leafOf(utf8(all[0]!), utf8("")).path[0]! >> 4
    ) as [string, string];
    const two = Forestry.from([a, b].map((key) => leafOf(utf8(key), utf8("v"))));
    const remove = update([{ id: 61, key: a, operation: op.remove("v") }], two);
    expect(verdict(remove)).toBe("accepted");
    const odd = withSlot(topBranchOf(two)!, leafOf(utf8(a), utf8("v")).path, new Uint8Array(32));
    expect(verdict(by(remove, [[]], topBranchOf(two)!))).toMatch(/less than two/);
    expect(topBranchRoot(odd)).toBeUndefined();
    // nor does a token without facts have a crown of zeros
    const first = update([{ id: 61, key: a }]);
    expect(verdict(by(first, [[]], new Uint8Array(TOP_BRANCH_BYTES)))).toMatch(/less than two/);
  });
  it("accepts no other form of crown and actions", () => {
    const redeemer = modifying(behind(plan).map((proof) => ({ type: "apply", proof })), crown) as Constr;
    const [top, list] = redeemer.fields as [Uint8Array, Data];
    const says = (other: Data) =>
      verdict({ ...plan, spends: plan.spends.map((s) => s === plan.state ? { ...s, redeemer: other } : s) });
    expect(says(redeemer)).toBe("accepted");
    for (
      const odd of [
        constr(4),
        constr(4, top),
        constr(4, list),
        constr(4, list, top),
        constr(2, top, list),
        constr(4, [top], list),
        constr(5, top, list),
      ]
    ) {
      expect(says(odd)).not.toBe("accepted");
    }
  });
  it("is applied by two machines", () => {
    const whole = updating(
      TOKEN,
      [requestFields(TOKEN, "new", op.insert("v")), requestFields(TOKEN, "key 9", op.remove("value 9"))],
      facts,
    );
    const actions = whole.actions.map((a) =>
      a.type === "apply" ? { type: a.type, proof: proofBelowTopBranch(a.proof)! } : a
    );
    const spend = (top: Uint8Array): Whole => ({
      ...whole.whole,
      spends: [{ utxo: whole.state, redeemer: { type: "modify", actions, crown: top } }, ...whole.contributed, paying],
    });
    expect(accepted(spend(crown))).toBe(true);
    expect(accepted(spend(topBranchOf(after300())!))).toBe(false);
  });
});

function after300(): Forestry {
  const trie = facts.copy();
  const { path, value } = leafOf(utf8("key 1"), utf8("value 1"));
  trie.delete(path, value);
  return trie;
}

it("redeemers with a crown are decoded as encoded", () => {
  const redeemer: SpendRedeemer = { type: "modify", actions: [{ type: "apply", proof: [] }, { type: "skip" }], crown };
  expect(readSpend(spendData(redeemer))).toEqual(redeemer);
  const { fields } = spendData(redeemer) as Constr;
  expect(readSpend(constr(4, fields[0]!))).toBeUndefined();
  expect(readSpend(constr(4, fields[1]!, fields[0]!))).toBeUndefined();
});
