import process from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { constr, type Data } from "#src/cardano/data.ts";
import { initHash } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import {
  ALICE,
  BOB,
  CONTRIBUTE,
  EMPTY,
  END,
  MALLORY,
  modifying,
  NAME,
  OTHER_NAME,
  OWNER,
  type Plan,
  POLICY,
  requestInput,
  RETRACT,
  SEED,
  stateOutput,
  stateReference,
  update,
  WALLET,
} from "../../support/contract/contractPlan.ts";
import { fastVerdict, mutate } from "../../support/contract/contractMutants.ts";
import { judge } from "../../support/contract/contractPromises.ts";
import {
  fill,
  input,
  keyAt,
  minted,
  output,
  reference,
  scriptAt,
  value,
} from "../../support/contract/scriptContext.ts";
import { worsen } from "../../support/contract/wholeMutants.ts";
import { cases } from "../../support/base/longTests.ts";

const SEED_OF_RUN = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);

beforeAll(initHash);

it(`no mutant of a transaction breaks a promise (seed ${SEED_OF_RUN})`, () => {
  const count = cases(500, 5_000);
  const harvest = mutate(SEED_OF_RUN, cases(20, 50), ({ refused }) => refused >= count);
  expect(harvest.violations).toEqual([]);
  expect(harvest.refused).toBe(count);
  expect(harvest.equivalent).toBeGreaterThan(0);
  expect(harvest.judgedTwice).toBeGreaterThan(20);
}, 300_000);

it(`no harmful transaction passes the ledger (seed ${SEED_OF_RUN})`, async () => {
  const count = cases(20, 200);
  const harvest = await worsen(SEED_OF_RUN, ({ refused }) => refused >= count);
  expect(harvest.violations).toEqual([]);
  expect(harvest.refused).toBe(count);
}, 300_000);

describe("a broken promise, if the scripts accepted the transaction", () => {
  const facts = Forestry.from(["a", "b", "c"].map((key) => leafOf(utf8(key), utf8("v"))));
  const honest = update([
    { id: 61, key: "d", requester: ALICE },
    { id: 62, key: "a", operation: { type: "delete", value: utf8("v") }, requester: BOB },
  ], facts);
  const [first, ...rest] = honest.outputs as [Data, ...Data[]];
  const says = (plan: Plan) => {
    const judgement = judge(plan, facts);
    return judgement.kind === "broken" ? judgement.what : judgement.kind;
  };
  const with0 = (other: Data): Plan => ({ ...honest, outputs: [other, ...rest] });
  const held = (...assets: Parameters<typeof minted>) => value(2_000_000n, ...assets);

  it("is not reported for an honest one", () => {
    expect(says(honest)).toBe("kept");
    expect(fastVerdict(honest)).toBe("accepted");
  });
  const request = { input: requestInput({ id: 61, key: "d" }), redeemer: CONTRIBUTE };
  const state = { input: input(stateReference, stateOutput(EMPTY)), redeemer: END };
  const birth: Plan = {
    spends: [{ input: input(SEED, output(WALLET, value(5_000_000n))) }],
    outputs: [stateOutput(EMPTY)],
    mint: minted([POLICY, NAME, 1n]),
    mintRedeemer: constr(0, constr(0, SEED)),
    signers: [OWNER],
  };
  const broken: readonly (readonly [what: string, plan: Plan])[] = [
    ["a token left the contract", with0(stateOutput(honest.after, { address: WALLET }))],
    ["a token left the contract", with0(stateOutput(honest.after, { address: scriptAt(POLICY, OWNER) }))],
    ["a state is more than its token", with0(output(scriptAt(POLICY), held([POLICY, NAME, 1n], [fill(9), NAME, 1n])))],
    ["a token without a state", with0(output(scriptAt(POLICY), held([POLICY, NAME, 1n]), 0n))],
    ["a root that is not that of the facts", with0(stateOutput(honest.before))],
    ["an owner who did not sign", with0(stateOutput(honest.after, { owner: MALLORY }))],
    ["a state spent without its owner", { ...honest, signers: [ALICE, BOB] }],
    ["another script runs beside an update", { ...honest, others: [constr(2, fill(9))] }],
    ["a refund elsewhere", { ...honest, outputs: [first, rest[1]!, rest[0]!] }],
    ["a refund elsewhere", { ...honest, outputs: [first, rest[0]!] }],
    ["a refund too small", { ...honest, outputs: [first, output(keyAt(ALICE), value(1_499_999n)), ...rest.slice(1)] }],
    ["a change that cannot be made", update([{ id: 61, key: "a" }])],
    ["a deposit without an update", { spends: [request], outputs: [], signers: [MALLORY] }],
    ["a request retracted by another person", {
      spends: [{ ...request, redeemer: RETRACT }],
      outputs: [],
      signers: [OWNER],
    }],
    ["applied a request with assets", {
      ...honest,
      spends: [...honest.spends, {
        input: requestInput({ id: 63, value: held([fill(9), NAME, 1n]) }),
        redeemer: CONTRIBUTE,
      }],
    }],
    ["applied an unreadable request", {
      ...honest,
      spends: [...honest.spends, { input: requestInput({ id: 63, fee: -1n }), redeemer: CONTRIBUTE }],
    }],
    ["a request of another token", {
      ...honest,
      spends: [...honest.spends, { input: requestInput({ id: 21, name: OTHER_NAME }), redeemer: CONTRIBUTE }],
    }],
    ["two updates in one", {
      ...honest,
      outputs: [...honest.outputs, stateOutput(EMPTY, { name: OTHER_NAME })],
      spends: [...honest.spends, {
        input: input(reference(201), stateOutput(EMPTY, { name: OTHER_NAME })),
        redeemer: modifying([]),
      }],
    }],
    ["a token booted twice", {
      ...birth,
      outputs: [output(scriptAt(POLICY), held([POLICY, NAME, 2n]))],
      mint: minted([POLICY, NAME, 2n]),
    }],
    ["a token booted with facts", { ...birth, outputs: [stateOutput(honest.after)] }],
    ["a token whose owner did not sign", { ...birth, signers: [MALLORY] }],
    ["a token booted twice", { ...birth, spends: [{ input: input(reference(7), output(WALLET, value(1n))) }] }],
  ];
  it.each(broken)("%s", (what, plan) => {
    // the second boot is reported as a state that holds more than its token; the name of either is right
    if (what === "a token booted twice") expect(says(plan)).toMatch(/booted twice|more than its token/);
    else if (what === "a change that cannot be made") {
      expect(judge(plan, new Forestry()).kind).toBe("kept");
      expect(judge(plan, facts)).toMatchObject({ kind: "broken" });
    } else expect(says(plan)).toBe(what);
    if (what !== "a change that cannot be made") expect(fastVerdict(plan)).not.toBe("accepted");
  });
  it("is not reported for a transaction that no ledger accepts", () => {
    expect(says({ ...honest, outputs: rest })).toBe("impossible");
    expect(says({ spends: [state], outputs: [], signers: [] })).toBe("impossible");
  });
});
