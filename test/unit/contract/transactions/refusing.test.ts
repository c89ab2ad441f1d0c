/** Updates that refuse requests: the deposits return in full, also beside requests that are applied. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { refKey } from "#src/cardano/output.ts";
import { cageScripts } from "#src/contract/script.ts";
import { buildBatch } from "#src/contract/transactions/batch.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import type { UnappliedRequest } from "#src/contract/transactions/updateRequests.ts";
import {
  carrying,
  factsOf,
  judgeApplied,
  measure,
  must,
  op,
  Outputs,
  requested,
  stated,
} from "../../../support/contract/contractLedger.ts";
import { alice, asked, askedNew, bob, NAME, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { assetId, coin } from "../../../support/wallets/person.ts";

afterEach(judgeApplied);

describe("an update that refuses requests", () => {
  test("may apply none, and keeps the root", () => {
    const junk = [
      asked("key 0", op.insert("v")),
      asked("x", op.remove("v"), { fee: 4_000_000n }),
      asked("y", op.insert("v"), { assets: new Map([[assetId(1, 1), 7n], [assetId(2, 1), 1n]]) }),
    ];
    const token = new OwnedToken(factsOf(3), junk);
    const root = toHex(token.facts.root);
    const input = { ...token.input([]), refuse: [...junk, junk[0]!] };
    token.apply(must(buildUpdate(input, token.facts, measure)), [], junk);
    expect(toHex(token.facts.root)).toBe(root);
  });

  test("applies others, in any order of inputs, with and without the shared top branch", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(3, 60),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
        (count, refusals) => {
          const requests = refusals.map((isRefused, i) =>
            asked(isRefused ? "key 1" : `new ${i}`, op.insert(`${i}`), {
              refund: i % 2 ? bob.base : alice.enterprise,
              lovelace: 3_000_000n + BigInt(i),
            })
          );
          const [apply, refuse] = [false, true].map((kind) => requests.filter((_, i) => refusals[i] === kind));
          const token = new OwnedToken(factsOf(count), requests);
          const input = { ...token.input(apply!), refuse: refuse! };
          token.apply(must(buildUpdate(input, token.facts, measure)), apply!, refuse!);
        },
      ),
      { numRuns: 12 },
    );
  });

  test("shares the top branch among the proofs of the others", () => {
    const apply = askedNew(16);
    const refuse = Array.from({ length: 4 }, (_, i) => asked("key 1", op.insert(`${i}`)));
    const token = new OwnedToken(factsOf(1_000), [...apply, ...refuse]);
    const input = { ...token.input(apply), refuse };
    token.apply(must(buildUpdate(input, token.facts, measure)), apply, refuse);
  });

  test("takes those that fit beside the refused ones, which always have room", () => {
    const apply = askedNew(60);
    const refuse = Array.from({ length: 12 }, (_, i) => asked("key 1", op.insert(`${i}`)));
    const token = new OwnedToken(factsOf(1_000), [...apply, ...refuse]);
    const input = { ...token.input(apply), refuse };
    const built = must(buildBatch(input, token.facts, measure));
    const taken = apply.filter(({ ref }) => built.applied.includes(refKey(ref)));
    expect(built.refused).toHaveLength(12);
    expect(taken.length).toBeGreaterThan(10);
    expect(built.left.every(({ code }) => code === "no_room")).toBe(true);
    expect(taken.length + built.left.length).toBe(60);
    token.apply(built, taken, refuse);
  });

  test("is built although no open request can be applied", () => {
    const [junk, other] = [asked("key 0", op.insert("v")), asked("key 1", op.insert("v"))];
    const token = new OwnedToken(factsOf(3), [junk, other]);
    const input = token.input([other]);
    expect(buildBatch(input, token.facts, measure)).toMatchObject({ error: { code: "requests_fail" } });
    const built = must(buildBatch({ ...input, refuse: [junk] }, token.facts, measure));
    expect(built.left).toMatchObject([{ request: refKey(other.ref), code: "fact_exists" }]);
    token.apply(built, [], [junk]);
  });

  test("fails for what it cannot refuse, with each reason", () => {
    const script = new Uint8Array([0x82, 0x03, 0x41, 0x00]);
    const bad = [
      ["other_token", requested("00".repeat(32), "k", op.insert("v"))],
      ["not_applicable", asked("k", op.insert("v"), { script })],
      ["not_applicable", asked("k", op.insert("v"), { lovelace: 500_000n })],
    ] as const;
    const good = asked("k", op.insert("v"));
    const token = new OwnedToken(factsOf(3), [good]);
    const input = token.input([good]);
    const refuse = bad.map(([, request]) => request);
    for (const build of [buildUpdate, buildBatch]) {
      const built = build({ ...input, refuse }, token.facts, measure);
      if (built.ok) throw new Error("built");
      expect(built.error.code).toBe("requests_fail");
      const { requests } = built.error.details as { requests: readonly UnappliedRequest[] };
      expect(requests.map(({ request, code }) => [code, request])).toEqual(
        bad.map(([code, { ref }]) => [code, refKey(ref)]),
      );
      const state = build({ ...input, refuse: [token.state] }, token.facts, measure);
      expect(state).toMatchObject({ error: { details: { requests: [{ code: "other_token" }] } } });
    }
  });

  test("is not built for a token of an earlier version, nor for another owner", () => {
    for (const script of cageScripts.slice(0, 2)) {
      const facts = factsOf(3);
      const state = stated(NAME, alice.key, facts, script.hash);
      const request = asked("key 0", op.insert("v"), { policy: script.hash });
      const carrier = carrying(script);
      const outputs = new Outputs(coin(alice.base, 20_000_000n), state, request, carrier);
      const input = { ...outputs.input(alice.base, { script, reference: carrier }), state, requests: [] };
      for (const build of [buildUpdate, buildBatch]) {
        expect(build({ ...input, refuse: [request] }, facts, measure)).toMatchObject({
          error: { code: "version_without_refusals", details: { version: script.version } },
        });
      }
    }
    const junk = asked("key 0", op.insert("v"));
    const token = new OwnedToken(factsOf(3), [junk, coin(bob.base, 20_000_000n)]);
    const input = { ...token.input([], {}, bob.base), refuse: [junk] };
    expect(buildUpdate(input, token.facts, measure)).toMatchObject({ error: { code: "not_owner" } });
  });
});
