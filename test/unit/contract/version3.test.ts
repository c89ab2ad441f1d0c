/** Version 3 of the contract: a request contributes by the index of its input, at a constant cost. */
import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { type Constr, constr, type Data, DataMap } from "#src/cardano/data.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import { validator } from "#src/contract/validator/validator.ts";
import { cageScripts, contributesByIndex, newestScript } from "#src/contract/script.ts";
import { flat } from "#src/contract/uplc/flat.ts";
import { program } from "#src/contract/uplc/program.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { initHash } from "#src/forestry/hash.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { mainnetParameters, mainnetParametersAt } from "#src/ledger/parameters.ts";
import { evaluate } from "#src/plutus/machine/evaluate.ts";
import { measure, must, op, published } from "../../support/contract/contractLedger.ts";
import {
  BOB,
  CONTRIBUTE,
  feeInput,
  MALLORY,
  NAME,
  order,
  OWNER,
  type Plan,
  requestInput,
  type Spend,
  update,
  verdictBy,
  WALLET,
} from "../../support/contract/contractPlan.ts";
import { alice, asked, OwnedToken } from "../../support/contract/ownedToken.ts";
import { asVersion3, fill, input, output, reference, scriptAt, value } from "../../support/contract/scriptContext.ts";
import { coin } from "../../support/wallets/person.ts";

beforeAll(initHash);

const { costModels, maxTxUnits } = mainnetParameters;
const code = flat(program(validator, { caseOnConstants: true, traces: true }));

function runOf(context: Data) {
  return evaluate(code, [context], { language: 3, protocolMajor: 11, costModel: costModels.get(2)! }, maxTxUnits);
}

/** What version 3 says of a plan whose redeemers are as they are: "accepted", or the first refusal. */
function said(plan: Plan): string {
  return verdictBy(plan, (context) => {
    const run = runOf(context);
    return run.ok ? undefined : run.logs[0] ?? "no message";
  });
}

const honest = update([{ id: 61, key: "a" }, { id: 62, key: "b", requester: BOB }, { id: 210, key: "c" }]);
const places = [...honest.spends].sort(order);
const placeOf = (spend: Spend) => BigInt(places.findIndex((one) => one.input === spend.input));

/** The honest update with these redeemers of its requests. */
function contributing(redeemers: (request: Spend, i: number) => Data): Plan {
  const spends = honest.spends.map((spend) => {
    const i = honest.requests.indexOf(spend);
    return i < 0 ? spend : { ...spend, redeemer: redeemers(spend, i) };
  });
  return { ...honest, spends };
}

