/** Of requests that exclude each other the oldest is applied, whatever the hashes of their transactions are. */
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import type { Operation } from "#src/contract/datum.ts";
import { buildBatch } from "#src/contract/transactions/batch.ts";
import type { OpenUtxo } from "#src/contract/transactions/updateRequests.ts";
import { selectRequests } from "#src/contract/transactions/selectRequests.ts";
import { digest } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { judgeApplied, measure, must, op } from "../../../support/contract/contractLedger.ts";
import { asked, NAME, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { cases } from "../../../support/base/longTests.ts";

afterEach(judgeApplied);

const oneFact = () => Forestry.from([leafOf(utf8("k"), utf8("v"))]);

/** A request whose transaction's hash begins with `hash`, made at a slot and an index in its block. */
function request(hash: number, slot: number, operation: Operation, key = "k", position = 0): OpenUtxo {
  const ref = { txHash: hash.toString(16).padStart(2, "0").repeat(32), index: position % 65_536 };
  return { ...asked(key, operation, { ref }), made: { slot, position } };
}

function built(requests: readonly OpenUtxo[], facts = new Forestry()) {
  const token = new OwnedToken(facts, requests);
  const done = must(buildBatch(token.input(requests), token.facts, measure));
  token.apply(done, requests.filter((one) => done.applied.includes(key(one))));
  return done;
}

const key = (one: OpenUtxo) => refKey(one.ref);

test("of twelve inserts of one key the oldest is applied, and each of the others names the one that was", () => {
  const inserts = Array.from({ length: 12 }, (_, i) => request(0xf0 - i, 100 + i, op.insert(`of ${i}`)));
  const [oldest, ...others] = inserts;
  const { applied, left } = built([...inserts].sort((a, b) => compareRefs(a.ref, b.ref)));
  expect(applied).toEqual([key(oldest!)]);
  expect(left).toEqual(others.map((one) => ({
    request: key(one),
    code: "fact_exists",
    message: expect.any(String),
    lostTo: key(oldest!),
  })));
});

test("within a slot the transaction's index in the block decides, and within a transaction the output's", () => {
  const [early, late] = [request(0xee, 7, op.insert("a"), "k", 65_536), request(0x11, 7, op.insert("b"), "k", 131_072)];
  expect(built([late, early]).applied).toEqual([key(early)]);
  const [first, second] = [request(0x22, 7, op.insert("a"), "k", 3), request(0x22, 7, op.insert("b"), "k", 4)];
  expect(built([second, first]).applied).toEqual([key(first)]);
});

test("a request that the ledger would apply before an older one waits, and a younger one does not overtake it", () => {
  const first = request(0x80, 1, op.update("v", "w"));
  const follows = request(0x10, 2, op.update("w", "x"));
  const overtakes = request(0x90, 3, op.remove("w"));
  const elsewhere = request(0x01, 4, op.insert("e"), "other");
  const { applied, left } = built([first, follows, overtakes, elsewhere], oneFact());
  expect(applied).toEqual([key(elsewhere), key(first)]);
  expect(left.map(({ request, code, lostTo }) => [request, code, lostTo])).toEqual([
    [key(follows), "out_of_order", key(first)],
    [key(overtakes), "older_waits", key(follows)],
  ]);
});

test("an older request that does not fit keeps its claim to the key", () => {
  const facts = new Forestry();
  const large = request(0x80, 1, op.insert("a"));
  const small = request(0x10, 2, op.insert("b"));
  const elsewhere = request(0x20, 3, op.insert("c"), "other");
  const input = new OwnedToken(facts, [large, small, elsewhere]).input([small, large, elsewhere]);
  const { taken, left } = selectRequests(input, { token: NAME }, facts, 10);
  expect(taken).toEqual([]);
  expect(left.map(({ request, code, lostTo }) => [request, code, lostTo])).toEqual([
    [key(large), "no_room", undefined],
    [key(small), "older_waits", key(large)],
    [key(elsewhere), "no_room", undefined],
  ]);
});

test("a request that the facts forbid at its turn is applied after a younger one that makes it possible", () => {
  const insert = request(0x80, 1, op.insert("w"));
  const remove = request(0x10, 2, op.remove("v"));
  const rival = request(0x90, 3, op.insert("x"));
  const { applied, left } = built([insert, remove, rival], oneFact());
  expect(applied).toEqual([key(remove), key(insert)]);
  expect(left).toMatchObject([{ request: key(rival), code: "fact_exists", lostTo: key(insert) }]);
});

const operations = fc.oneof(
  fc.constantFrom("a", "b", "v").map(op.insert),
  fc.constantFrom("a", "b", "v").map(op.remove),
  fc.tuple(fc.constantFrom("a", "b", "v"), fc.constantFrom("a", "b", "v")).map(([old, next]) => op.update(old, next)),
);
const made = fc.tuple(fc.nat(255), fc.nat(3), operations, fc.constantFrom("k", "l"), fc.nat(3));

test("for all open requests: the ledger can apply the selection, and a free key goes to the oldest insert", () => {
  fc.assert(
    fc.property(fc.array(made, { maxLength: 14 }), fc.integer({ min: 100, max: 3_000 }), (all, maxBytes) => {
      const open = new Map(all.map(([hash, slot, operation, of, position]) => {
        const one = request(hash, slot, operation, of, position);
        return [key(one), { one, insertsL: of === "l" && operation.type === "insert", age: [slot, position] as const }];
      }));
      const requests = [...open.values()].map(({ one }) => one);
      const facts = oneFact();
      const input = new OwnedToken(facts, requests).input(requests);
      const { taken, left, root } = selectRequests(input, { token: NAME }, facts, maxBytes);
      const refs = taken.map(({ utxo }) => refKey(utxo.ref));
      expect([...refs, ...left.map(({ request }) => request)].sort()).toEqual([...open.keys()].sort());
      expect(taken).toEqual([...taken].sort((a, b) => compareRefs(a.utxo.ref, b.utxo.ref)));
      const after = facts.copy();
      for (const { change } of taken) must(after.apply(change));
      expect(toHex(after.root)).toBe(root);
      for (const { request, code, lostTo } of left) {
        if (code === "older_waits") expect(refs).not.toContain(lostTo);
        else if (lostTo !== undefined) expect(refs).toContain(lostTo);
        expect(lostTo).not.toBe(request);
      }
      const inserts = [...open.values()].filter(({ insertsL }) => insertsL)
        .sort((a, b) => a.age[0] - b.age[0] || a.age[1] - b.age[1] || compareRefs(a.one.ref, b.one.ref));
      const first = taken.find(({ change }) => toHex(change.path) === toHex(digest(utf8("l"))));
      if (first) expect(refKey(first.utxo.ref)).toBe(key(inserts[0]!.one));
    }),
    { numRuns: cases(30, 100) },
  );
});
