/** Updates of the requests that can be applied and fit, and transfers of tokens. */
import { afterEach, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { decodeDatum, type Operation } from "#src/contract/datum.ts";
import { buildBatch } from "#src/contract/transactions/batch.ts";
import { buildTransfer } from "#src/contract/transactions/transfer.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { factsOf, judgeApplied, measure, must, op, requested } from "../../../support/contract/contractLedger.ts";
import { alice, asked, askedNew, bob, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { assetId, coin, newRef, signed } from "../../../support/wallets/person.ts";

afterEach(judgeApplied);

/** Requests as outputs of one transaction: the ledger's order is theirs. */
function inOrder(...made: readonly (readonly [key: string, operation: Operation, more?: object])[]): Utxo[] {
  const txHash = newRef().txHash;
  return made.map(([key, operation, more], index) => asked(key, operation, { ref: { txHash, index }, ...more }));
}

describe("as many requests as can be applied", () => {
  test("are applied in order, as if the others did not exist", () => {
    const requests = inOrder(
      ["k", op.update("1", "2")],
      ["k", op.insert("1")],
      ["k", op.insert("3")],
      ["k", op.insert("4"), { assets: new Map([[assetId(1, 1), 1n]]) }],
      ["k", op.remove("1")],
      ["k", op.insert("5")],
      ["key 3", op.remove("value 4")],
      ["key 3", op.remove("value 3")],
      ["l", op.insert("l"), { fee: 3_000_000n }],
    );
    const foreign = requested("6b".repeat(32), "k", op.insert("v"));
    const token = new OwnedToken(factsOf(20), [...requests, foreign]);
    const built = must(buildBatch(token.input([foreign, ...requests].reverse()), token.facts, measure));
    token.apply(built, [1, 4, 5, 7].map((index) => requests[index]!));
    expect(Object.fromEntries(built.left.map(({ request, code }) => [request, code]))).toEqual({
      [refKey(requests[0]!.ref)]: "fact_missing",
      [refKey(requests[2]!.ref)]: "fact_exists",
      [refKey(requests[3]!.ref)]: "not_applicable",
      [refKey(requests[6]!.ref)]: "fact_differs",
      [refKey(requests[8]!.ref)]: "not_applicable",
      [refKey(foreign.ref)]: "other_token",
    });
  });

  test.each([[0, "published"], [1_000, "published"], [100, "travelling along"]] as const)(
    "are as many as fit on %i facts, the script %s: one more would not fit",
    (facts, script) => {
      const requests = Array.from({ length: 60 }, (_, i) => asked(`new ${i}`, op.insert(`value ${i}`)));
      const token = new OwnedToken(factsOf(facts), requests);
      const input = token.input(requests, script === "published" ? {} : { reference: undefined });
      const built = must(buildBatch(input, token.facts, measure));
      const sorted = [...requests].sort((a, b) => compareRefs(a.ref, b.ref));
      const chosen = new Set(built.applied);
      expect(built.left.length + chosen.size).toBe(60);
      expect(new Set(built.left.map(({ code }) => code))).toEqual(new Set(["no_room"]));
      for (const one of sorted.filter(({ ref }) => !chosen.has(refKey(ref))).slice(0, 3)) {
        const more = sorted.filter(({ ref }) => chosen.has(refKey(ref)) || ref === one.ref);
        expect(buildUpdate({ ...input, requests: more }, token.facts, measure)).toMatchObject({
          ok: false,
          error: { code: "too_large" },
        });
      }
      token.apply(built, requests.filter(({ ref }) => chosen.has(refKey(ref))));
    },
  );

  test("are limited by execution units as by size", () => {
    const requests = askedNew(12);
    const token = new OwnedToken(factsOf(10), requests);
    const maxTxUnits = { ...parameters.maxTxUnits, memory: 1_000_000n };
    const input = token.input(requests, { parameters: { ...parameters, maxTxUnits } });
    const built = must(buildBatch(input, token.facts, measure));
    expect(built.applied.length).toBeGreaterThan(1);
    expect(built.applied.length).toBeLessThan(12);
    expect(buildUpdate(input, token.facts, measure)).toMatchObject({
      ok: false,
      error: { code: "too_large", details: { what: "memory" } },
    });
    token.apply(built, requests.filter(({ ref }) => built.applied.includes(refKey(ref))));
  });

  test("may be none, each with its reason; and only the owner applies them", () => {
    const requests = inOrder(["k", op.remove("v")], ["k", op.update("v", "w")]);
    const token = new OwnedToken(new Forestry(), [coin(bob.base, 10_000_000n), ...requests]);
    const build = (address: string, facts = token.facts) =>
      buildBatch(token.input(requests, {}, address), facts, measure);
    expect(build(alice.base)).toMatchObject({
      ok: false,
      error: { code: "requests_fail", details: { requests: [{ code: "fact_missing" }, { code: "fact_missing" }] } },
    });
    expect(build(bob.base)).toMatchObject({ ok: false, error: { code: "not_owner" } });
    expect(build(alice.base, factsOf(1))).toMatchObject({ ok: false, error: { code: "state_differs" } });
  });
});

describe("a token with a new owner", () => {
  test("belongs to the next owner, who signs like the previous one, with its facts", () => {
    const token = new OwnedToken(factsOf(5));
    const built = must(buildTransfer({ ...token.input([]), to: bob.enterprise }, measure));
    expect(built.signers).toEqual([alice.key, bob.key]);
    const transaction = scanTransaction(built.transaction);
    const [next] = transaction.outputs;
    expect(decodeDatum(next!.datum!)).toEqual({
      type: "state",
      state: { owner: bob.key, root: toHex(token.facts.root) },
    });
    expect(next!.value).toEqual(token.state.output.value);
    token.outputs.apply(built, alice, bob);
    expect(built.size).toBe(signed(built.transaction, alice, bob).length);
    for (const one of [alice, bob]) expect(signed(built.transaction, one).length).toBeLessThan(built.size);
  });

  test("is not transferred to its owner, by another person, or to no key", () => {
    const token = new OwnedToken(new Forestry(), [coin(bob.base, 10_000_000n)]);
    const give = (from: string, to: string) => buildTransfer({ ...token.input([], {}, from), to }, measure);
    expect(give(alice.base, alice.enterprise)).toMatchObject({ ok: false, error: { code: "owner_unchanged" } });
    expect(give(bob.base, alice.base)).toMatchObject({ ok: false, error: { code: "not_owner" } });
    expect(give(alice.base, token.state.output.address)).toMatchObject({ ok: false, error: { code: "bad_address" } });
  });
});
