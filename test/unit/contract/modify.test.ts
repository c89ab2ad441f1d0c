import { describe, expect, it } from "vitest";
import { Constr, constr, type Data } from "#src/cardano/data.ts";
import { proofData } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { utf8 } from "#src/base/bytes.ts";
import { readDatum } from "#src/contract/datum.ts";
import type { Action } from "#src/contract/redeemer.ts";
import { malformedVariants } from "../../support/plutus/malformedData.ts";
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
import { cases } from "../../support/base/longTests.ts";
import {
  ALICE,
  BOB,
  CONTRIBUTE,
  insertion,
  MALLORY,
  modifying,
  NAME,
  OTHER_NAME,
  owed,
  OWNER,
  type Plan,
  POLICY,
  requestInput,
  type RequestSpec,
  RETRACT,
  SCRIPT,
  type Spend,
  stateDatum,
  stateOutput,
  stateReference,
  type Update,
  update,
  verdict,
  WALLET,
} from "../../support/contract/contractPlan.ts";

const alice: RequestSpec = { id: 61, key: "a", requester: ALICE };
const bob: RequestSpec = { id: 62, key: "b", requester: BOB, fee: 300_000n };
const honest = update([alice, bob]);
const notTheState = /first output is not the next state/;

/** An update with its first output replaced. */
const with0 = (plan: Update, first: Data): Plan => ({ ...plan, outputs: [first, ...plan.outputs.slice(1)] });
/** An update with its state's redeemer replaced. */
const acting = (plan: Update, redeemer: Data): Plan => ({
  ...plan,
  spends: plan.spends.map((spend) => spend === plan.state ? { ...spend, redeemer } : spend),
});
/** An update with other refunds. */
const refunding = (plan: Update, ...refunds: Data[]): Plan => ({
  ...plan,
  outputs: [plan.outputs[0]!, ...refunds, plan.outputs.at(-1)!],
});
const also = (plan: Plan, ...spends: Spend[]): Plan => ({ ...plan, spends: [...plan.spends, ...spends] });

