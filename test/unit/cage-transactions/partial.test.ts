/** Updates of the requests that can be applied and fit, and transfers of tokens. */
import { afterEach, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { decodeDatum, type Operation } from "#src/cage/datum.ts";
import { buildBatch } from "#src/cage/transactions/batch.ts";
import { buildTransfer } from "#src/cage/transactions/transfer.ts";
import { buildUpdate } from "#src/cage/transactions/update.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { Forestry } from "#src/forestry/trie.ts";
import {
  factsOf,
  judgeApplied,
  measure,
  ModelToken,
  must,
  op,
  Outputs,
  requested,
  stated,
} from "../../support/contract/contractLedger.ts";
import { assetId, coin, newRef, person, signed } from "../../support/wallets/person.ts";

afterEach(judgeApplied);

const alice = person("alice");
const bob = person("bob");
const name = "5a".repeat(32);
const model = (facts = new Forestry()) => new ModelToken(name, stated(name, alice.key, facts), facts);

/** Requests as outputs of one transaction: the ledger's order is theirs. */
function inOrder(...made: readonly (readonly [key: string, operation: Operation, more?: object])[]): Utxo[] {
  const txHash = newRef().txHash;
  return made.map(([key, operation, more], index) =>
    requested(name, key, operation, { ref: { txHash, index }, ...more })
  );
}

function batch(outputs: Outputs, token: ModelToken, requests: readonly Utxo[]) {
  const built = must(buildBatch({ ...outputs.input(alice.base), state: token.state, requests }, token.facts, measure));
  const applied = outputs.apply(built, alice);
  const byRef = new Map(requests.map((one) => [refKey(one.ref), one]));
  token.follow(applied.created[0]!, built.applied.map((ref) => byRef.get(ref)!));
  expect(toHex(token.facts.root)).toBe(built.root);
  expect([...built.applied, ...built.left.map(({ request }) => request)].sort()).toEqual([...byRef.keys()].sort());
  return built;
}

describe("as many requests as can be applied", () => {
  test("are applied in order, as if the others did not exist", () => {
    const token = model(factsOf(20));
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
    const outputs = new Outputs(coin(alice.base, 10_000_000n), token.state, ...requests, foreign);
    const { applied, left } = batch(outputs, token, [foreign, ...requests].reverse());
    expect(applied).toEqual([1, 4, 5, 7].map((index) => refKey(requests[index]!.ref)));
    expect(Object.fromEntries(left.map(({ request, code }) => [request, code]))).toEqual({
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
      const token = model(factsOf(facts));
      const requests = Array.from({ length: 60 }, (_, i) => requested(name, `new ${i}`, op.insert(`value ${i}`)));
      const outputs = new Outputs(coin(alice.base, 50_000_000n), token.state, ...requests);
      const input = {
        ...outputs.input(alice.base, script === "published" ? {} : { reference: undefined }),
        state: token.state,
      };
      const built = must(buildBatch({ ...input, requests }, token.facts, measure));
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
      outputs.apply(built, alice);
    },
  );

  test("are limited by execution units as by size", () => {
    const token = model(factsOf(10));
    const requests = Array.from({ length: 12 }, (_, i) => requested(name, `new ${i}`, op.insert("v")));
    const outputs = new Outputs(coin(alice.base, 50_000_000n), token.state, ...requests);
    const maxTxUnits = { ...parameters.maxTxUnits, memory: 1_000_000n };
    const input = outputs.input(alice.base, { parameters: { ...parameters, maxTxUnits } });
    const built = must(buildBatch({ ...input, state: token.state, requests }, token.facts, measure));
    expect(built.applied.length).toBeGreaterThan(1);
    expect(built.applied.length).toBeLessThan(12);
    const all = buildUpdate({ ...input, state: token.state, requests }, token.facts, measure);
    expect(all).toMatchObject({ ok: false, error: { code: "too_large", details: { what: "memory" } } });
    outputs.apply(built, alice);
  });

  test("may be none, each with its reason; and only the owner applies them", () => {
    const token = model();
    const requests = inOrder(["k", op.remove("v")], ["k", op.update("v", "w")]);
    const outputs = new Outputs(coin(alice.base, 10_000_000n), coin(bob.base, 10_000_000n), token.state, ...requests);
    const build = (address: string) =>
      buildBatch({ ...outputs.input(address), state: token.state, requests }, token.facts, measure);
    expect(build(alice.base)).toMatchObject({
      ok: false,
      error: { code: "requests_fail", details: { requests: [{ code: "fact_missing" }, { code: "fact_missing" }] } },
    });
    expect(build(bob.base)).toMatchObject({ ok: false, error: { code: "not_owner" } });
    expect(buildBatch({ ...outputs.input(alice.base), state: token.state, requests }, factsOf(1), measure))
      .toMatchObject({ ok: false, error: { code: "state_differs" } });
  });
});

describe("a token with a new owner", () => {
  test("belongs to the next owner, who signs like the previous one, with its facts", () => {
    const token = model(factsOf(5));
    const outputs = new Outputs(coin(alice.base, 10_000_000n), token.state);
    const input = { ...outputs.input(alice.base), state: token.state };
    const built = must(buildTransfer({ ...input, to: bob.enterprise }, measure));
    expect(built.signers).toEqual([alice.key, bob.key]);
    const transaction = scanTransaction(built.transaction);
    const [next] = transaction.outputs;
    expect(decodeDatum(next!.datum!)).toEqual({
      type: "state",
      state: { owner: bob.key, root: toHex(token.facts.root) },
    });
    expect(next!.value).toEqual(token.state.output.value);
    outputs.apply(built, alice, bob);
    expect(built.size).toBe(signed(built.transaction, alice, bob).length);
    for (const one of [alice, bob]) expect(signed(built.transaction, one).length).toBeLessThan(built.size);
  });

  test("is not transferred to its owner, by another person, or to no key", () => {
    const token = model();
    const outputs = new Outputs(coin(alice.base, 10_000_000n), coin(bob.base, 10_000_000n), token.state);
    const give = (from: string, to: string) =>
      buildTransfer({ ...outputs.input(from), state: token.state, to }, measure);
    expect(give(alice.base, alice.enterprise)).toMatchObject({ ok: false, error: { code: "owner_unchanged" } });
    expect(give(bob.base, alice.base)).toMatchObject({ ok: false, error: { code: "not_owner" } });
    expect(give(alice.base, token.state.output.address)).toMatchObject({ ok: false, error: { code: "bad_address" } });
  });
});
