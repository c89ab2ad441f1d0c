/** Updates that refuse requests: the deposits return in full, also beside requests that are applied. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { decodeDatum } from "#src/cage/datum.ts";
import { cageScripts } from "#src/cage/script.ts";
import { buildBatch } from "#src/cage/transactions/batch.ts";
import { buildUpdate, type UnappliedRequest } from "#src/cage/transactions/update.ts";
import {
  carrying,
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
import { assetId, coin, person } from "../../support/wallets/person.ts";

afterEach(judgeApplied);

const alice = person("alice");
const bob = person("bob");
const name = "5a".repeat(32);

function begun(count: number, ...requests: readonly Utxo[]) {
  const facts = factsOf(count);
  const token = new ModelToken(name, stated(name, alice.key, facts), facts);
  return { token, outputs: new Outputs(coin(alice.base, 20_000_000n), token.state, ...requests) };
}

function requestIn({ output }: Utxo) {
  const datum = decodeDatum(output.datum!);
  if (datum?.type !== "request") throw new TypeError("no request");
  return datum.request;
}

/** Applies an update to the ledger, and checks its root and each refund. */
function applied(
  { token, outputs }: ReturnType<typeof begun>,
  built: ReturnType<typeof buildUpdate>,
  apply: readonly Utxo[],
  refuse: readonly Utxo[],
) {
  const update = must(built);
  const { created } = outputs.apply(update, alice);
  const ordered = [...apply, ...refuse].sort((a, b) => compareRefs(a.ref, b.ref));
  const names = (list: readonly Utxo[]) => ordered.filter((one) => list.includes(one)).map(({ ref }) => refKey(ref));
  expect(update.applied).toEqual(names(apply));
  expect(update.refused).toEqual(names(refuse));
  token.follow(created[0]!, ordered.filter((one) => apply.includes(one)));
  expect(toHex(token.facts.root)).toBe(update.root);
  for (const [i, one] of ordered.entries()) {
    const { fee, refund } = requestIn(one);
    const back = created[i + 1]!.output;
    const { value } = one.output;
    expect(back.value).toEqual(refuse.includes(one) ? value : lovelace(value.lovelace - fee));
    expect(back.address.slice(2, 58)).toBe(refund.payment);
  }
}

describe("an update that refuses requests", () => {
  test("may apply none, and keeps the root", () => {
    const junk = [
      requested(name, "key 0", op.insert("v")),
      requested(name, "x", op.remove("v"), { fee: 4_000_000n }),
      requested(name, "y", op.insert("v"), { assets: new Map([[assetId(1, 1), 7n], [assetId(2, 1), 1n]]) }),
    ];
    const world = begun(3, ...junk);
    const { token, outputs } = world;
    const root = toHex(token.facts.root);
    const input = { ...outputs.input(alice.base), state: token.state, requests: [], refuse: [...junk, junk[0]!] };
    applied(world, buildUpdate(input, token.facts, measure), [], junk);
    expect(toHex(token.facts.root)).toBe(root);
  });

  test("applies others, in any order of inputs, with and without the shared top branch", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(3, 60),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
        (count, refusals) => {
          const requests = refusals.map((isRefused, i) =>
            requested(name, isRefused ? "key 1" : `new ${i}`, op.insert(`${i}`), {
              refund: i % 2 ? bob.base : alice.enterprise,
              lovelace: 3_000_000n + BigInt(i),
            })
          );
          const [apply, refuse] = [false, true].map((kind) => requests.filter((_, i) => refusals[i] === kind));
          const world = begun(count, ...requests);
          const { token, outputs } = world;
          const input = { ...outputs.input(alice.base), state: token.state, requests: apply!, refuse: refuse! };
          applied(world, buildUpdate(input, token.facts, measure), apply!, refuse!);
        },
      ),
      { numRuns: 12 },
    );
  });

  test("shares the top branch among the proofs of the others", () => {
    const apply = Array.from({ length: 16 }, (_, i) => requested(name, `new ${i}`, op.insert("v")));
    const refuse = Array.from({ length: 4 }, (_, i) => requested(name, "key 1", op.insert(`${i}`)));
    const world = begun(1_000, ...apply, ...refuse);
    const { token, outputs } = world;
    const input = { ...outputs.input(alice.base), state: token.state, requests: apply, refuse };
    applied(world, buildUpdate(input, token.facts, measure), apply, refuse);
  });

  test("takes those that fit beside the refused ones, which always have room", () => {
    const apply = Array.from({ length: 60 }, (_, i) => requested(name, `new ${i}`, op.insert("v")));
    const refuse = Array.from({ length: 12 }, (_, i) => requested(name, "key 1", op.insert(`${i}`)));
    const world = begun(1_000, ...apply, ...refuse);
    const { token, outputs } = world;
    const input = { ...outputs.input(alice.base), state: token.state, requests: apply, refuse };
    const built = must(buildBatch(input, token.facts, measure));
    const taken = apply.filter(({ ref }) => built.applied.includes(refKey(ref)));
    expect(built.refused).toHaveLength(12);
    expect(taken.length).toBeGreaterThan(10);
    expect(built.left.every(({ code }) => code === "no_room")).toBe(true);
    expect(taken.length + built.left.length).toBe(60);
    applied(world, { ok: true, value: built }, taken, refuse);
  });

  test("is built although no open request can be applied", () => {
    const [junk, other] = [requested(name, "key 0", op.insert("v")), requested(name, "key 1", op.insert("v"))];
    const world = begun(3, junk, other);
    const { token, outputs } = world;
    const input = { ...outputs.input(alice.base), state: token.state, requests: [other] };
    expect(buildBatch(input, token.facts, measure)).toMatchObject({ error: { code: "requests_fail" } });
    const built = must(buildBatch({ ...input, refuse: [junk] }, token.facts, measure));
    expect(built.left).toMatchObject([{ request: refKey(other.ref), code: "fact_exists" }]);
    applied(world, { ok: true, value: built }, [], [junk]);
  });

  test("fails for what it cannot refuse, with each reason", () => {
    const script = new Uint8Array([0x82, 0x03, 0x41, 0x00]);
    const bad = [
      ["other_token", requested("00".repeat(32), "k", op.insert("v"))],
      ["not_applicable", requested(name, "k", op.insert("v"), { script })],
      ["not_applicable", requested(name, "k", op.insert("v"), { lovelace: 500_000n })],
    ] as const;
    const good = requested(name, "k", op.insert("v"));
    const { token, outputs } = begun(3, good);
    const input = { ...outputs.input(alice.base), state: token.state, requests: [good] };
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
      const state = stated(name, alice.key, facts, script.hash);
      const request = requested(name, "key 0", op.insert("v"), { policy: script.hash });
      const carrier = carrying(script);
      const outputs = new Outputs(coin(alice.base, 20_000_000n), state, request, carrier);
      const input = { ...outputs.input(alice.base, { script, reference: carrier }), state, requests: [] };
      for (const build of [buildUpdate, buildBatch]) {
        expect(build({ ...input, refuse: [request] }, facts, measure)).toMatchObject({
          error: { code: "version_without_refusals", details: { version: script.version } },
        });
      }
    }
    const junk = requested(name, "key 0", op.insert("v"));
    const { token, outputs } = begun(3, junk, coin(bob.base, 20_000_000n));
    const input = { ...outputs.input(bob.base), state: token.state, requests: [], refuse: [junk] };
    expect(buildUpdate(input, token.facts, measure)).toMatchObject({ error: { code: "not_owner" } });
  });
});