describe("an update", () => {
  it("applies requests", () => {
    expect(verdict(honest)).toBe("accepted");
    const facts = Forestry.from(["a", "b", "c", "d", "e"].map((key) => leafOf(utf8(key), utf8("v"))));
    const all = update([
      { id: 61, key: "a", operation: { type: "delete", value: utf8("v") } },
      { id: 62, key: "b", operation: { type: "update", old: utf8("v"), value: utf8("w") }, requester: BOB },
      { id: 63, key: "f", operation: insertion("v") },
      { id: 210, key: "", operation: insertion("") },
      { id: 230, key: "f", operation: { type: "update", old: utf8("v"), value: utf8("v") } },
    ], facts);
    expect(verdict(all)).toBe("accepted");
  });
  it("may apply none", () => expect(verdict(update([]))).toBe("accepted"));
  it("is signed by the owner", () => {
    expect(verdict({ ...honest, signers: [MALLORY, ALICE, BOB] })).toMatch(/not signed by the token's owner/);
    expect(verdict({ ...honest, signers: [] })).toMatch(/not signed by the token's owner/);
  });
  it("has one action for each request, in the same order", () => {
    expect(verdict(acting(honest, modifying([])))).not.toBe("accepted");
    expect(verdict(acting(honest, modifying(honest.actions.slice(0, 1))))).not.toBe("accepted");
    expect(verdict(acting(honest, modifying([...honest.actions, honest.actions[0]!])))).toMatch(/without a request/);
    expect(verdict(acting(honest, modifying([...honest.actions, { type: "skip" }])))).toMatch(/without a request/);
    expect(verdict(acting(honest, modifying([...honest.actions].reverse())))).not.toBe("accepted");
    expect(verdict(acting(honest, constr(2, [constr(0, []), constr(2)])))).not.toBe("accepted");
  });
  it("has its actions under no other constructor, which readers would not take for an update", () => {
    const { fields } = honest.state.redeemer as Constr;
    expect(verdict(acting(honest, constr(2, ...fields)))).toBe("accepted");
    for (const tag of [0, 1, 3, 4, 5, 6, 127]) {
      expect(verdict(acting(honest, constr(tag, ...fields)))).not.toBe("accepted");
      expect(verdict(acting(honest, constr(tag, ...fields, ...fields)))).not.toBe("accepted");
    }
  });
  it("requires a valid proof", () => {
    expect(verdict(acting(honest, modifying([honest.actions[0]!, { type: "apply", proof: [] }])))).toMatch(
      /does not lead to the root/,
    );
  });
});

describe("the next state", () => {
  it("has the computed root", () => {
    expect(verdict(with0(honest, stateOutput(honest.before)))).toMatch(notTheState);
    expect(verdict(with0(honest, stateOutput(fill(0xab, 32))))).toMatch(notTheState);
  });
  it("holds the token (C4, D)", () => {
    expect(verdict(with0(honest, output(SCRIPT, value(2_000_000n), stateDatum(honest.after))))).toMatch(/not/);
    const moved = update([]);
    const wallet = output(WALLET, value(2_000_000n, [POLICY, NAME, 1n]));
    const stub = output(SCRIPT, value(2_000_000n), stateDatum(moved.after));
    expect(verdict({ ...moved, outputs: [stub, wallet] })).toMatch(notTheState);
    const other = output(SCRIPT, value(2_000_000n, [POLICY, OTHER_NAME, 1n]), stateDatum(moved.after));
    expect(verdict({ ...moved, outputs: [other, wallet] })).toMatch(notTheState);
  });
  it("stays at its address, stake part included (C10)", () => {
    for (
      const address of [WALLET, keyAt(OWNER), scriptAt(fill(8)), scriptAt(POLICY, OWNER), scriptAt(POLICY, fill(12))]
    ) {
      expect(verdict(with0(honest, stateOutput(honest.after, { address })))).not.toBe("accepted");
    }
  });
  it("holds nothing else (C10)", () => {
    const held = value(2_000_000n, [POLICY, NAME, 1n], [fill(9), fill(1, 3), 1n]);
    expect(verdict(with0(honest, output(SCRIPT, held, stateDatum(honest.after))))).toMatch(/not/);
    const same = value(2_000_000n, [POLICY, NAME, 1n], [POLICY, OTHER_NAME, 1n]);
    expect(verdict(with0(honest, output(SCRIPT, same, stateDatum(honest.after))))).toMatch(/not/);
  });
  it("has no reference script", () => {
    const held = value(2_000_000n, [POLICY, NAME, 1n]);
    expect(verdict(with0(honest, output(SCRIPT, held, stateDatum(honest.after), fill(7))))).toMatch(notTheState);
  });
  it("has a datum in one form", () => {
    const held = value(2_000_000n, [POLICY, NAME, 1n]);
    for (
      const datum of [
        constr(1, constr(0, OWNER, honest.after, 0n)),
        constr(1, constr(0, OWNER, honest.after), 0n),
        constr(0, constr(0, OWNER, honest.after)),
        constr(1, constr(1, OWNER, honest.after)),
        constr(1, constr(0, honest.after, OWNER)),
      ]
    ) expect(verdict(with0(honest, output(SCRIPT, held, datum)))).not.toBe("accepted");
    expect(verdict(with0(honest, output(SCRIPT, held)))).not.toBe("accepted");
  });
  it("keeps its owner, or the next one signs too (C10)", () => {
    const handed = with0(honest, stateOutput(honest.after, { owner: BOB }));
    expect(verdict(handed)).toMatch(/next owner did not sign/);
    expect(verdict({ ...handed, signers: [BOB] })).toMatch(/not signed by the token's owner/);
    expect(verdict({ ...handed, signers: [OWNER, BOB] })).toBe("accepted");
    const short = with0(honest, stateOutput(honest.after, { owner: fill(2, 27) }));
    expect(verdict(short)).toMatch(/next owner did not sign/);
    expect(verdict(with0(honest, stateOutput(honest.after, { owner: new Uint8Array(0) })))).toMatch(/next owner/);
  });
});

describe("junk in a state, if it were ever there", () => {
  it("is no second token", () => {
    const plan = update([alice]);
    const held = value(2_000_000n, [POLICY, NAME, 1n], [POLICY, OTHER_NAME, 1n]);
    const state = input(stateReference, output(SCRIPT, held, stateDatum(plan.before)));
    const spends = plan.spends.map((spend) => spend === plan.state ? { ...spend, input: state } : spend);
    expect(verdict({ ...plan, spends })).toMatch(/two tokens/);
  });
  it("does not brick the token", () => {
    const plan = update([alice]);
    const held = value(2_000_000n, [fill(0), fill(1, 3), 9n], [POLICY, NAME, 1n], [fill(9), fill(1, 3), 1n]);
    const state = input(stateReference, output(SCRIPT, held, stateDatum(plan.before)));
    const spends = plan.spends.map((spend) => spend === plan.state ? { ...spend, input: state } : spend);
    expect(verdict({ ...plan, spends })).toBe("accepted");
  });
});

describe("refunds", () => {
  it("may exceed what is owed", () => {
    const more = refunding(honest, output(keyAt(ALICE), value(9_000_000n)), owed(bob));
    expect(verdict(more)).toBe("accepted");
  });
  it("are paid in full, each (C7, N4)", () => {
    const less = output(keyAt(ALICE), value(1_499_999n));
    expect(verdict(refunding(honest, less, owed(bob)))).toMatch(/too small/);
    expect(verdict(refunding(honest, owed(alice), output(keyAt(BOB), value(1_699_999n))))).toMatch(/too small/);
    expect(verdict(refunding(honest, less, output(keyAt(BOB), value(50_000_000n))))).toMatch(/too small/);
    expect(verdict(refunding(honest))).not.toBe("accepted");
    expect(verdict(refunding(honest, owed(alice)))).not.toBe("accepted");
  });
  it("come in the order of the requests", () => {
    expect(verdict(refunding(honest, owed(bob), owed(alice)))).toMatch(/another address/);
    expect(verdict(refunding(honest, output(WALLET, value(1n)), owed(alice), owed(bob)))).toMatch(/another address/);
  });
  it("are one for each request, also for several requests of one person", () => {
    const twice = update([alice, { ...bob, requester: ALICE, fee: 500_000n }]);
    expect(verdict(twice)).toBe("accepted");
    expect(verdict(refunding(twice, owed(alice)))).not.toBe("accepted");
    expect(verdict(refunding(twice, output(keyAt(ALICE), value(3_000_000n))))).not.toBe("accepted");
  });
  it("go to the whole address, stake part included (N5)", () => {
    const staked: RequestSpec = { ...alice, refund: keyAt(ALICE, fill(13)) };
    const plan = update([staked]);
    expect(verdict(plan)).toBe("accepted");
    for (const address of [keyAt(ALICE), keyAt(ALICE, fill(12)), keyAt(MALLORY, fill(13)), scriptAt(ALICE, fill(13))]) {
      expect(verdict(refunding(plan, output(address, value(1_500_000n))))).toMatch(/another address/);
    }
    const plain = update([alice]);
    expect(verdict(refunding(plain, output(keyAt(ALICE, OWNER), value(1_500_000n))))).toMatch(/another address/);
  });
  it("may go to an address whose stake part is a script", () => {
    const refund = constr(0, constr(0, ALICE), constr(0, constr(0, constr(1, fill(13)))));
    expect(verdict(update([{ ...alice, refund }]))).toBe("accepted");
  });
  it("are lovelace alone, without datum or script", () => {
    const plan = update([alice]);
    const amount = value(1_500_000n);
    const dust = output(keyAt(ALICE), value(1_500_000n, [fill(9), fill(1, 3), 1n]));
    expect(verdict(refunding(plan, dust))).toMatch(/with assets/);
    expect(verdict(refunding(plan, output(keyAt(ALICE), amount, 0n)))).toMatch(/datum or a script/);
    expect(verdict(refunding(plan, constr(0, keyAt(ALICE), amount, constr(1, fill(3, 32)), constr(1))))).toMatch(
      /datum/,
    );
    expect(verdict(refunding(plan, constr(0, keyAt(ALICE), amount, constr(0), constr(0, fill(7)))))).toMatch(/script/);
  });
});

describe("fees offered by a request", () => {
  const offering = (fee: bigint, refund: bigint): Plan =>
    refunding(update([{ ...alice, fee }]), output(keyAt(ALICE), value(refund)));
  it("may be zero or the whole deposit", () => {
    expect(verdict(offering(0n, 2_000_000n))).toBe("accepted");
    expect(verdict(offering(0n, 1_999_999n))).toMatch(/too small/);
    expect(verdict(offering(2_000_000n, 0n))).toBe("accepted");
  });
  it("still require the refund output, even if they leave nothing for it", () => {
    expect(verdict(refunding(update([{ ...alice, fee: 2_000_000n }])))).toMatch(/another address/);
  });
  it("are neither negative nor larger than the deposit", () => {
    expect(verdict(offering(-1n, 2_000_001n))).toMatch(/negative fee/);
    expect(verdict(offering(-(1n << 70n), 1n << 71n))).toMatch(/negative fee/);
    expect(verdict(offering(2_000_001n, 1_000_000n))).toMatch(/does not hold/);
    expect(verdict(offering(1n << 80n, 1_000_000n))).toMatch(/does not hold/);
  });
});

describe("a request that no update applies", () => {
  const datum = (...fields: Data[]) => constr(0, constr(0, ...fields));
  const parts = [constr(0, POLICY, NAME), keyAt(ALICE), 500_000n, utf8("a"), constr(0, utf8("v"))] as const;
  const plan = (bad: Data) => update([{ ...alice, datum: bad }]);
  it("is the control", () => expect(verdict(plan(datum(...parts)))).toBe("accepted"));
  it("holds assets", () => {
    const held = value(2_000_000n, [fill(9), fill(1, 3), 1n]);
    expect(verdict(update([{ ...alice, value: held }]))).toMatch(/holds assets/);
  });
  it("has a datum of another form", () => {
    const [token, refund, fee, key, operation] = parts;
    const bad: Record<string, Data> = {
      "a field more": datum(...parts, 0n),
      "more than a request": constr(0, constr(0, ...parts), 0n),
      "two values to insert": datum(token, refund, fee, key, constr(0, utf8("v"), utf8("w"))),
      "two values to delete": datum(token, refund, fee, key, constr(1, utf8("v"), utf8("w"))),
      "three values to update": datum(token, refund, fee, key, constr(2, utf8("v"), utf8("w"), utf8("x"))),
      "one value to update": datum(token, refund, fee, key, constr(2, utf8("v"))),
      "another operation": datum(token, refund, fee, key, constr(3, utf8("v"))),
      "a value that is a number": datum(token, refund, fee, key, constr(0, 5n)),
      "a key that is a number": datum(token, refund, fee, 5n, operation),
      "a fee that is bytes": datum(token, refund, utf8("1"), key, operation),
      "no operation": datum(token, refund, fee, key),
    };
    for (const [what, data] of Object.entries(bad)) expect(verdict(plan(data)), what).not.toBe("accepted");
  });
  it("has one of the datums that the contract does not decode", () => {
    const base = (staked: boolean, operation: Data) =>
      datum(parts[0], staked ? keyAt(ALICE, fill(13)) : parts[1], parts[2], parts[3], operation);
    const operations = [constr(0, utf8("v")), constr(1, utf8("v")), constr(2, utf8("v"), utf8("w"))] as const;
    const types = ["insert", "delete", "update"] as const;
    for (const [i, operation] of operations.entries()) {
      for (const staked of [false, true]) {
        const facts = i === 0 ? new Forestry() : Forestry.from([leafOf(utf8("a"), utf8("v"))]);
        const change = { type: types[i]!, value: utf8(i === 2 ? "w" : "v"), old: utf8("v") };
        const spec: RequestSpec = { ...alice, operation: change, refund: keyAt(ALICE, ...(staked ? [fill(13)] : [])) };
        expect(verdict(update([{ ...spec, datum: base(staked, operation) }], facts))).toBe("accepted");
        for (const [n, bad] of malformedVariants(base(staked, operation)).entries()) {
          expect(readDatum(bad)).toBeUndefined();
          if (n % cases(3, 1) === 0) expect(verdict(update([{ ...spec, datum: bad }], facts))).not.toBe("accepted");
        }
      }
    }
  });
  it("has a refund address of a script or with a pointer", () => {
    const pointer = constr(0, constr(0, ALICE), constr(0, constr(1, 1n, 2n, 3n)));
    for (const refund of [scriptAt(ALICE), pointer]) {
      expect(verdict(update([{ ...alice, refund }]))).toMatch(/not a key's/);
    }
  });
  it("has its datum outside the output", () => {
    const hidden = input(reference(61), constr(0, SCRIPT, value(2_000_000n), constr(1, fill(3, 32)), constr(1)));
    const base = update([alice]);
    const spends = base.spends.map((spend) => spend === base.requests[0] ? { ...spend, input: hidden } : spend);
    expect(verdict({ ...base, spends })).not.toBe("accepted");
  });
});

describe("other inputs of an update", () => {
  const second = (root: Uint8Array, name = OTHER_NAME): Data =>
    input(reference(201), stateOutput(root, { name, owner: OWNER }));
  it("include no second state (C8)", () => {
    const plan = update([]);
    const both = also(plan, { input: second(plan.before), redeemer: modifying([]) });
    expect(verdict(both)).toMatch(/second state/);
    // with either of the two in the first output
    const other = stateOutput(plan.before, { name: OTHER_NAME });
    expect(verdict({ ...both, outputs: [other, plan.outputs[0]!] })).toMatch(/not|second/);
    const one = output(SCRIPT, value(2_000_000n, [POLICY, NAME, 1n], [POLICY, OTHER_NAME, 1n]), stateDatum(plan.after));
    expect(verdict({ ...both, outputs: [one] })).toMatch(/second state/);
  });
  it("include no output that imitates a state", () => {
    const stub = input(reference(201), output(SCRIPT, value(2_000_000n), stateDatum(fill(0, 32), MALLORY)));
    expect(verdict(also(honest, { input: stub, redeemer: modifying([]) }))).toMatch(/second state/);
  });
  it("include no output of another script that runs", () => {
    const foreign = input(reference(66), output(scriptAt(fill(8)), value(2_000_000n)));
    expect(verdict(also(honest, { input: foreign, redeemer: constr(0) }))).toMatch(/another script runs/);
    const key = input(reference(66), output(keyAt(fill(8)), value(2_000_000n)));
    expect(verdict(also(honest, { input: key }))).toBe("accepted");
  });
  it("may include an output of a native script, which has no redeemer", () => {
    const native = input(reference(66), output(scriptAt(fill(8)), value(2_000_000n)));
    expect(verdict(also(honest, { input: native }))).toBe("accepted");
  });
  it("may include a retracted request", () => {
    const retracted: Spend = { input: requestInput({ id: 63, key: "z", requester: BOB }), redeemer: RETRACT };
    const plan = also(honest, retracted);
    const skipping = (actions = [...honest.actions, { type: "skip" as const }]): Plan => ({
      ...plan,
      spends: plan.spends.map((spend) => spend === honest.state ? { ...spend, redeemer: modifying(actions) } : spend),
    });
    expect(verdict({ ...skipping(), signers: [OWNER, BOB] })).toBe("accepted");
    // without the requester's signature it is neither retracted nor skipped
    expect(verdict({ ...skipping(), signers: [OWNER] })).not.toBe("accepted");
    expect(verdict({ ...plan, signers: [OWNER, BOB] })).not.toBe("accepted");
    const odd = constr(2, [
      ...honest.actions.map((a) => constr(0, a.type === "apply" ? proofData(a.proof) : [])),
      constr(2),
    ]);
    const spelled = plan.spends.map((spend) => spend === honest.state ? { ...spend, redeemer: odd } : spend);
    expect(verdict({ ...plan, spends: spelled, signers: [OWNER, BOB] })).toMatch(/no such action/);
    // the second of three
    const middle = update([alice, { ...bob, id: 64 }]);
    const acts = [middle.actions[0]!, { type: "skip" as const }, middle.actions[1]!];
    const spends = [...middle.spends, retracted].map((spend) =>
      spend === middle.state ? { ...spend, redeemer: modifying(acts) } : spend
    );
    expect(verdict({ ...middle, spends, signers: [OWNER, BOB] })).toBe("accepted");
  });
  it("is what its own redeemer says: contributing what is applied, retracted what is passed over", () => {
    const one = update([alice]);
    const planOf = (actions: readonly Action[], redeemer: Data): Plan => ({
      ...one,
      spends: [
        { ...one.state, redeemer: modifying(actions) },
        { ...one.requests[0]!, redeemer },
        ...one.spends.slice(2),
      ],
      outputs: [stateOutput(actions[0]!.type === "apply" ? one.after : one.before), ...one.outputs.slice(1)],
      signers: [OWNER, ALICE],
    });
    expect(verdict(planOf(one.actions, CONTRIBUTE))).toBe("accepted");
    expect(verdict(planOf([{ type: "skip" }], RETRACT))).toBe("accepted");
    expect(verdict(planOf(one.actions, RETRACT))).toMatch(/applied that does not contribute/);
    expect(verdict(planOf([{ type: "skip" }], CONTRIBUTE))).toMatch(/not retracted/);
    // a version reads one form of contributing only
    expect(verdict(planOf(one.actions, constr(1, 0n)))).not.toBe("accepted");
  });
  it("may include a retracted request of another token", () => {
    const other: Spend = { input: requestInput({ id: 63, name: OTHER_NAME, requester: BOB }), redeemer: RETRACT };
    expect(verdict({ ...also(honest, other), signers: [OWNER, BOB] })).toBe("accepted");
    expect(verdict(also(honest, other))).toMatch(/retract/);
  });
  it("include no request that only the owner skips", () => {
    const swallowed: Spend = { input: requestInput({ id: 63, key: "z", requester: BOB }), redeemer: CONTRIBUTE };
    const plan = also(honest, swallowed);
    const spends = plan.spends.map((spend) =>
      spend === honest.state ? { ...spend, redeemer: modifying([...honest.actions, { type: "skip" }]) } : spend
    );
    expect(verdict({ ...plan, spends })).toMatch(/passed over/);
  });
  it("include no request that the owner gives back in full without applying it", () => {
    const junk: RequestSpec = { id: 63, key: "z", requester: BOB };
    const given = output(keyAt(BOB), value(2_000_000n));
    for (const redeemer of [CONTRIBUTE, RETRACT]) {
      const planOf = (action: Data, signers = [OWNER]): Plan => {
        const actions = honest.actions.map((one) => constr(0, one.type === "apply" ? proofData(one.proof) : []));
        const spends = also(honest, { input: requestInput(junk), redeemer }).spends.map((spend) =>
          spend === honest.state ? { ...spend, redeemer: constr(2, [...actions, action]) } : spend
        );
        const [state, ...rest] = honest.outputs;
        return { ...honest, spends, signers, outputs: [state!, ...rest.slice(0, 2), given, ...rest.slice(2)] };
      };
      expect(verdict(planOf(constr(1)))).not.toBe("accepted");
      expect(verdict(planOf(constr(2)))).toMatch(/no such action|retract/);
      expect(verdict(planOf(constr(0, [])))).not.toBe("accepted");
      // the control: its requester signs
      if (redeemer === RETRACT) expect(verdict(planOf(constr(1), [OWNER, BOB]))).toBe("accepted");
    }
  });
  it("do not let a retracted request's output refund an applied one", () => {
    // Bob signs for his retraction, and Alice's refund is missing
    const retracted: Spend = { input: requestInput({ id: 60, key: "z", requester: BOB }), redeemer: RETRACT };
    const base = update([alice]);
    const spends = [...base.spends, retracted].map((spend) =>
      spend === base.state ? { ...spend, redeemer: modifying([{ type: "skip" }, ...base.actions]) } : spend
    );
    const plan = { ...base, spends, signers: [OWNER, BOB] };
    const back = output(keyAt(BOB), value(2_000_000n));
    expect(verdict({ ...plan, outputs: [base.outputs[0]!, back] })).toMatch(/another address/);
    expect(verdict({ ...plan, outputs: [base.outputs[0]!, back, owed(alice)] })).toMatch(/another address/);
    expect(verdict({ ...plan, outputs: [base.outputs[0]!, owed(alice), back] })).toBe("accepted");
    // the same person retracts one and has one applied: one output cannot be both
    const self = update([{ ...alice, requester: BOB }]);
    const both = [...self.spends, retracted].map((spend) =>
      spend === self.state ? { ...spend, redeemer: modifying([{ type: "skip" }, ...self.actions]) } : spend
    );
    expect(verdict({ ...self, spends: both, signers: [OWNER, BOB] })).toBe("accepted");
    expect(verdict({ ...self, spends: both, signers: [OWNER, BOB], outputs: [self.outputs[0]!] })).not.toBe("accepted");
  });
});

describe("other scripts in an update", () => {
  it("do not run, for any purpose", () => {
    const mint = { ...honest, mint: minted([fill(9), fill(1, 3), 1n]) };
    expect(verdict({ ...mint, others: [constr(0, fill(9))] })).toMatch(/another script runs/);
    expect(verdict({ ...honest, others: [constr(2, constr(1, fill(9)))] })).toMatch(/another script runs/);
    expect(verdict({ ...honest, others: [constr(3, 0n, constr(0))] })).toMatch(/another script runs/);
  });
  it("do not include native ones: those may mint", () => {
    expect(verdict({ ...honest, mint: minted([fill(9), fill(1, 3), 1n]) })).toBe("accepted");
  });
});

describe("requests with a stake part in their address", () => {
  it("are applied like others, and cannot be ignored (C9)", () => {
    const staked: RequestSpec = { ...alice, address: scriptAt(POLICY, fill(13)) };
    const plan = update([staked]);
    expect(verdict(plan)).toBe("accepted");
    const swallowed = acting({ ...plan, outputs: [stateOutput(plan.before)] }, modifying([]));
    expect(verdict({ ...swallowed, outputs: [stateOutput(plan.before)] })).not.toBe("accepted");
  });
});

describe("requests that are not at the script (C9)", () => {
  it("are not applied", () => {
    const own = update([{ ...alice, address: WALLET }]);
    expect(verdict({ ...own, spends: own.spends.map((s) => s === own.requests[0] ? { input: s.input } : s) })).toMatch(
      /without a request/,
    );
    const foreign = update([{ ...alice, address: scriptAt(fill(8)) }]);
    const spends = foreign.spends.map((s) => s === foreign.requests[0] ? { ...s, redeemer: constr(0) } : s);
    expect(verdict({ ...foreign, spends })).toMatch(/without a request/);
  });
});

it("accepts no state as a request and no request as a state", () => {
  const plan = update([alice]);
  const [request] = plan.requests;
  const as = (redeemer: Data, target: Spend): Plan => ({
    ...plan,
    spends: plan.spends.map((spend) => spend === target ? { ...spend, redeemer } : spend),
    signers: [OWNER, ALICE],
  });
  expect(verdict(as(modifying([]), request!))).toMatch(/not a state/);
  expect(verdict(as(constr(0), request!))).toMatch(/not a state/);
  expect(verdict(as(RETRACT, plan.state))).toMatch(/not a request/);
  expect(verdict(as(CONTRIBUTE, plan.state))).toMatch(/not a request/);
  expect(verdict(as(constr(5), plan.state))).toMatch(/no such redeemer/);
  expect(verdict(as(constr(4), plan.state))).not.toBe("accepted");
  expect(verdict(as(constr(4), request!))).toMatch(/not a state/);
  expect(verdict(as(constr(5), request!))).toMatch(/not a state/);
  expect((request!.input as Constr).tag).toBe(0);
});
