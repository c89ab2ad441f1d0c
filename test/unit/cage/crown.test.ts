/** Updates whose proofs share the branch at the top. */
import { beforeAll, describe, expect, it } from "vitest";
import { concat, toHex, utf8 } from "#src/base/bytes.ts";
import { Constr, constr, type Data } from "#src/cardano/data.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { encode } from "#src/cardano/cbor.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { decodeDatum, encodeState } from "#src/cage/datum.ts";
import { provenBy } from "#src/cage/summary/proven.ts";
import type { Spent } from "#src/cage/summary/spent.ts";
import { spendRedeemers } from "#src/cage/index/redeemers.ts";
import { readSpend, spendData, type SpendRedeemer } from "#src/cage/redeemer.ts";
import { cageScripts, takesCrowns } from "#src/cage/script.ts";
import { buildUpdate } from "#src/cage/transactions/update.ts";
import { behindCrown, CROWN_BYTES, crownOf, crownRoot, slotIn, withSlot } from "#src/forestry/crown.ts";
import { bucketOf, cutOf, neededBuckets, openCut } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";
import type { Proof } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { as, asInt, decode, entry } from "#src/cardano/cbor.ts";
import { readData } from "#src/cardano/data.ts";
import { factsOf, measure, must, op, Outputs, published, requested, stated } from "../../support/cage.ts";
import {
  modifying,
  type Plan,
  type RequestSpec,
  stateOutput,
  type Update,
  update,
  verdict,
} from "../../support/cage_world.ts";
import { coin, person, utxo } from "../../support/wallet.ts";
import { accepted, asked, cage, paying, updating, type Whole } from "../../support/whole_transaction.ts";

beforeAll(initHash);

const TOKEN = "5a".repeat(32);
const facts = factsOf(300);
const crown = crownOf(facts)!;

const requests: readonly RequestSpec[] = [
  { id: 61, key: "new" },
  { id: 62, key: "key 7", operation: op.remove("value 7") },
  { id: 63, key: "key 8", operation: op.update("value 8", "w") },
  { id: 64, key: "new", operation: op.update("v", "x") },
  { id: 65, key: "key 7", operation: op.insert("again") },
];
const proofs = (plan: Update): Proof[] =>
  plan.actions.flatMap((action) => action.type === "apply" ? [action.proof] : []);
const behind = (plan: Update) => proofs(plan).map((proof) => behindCrown(proof)!);
/** The update with another redeemer for its state. */
function by(plan: Update, list: readonly Proof[], top: Uint8Array): Plan {
  const redeemer = modifying(list.map((proof) => ({ type: "apply", proof })), top);
  return { ...plan, spends: plan.spends.map((spend) => spend === plan.state ? { ...spend, redeemer } : spend) };
}