describe("contributing by an index", () => {
  it("is accepted with the index of the own input", () => {
    expect(said(contributing(placeOf))).toBe("accepted");
  });

  it("is refused with the index of another input", () => {
    for (let at = 0n; at < 5n; at++) {
      for (const wrong of honest.requests) {
        if (placeOf(wrong) === at) continue;
        const plan = contributing((request) => request === wrong ? at : placeOf(request));
        expect(said(plan)).toMatch(/not the index of the request/);
      }
    }
  });

  it("is refused with an index outside of the inputs", () => {
    for (const at of [5n, 6n, 255n, 1n << 31n, 1n << 63n, 1n << 64n, 1n << 4_096n]) {
      const plan = contributing((request, i) => i === 2 ? at : placeOf(request));
      expect(said(plan)).not.toBe("accepted");
    }
  });

  it("is refused with a negative index, which drops as little as 0", () => {
    const at = (index: bigint) => said(contributing((request, i) => i === 0 ? index : placeOf(request)));
    for (const index of [-1n, -2n]) expect(at(index)).toMatch(/applied that does not contribute/);
    // dropping costs as much as the number is large
    expect(at(-(1n << 64n))).not.toBe("accepted");
  });

  it("is refused in the form of version 2, and in every form but a number", () => {
    const others = [
      CONTRIBUTE,
      constr(1, 0n),
      constr(0),
      constr(2, []),
      constr(0, 0n),
      [0n],
      [],
      new Uint8Array(1),
      new DataMap([]),
    ];
    for (const other of others) {
      expect(said(contributing((request, i) => i === 0 ? other : placeOf(request)))).not.toBe("accepted");
    }
  });

  it("is no way to spend a state, or to retract", () => {
    const state = { ...honest.state, redeemer: placeOf(honest.state) };
    expect(said({ ...honest, spends: [state, feeInput] })).not.toBe("accepted");
    const request: Spend = { input: requestInput({}), redeemer: 0n };
    expect(said({ spends: [request], outputs: [], signers: [OWNER, MALLORY] })).not.toBe("accepted");
  });

  it("retracts with exactly the retraction's redeemer", () => {
    const retracting = (redeemer: Data, signer = BOB): Plan => ({
      spends: [{ input: requestInput({ requester: BOB }), redeemer }],
      outputs: [],
      signers: [signer],
    });
    expect(said(retracting(constr(3)))).toBe("accepted");
    expect(said(retracting(constr(3), MALLORY))).toMatch(/retract/);
    for (const other of [constr(3, 0n), constr(4), 3n, 0n]) expect(said(retracting(other))).not.toBe("accepted");
  });

  it("cannot take another input for the own one: a request that names an attacker's policy", () => {
    // the attacker's script has a token, and an input whose address is that script's
    const theirs = fill(77);
    const token = output(scriptAt(theirs), value(2_000_000n, [theirs, NAME, 1n]));
    const request: Spend = { input: requestInput({ id: 61, policy: theirs }), redeemer: 0n };
    const trap: Spend = { input: input(reference(62), token), redeemer: constr(0) };
    const plan = (redeemer: bigint): Plan => ({
      spends: [{ ...request, redeemer }, trap, feeInput],
      outputs: [token, output(WALLET, value(1n))],
      signers: [MALLORY],
    });
    expect(said(plan(1n))).toMatch(/not the index of the request/);
    expect(said(plan(0n))).toMatch(/another policy/);
  });

  it("cannot take an equal output of another input for the own one", () => {
    const twin: Spend = { input: requestInput({ id: 63, key: "a" }), redeemer: 1n };
    const plan = contributing((request) => placeOf(request));
    const all = { ...plan, spends: [...plan.spends, twin] };
    expect(said(all)).not.toBe("accepted");
  });

  it("costs the same memory wherever the request is", () => {
    const specs = Array.from({ length: 40 }, (_, i) => ({ id: 61 + i, key: `key ${i}` }));
    const plan = update(specs);
    const contexts: Data[] = [];
    verdictBy(plan, (context) => (contexts.push(context), undefined));
    const runs = contexts.filter((context) =>
      (asVersion3(context) as Constr).fields[1] !== (context as Constr).fields[1]
    )
      .map((context) => runOf(asVersion3(context)));
    expect(runs).toHaveLength(40);
    expect(runs.every(({ ok }) => ok)).toBe(true);
    expect(new Set(runs.map(({ spent }) => spent.memory)).size).toBe(1);
    const steps = runs.map(({ spent }) => Number(spent.steps));
    // `dropList` has some 2,000 steps for each element
    expect(Math.max(...steps) / Math.min(...steps)).toBeLessThan(1.02);
  });

  it("refuses what only names the request: a reference input", () => {
    const plan = contributing((request) => placeOf(request));
    const contexts: Data[] = [];
    verdictBy(plan, (context) => (contexts.push(context), undefined));
    const context = contexts.find((one) => typeof (one as Constr).fields[1] === "bigint") as Constr;
    const transaction = context.fields[0] as Constr;
    const inputs = transaction.fields[0] as Data[];
    const moved = constr(
      0,
      ...transaction.fields.map((field, i) => i === 0 ? inputs.slice(1) : i === 1 ? [inputs[0]!] : field),
    );
    expect(runOf(context).ok).toBe(true);
    expect(runOf(constr(0, moved, 0n, context.fields[2]!)).ok).toBe(false);
  });
});

describe("an update of a token of version 3", () => {
  it("has the index of each request's input, among those that pay for it", () => {
    const requests = Array.from({ length: 12 }, (_, i) => asked(`key ${i}`, op.insert(`${i}`)));
    const coins = Array.from({ length: 6 }, () => coin(alice.enterprise, 1_200_000n));
    const token = new OwnedToken(new Forestry(), requests, [...coins, coin(alice.enterprise, 5_000_000n)]);
    const { state } = token;
    const built = must(buildUpdate(token.input(requests, {}, alice.enterprise), token.facts, measure));
    // applied as the ledger does: the scripts run again
    token.apply(built, requests);
    const sorted = [state, ...requests, ...built.spends].sort((a, b) => compareRefs(a.ref, b.ref)).map(({ ref }) =>
      refKey(ref)
    );
    expect(sorted.length).toBeGreaterThan(13);
    expect(toHex(built.transaction)).toContain(toHex(Uint8Array.of(sorted.indexOf(built.applied.at(-1)!))));
    expect(published.output.script).toBeDefined();
  });
});

describe("the version of a new token", () => {
  it("is 3.0.0 from protocol version 11 on, 2.0.0 before it", () => {
    expect(([9, 10, 11] as const).map((major) => newestScript(mainnetParametersAt(major)).version)).toEqual([
      "2.0.0",
      "2.0.0",
      "3.0.0",
    ]);
    expect(cageScripts.map(contributesByIndex)).toEqual([false, false, true]);
  });
});