describe("a crown", () => {
  it("leads to the root", () => {
    expect(crown.length).toBe(CROWN_BYTES);
    expect(crownRoot(crown)).toEqual(facts.root);
    expect(crownRoot(crown.subarray(1))).toBeUndefined();
    expect(crownRoot(new Uint8Array(CROWN_BYTES))).toBeUndefined();
  });
  it("is of tries with a branch at the top that shares nothing", () => {
    expect(crownOf(new Forestry())).toBeUndefined();
    expect(crownOf(Forestry.from([leafOf(utf8("a"), utf8("v"))]))).toBeUndefined();
    const leaves = Array.from({ length: 2_000 }, (_, i) => leafOf(utf8(`${i}`), utf8("v")));
    const alike = leaves.filter(({ path }) => path[0] === leaves[0]!.path[0]);
    expect(alike.length).toBeGreaterThan(1);
    expect(crownOf(Forestry.from(alike))).toBeUndefined();
  });
  it("is that of a large trie also where only its cut and some buckets are at hand", () => {
    const whole = factsOf(3_000);
    const changed = Array.from({ length: 5 }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`)));
    const cut = cutOf(whole);
    const needed = neededBuckets(cut, changed.map(({ path }) => path));
    const all = Array.from({ length: 3_000 }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`)));
    const buckets = new Map(needed.map((bucket) => [bucket, all.filter(({ path }) => bucketOf(path) === bucket)]));
    const opened = openCut(cut, buckets);
    if (!opened.ok) throw new Error(opened.error.message);
    expect(crownOf(opened.value)).toEqual(crownOf(whole));
    for (const { path, value } of changed) {
      expect(opened.value.apply({ type: "delete", path, value })).toEqual(whole.apply({ type: "delete", path, value }));
      expect(crownOf(opened.value)).toEqual(crownOf(whole));
    }
  });
  it("goes on with each proof behind it as the trie does", () => {
    const trie = facts.copy();
    let now = crown;
    for (let i = 0; i < 40; i++) {
      const { path, value } = leafOf(utf8(`key ${i}`), utf8(`value ${i}`));
      const proof = trie.apply({ type: "delete", path, value });
      if (!proof.ok) throw new Error(proof.error.message);
      const rest = behindCrown(proof.value)!;
      expect(rootWith(path, value, rest, 1)).toEqual(slotIn(now, path));
      now = withSlot(now, path, rootWithout(path, rest, 1)!);
      expect(toHex(crownRoot(now)!)).toBe(toHex(trie.root));
      expect(now).toEqual(crownOf(trie));
    }
  });
});

describe("an update with a crown", () => {
  const plan = update(requests, facts);
  it("does what it does without", () => {
    expect(verdict(plan)).toBe("accepted");
    expect(verdict(by(plan, behind(plan), crown))).toBe("accepted");
    expect(verdict(by(update([], facts), [], crown))).toBe("accepted");
  });
  it("has the root that comes out, and no other", () => {
    const honest = by(plan, behind(plan), crown);
    for (const root of [plan.before, crownRoot(withSlot(crown, new Uint8Array(32), plan.after))!]) {
      expect(verdict({ ...honest, outputs: [stateOutput(root), ...plan.outputs.slice(1)] })).toMatch(
        /not the next state/,
      );
    }
    // the crown in place of the root
    const odd = (owner: Uint8Array) => verdict({ ...honest, outputs: [stateOutput(owner), ...plan.outputs.slice(1)] });
    expect(odd(crown)).toMatch(/not the next state/);
  });
  it("wants the crown of the root before", () => {
    const after = crownOf(after300())!;
    for (
      const [i, other] of [after, new Uint8Array(CROWN_BYTES), withSlot(crown, new Uint8Array(32), new Uint8Array(32))]
        .entries()
    ) {
      expect(verdict(by(plan, behind(plan), other)), `${i}`).toMatch(/does not lead to the root|less than two/);
    }
    for (const length of [0, 32, 480, 511, 513, 544, 1024]) {
      const other = concat(crown, crown).subarray(0, length);
      expect(verdict(by(plan, behind(plan), other)), `${length}`).toMatch(/not 16 slots/);
    }
    for (let bit = 0; bit < CROWN_BYTES * 8; bit += 509) {
      const other = crown.slice();
      other[bit >> 3]! ^= 1 << (bit & 7);
      expect(verdict(by(plan, behind(plan), other)), `${bit}`).toMatch(/does not lead to the root/);
    }
  });
  it("wants each proof to begin behind it", () => {
    expect(verdict(by(plan, proofs(plan), crown))).not.toBe("accepted");
    const mixed = behind(plan);
    for (const [i, proof] of proofs(plan).entries()) {
      expect(verdict(by(plan, mixed.map((one, j) => i === j ? proof : one), crown))).not.toBe("accepted");
      expect(verdict(by(plan, mixed.map((one, j) => i === j ? behindCrown(one) ?? [] : one), crown))).not.toBe(
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
  it("takes a request into the slot of its path alone", () => {
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
  it("leaves two slots occupied at least, as the trie would have no branch there", () => {
    const [a, b] = ["a", "b", "c", "d", "e"].filter((key, i, all) =>
      i === 0 || leafOf(utf8(key), utf8("")).path[0]! >> 4 !== leafOf(utf8(all[0]!), utf8("")).path[0]! >> 4
    ) as [string, string];
    const two = Forestry.from([a, b].map((key) => leafOf(utf8(key), utf8("v"))));
    const remove = update([{ id: 61, key: a, operation: op.remove("v") }], two);
    expect(verdict(remove)).toBe("accepted");
    const odd = withSlot(crownOf(two)!, leafOf(utf8(a), utf8("v")).path, new Uint8Array(32));
    expect(verdict(by(remove, [[]], crownOf(two)!))).toMatch(/less than two/);
    expect(crownRoot(odd)).toBeUndefined();
    // nor is a crown of nothing a token's without facts
    const first = update([{ id: 61, key: a }]);
    expect(verdict(by(first, [[]], new Uint8Array(CROWN_BYTES)))).toMatch(/less than two/);
  });
  it("may have a crown and actions in no other form", () => {
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
  it("is applied before two machines", () => {
    const whole = updating(
      TOKEN,
      [asked(TOKEN, "new", op.insert("v")), asked(TOKEN, "key 9", op.remove("value 9"))],
      facts,
    );
    const actions = whole.actions.map((a) => a.type === "apply" ? { type: a.type, proof: behindCrown(a.proof)! } : a);
    const spend = (top: Uint8Array): Whole => ({
      ...whole.whole,
      spends: [{ utxo: whole.state, redeemer: { type: "modify", actions, crown: top } }, ...whole.contributed, paying],
    });
    expect(accepted(spend(crown))).toBe(true);
    expect(accepted(spend(crownOf(after300())!))).toBe(false);
  });
});

function after300(): Forestry {
  const trie = facts.copy();
  const { path, value } = leafOf(utf8("key 1"), utf8("value 1"));
  trie.delete(path, value);
  return trie;
}

describe("a built update", () => {
  const alice = person("alice");
  const payer = coin(alice.enterprise, 100_000_000n);
  const world = (count: number, most: number) => {
    const trie = factsOf(count);
    const state = stated(TOKEN, alice.key, trie);
    const all = Array.from({ length: most }, (_, i) => requested(TOKEN, `new ${i}`, op.insert("v")));
    return { trie, state, all, outputs: new Outputs(payer, state, ...all) };
  };
  const redeemerOf = (transaction: Uint8Array, state: Utxo): SpendRedeemer | undefined => {
    const scanned = scanTransaction(transaction);
    const index = scanned.inputs.findIndex((ref) => refKey(ref) === refKey(state.ref));
    const redeemers = as(entry(as(decode(transaction), "array").value[1]!, 5), "map").value;
    const found = redeemers.find(([key]) => {
      const [tag, at] = as(key, "array").value;
      return asInt(tag) === 0n && Number(asInt(at)) === index;
    });
    return found && readSpend(readData(as(found[1], "array").value[0]!));
  };

  it("shares a crown where that is smaller", () => {
    const { trie, state, all, outputs } = world(1_000, 12);
    const built = must(buildUpdate({ ...outputs.input(alice.enterprise), state, requests: all }, trie, measure));
    const redeemer = redeemerOf(built.transaction, state);
    expect(redeemer).toMatchObject({ type: "modify", crown: crownOf(trie) });
    expect(spendRedeemers(scanTransaction(built.transaction)).get(refKey(state.ref))).toBe("modify");
    // whoever looks at the transaction alone finds the new root explained
    const told = (root: string, top = crownOf(trie)!) => {
      const read = redeemerOf(built.transaction, state)!;
      const before: Spent = {
        ref: state.ref,
        output: state.output,
        state: {
          ...decodeDatum(state.output.datum!) as object,
          type: "state",
          root: toHex(trie.root),
        } as Spent["state"],
        request: undefined,
        redeemer: read.type === "modify" ? { ...read, crown: top } : read,
      };
      const spent = [...all].sort((a, b) => compareRefs(a.ref, b.ref)).map(({ ref, output }): Spent => {
        const datum = decodeDatum(output.datum!);
        const request = datum?.type === "request" ? datum.request : undefined;
        return { ref, output, state: undefined, request, redeemer: { type: "contribute" } };
      });
      return provenBy(false, false, before, { ...before.state!, root }, spent, true);
    };
    expect(told(built.root)).toBe(true);
    expect(told(toHex(trie.root))).toBe(false);
    expect(told(built.root, withSlot(crownOf(trie)!, new Uint8Array(32), trie.root))).toBe(false);
    const { created } = outputs.apply(built, alice);
    expect(created.length).toBeGreaterThan(12);
    const one = world(1_000, 1);
    const single = must(
      buildUpdate({ ...one.outputs.input(alice.enterprise), state: one.state, requests: one.all }, one.trie, measure),
    );
    expect(redeemerOf(single.transaction, one.state)).not.toHaveProperty("crown");
  });
  it("shares none where the facts have none on the way", () => {
    // two slots at the top, of which one is emptied and filled again
    const keys = Array.from({ length: 400 }, (_, i) => `k${i}`);
    const slotOf = (key: string) => leafOf(utf8(key), utf8("v")).path[0]! >> 4;
    const [lone, ...many] = [keys.find((key) => slotOf(key) === 3)!, ...keys.filter((key) => slotOf(key) === 9)];
    const trie = Forestry.from([lone, ...many].map((key) => leafOf(utf8(key), utf8("v"))));
    expect(crownOf(trie)).toBeDefined();
    const state = stated(TOKEN, alice.key, trie);
    const ref = (i: number) => ({ txHash: i.toString(16).padStart(64, "0"), index: 0 });
    const all = [
      requested(TOKEN, lone, op.remove("v"), { ref: ref(1) }),
      ...many.slice(0, 12).map((key, i) => requested(TOKEN, key, op.update("v", "w"), { ref: ref(2 + i) })),
      requested(TOKEN, lone, op.insert("v"), { ref: ref(99) }),
    ];
    const outputs = new Outputs(payer, state, ...all);
    const built = must(buildUpdate({ ...outputs.input(alice.enterprise), state, requests: all }, trie, measure));
    expect(redeemerOf(built.transaction, state)).not.toHaveProperty("crown");
    outputs.apply(built, alice);
  });
  it("of a token of the first version has none, and is taken by its script", () => {
    const [first] = cageScripts;
    expect(takesCrowns(first!)).toBe(false);
    expect(takesCrowns(cageScripts.at(-1)!)).toBe(true);
    const trie = factsOf(1_000);
    const address = scriptAddress(0, first!.hash).hex;
    const state = utxo({
      address,
      value: { lovelace: 2_000_000n, assets: new Map([[first!.hash + TOKEN, 1n]]) },
      datum: encodeState({ owner: alice.key, root: toHex(trie.root) }),
    });
    const all = Array.from(
      { length: 8 },
      (_, i) => asked(TOKEN, `new ${i}`, op.insert("v"), { policy: first!.hash, address }).utxo,
    );
    const outputs = new Outputs(payer, state, ...all);
    const script = utxo({ ...published.output, script: encode([3, first!.compiledCode]) });
    const input = outputs.input(alice.enterprise, { script: first!, reference: script });
    const built = must(buildUpdate({ ...input, state, requests: all }, trie, measure));
    expect(redeemerOf(built.transaction, state)).not.toHaveProperty("crown");
    expect(address).not.toBe(cage);
  });
});

it("redeemers with a crown are read as they are written", () => {
  const redeemer: SpendRedeemer = { type: "modify", actions: [{ type: "apply", proof: [] }, { type: "skip" }], crown };
  expect(readSpend(spendData(redeemer))).toEqual(redeemer);
  const { fields } = spendData(redeemer) as Constr;
  expect(readSpend(constr(4, fields[0]!))).toBeUndefined();
  expect(readSpend(constr(4, fields[1]!, fields[0]!))).toBeUndefined();
});
