/** Version 3 of the contract: the owner refuses a request, whose whole deposit returns, in an update that may apply others. */
import { describe, expect, it } from "vitest";
import { type Constr, constr, type Data } from "#src/cardano/data.ts";
import { utf8 } from "#src/base/bytes.ts";
import type { Action } from "#src/contract/redeemer.ts";
import { proofBelowTopBranch, topBranchOf } from "#src/forestry/topBranch.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import {
  ALICE,
  BOB,
  CONTRIBUTE,
  EMPTY,
  END,
  feeInput,
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
  SEED,
  type Spend,
  stateDatum,
  stateOutput,
  stateReference,
  type Update,
  update,
  verdict,
  WALLET,
} from "../../support/contract/contractPlan.ts";
import {
  asVersion3,
  fill,
  input,
  keyAt,
  minted,
  output,
  reference,
  REFUSE,
  scriptAt,
  spending,
  spendingOf,
  value,
} from "../../support/contract/scriptContext.ts";

const junk: RequestSpec = { id: 61, key: "junk", requester: ALICE, refused: true };
const alice: RequestSpec = { id: 62, key: "a", requester: ALICE };
const bob: RequestSpec = { id: 63, key: "b", requester: BOB, fee: 300_000n };
const alone = update([junk]);
const mixed = update([junk, alice, bob, { ...junk, id: 64, requester: BOB }]);
const notReturned = /a deposit that does not return/;
const notTheState = /first output is not the next state/;

/** A plan with another redeemer of its state. */
const acting = (plan: Update, ...actions: Data[]): Plan => ({
  ...plan,
  spends: plan.spends.map((spend) => spend === plan.state ? { ...spend, redeemer: constr(2, actions) } : spend),
});
/** A plan with another redeemer of its first request. */
const spending1 = (plan: Update, redeemer: Data): Plan => ({
  ...plan,
  spends: plan.spends.map((spend) => spend === plan.requests[0] ? { ...spend, redeemer } : spend),
});
/** A plan with other refunds. */
const refunding = (plan: Update, ...refunds: Data[]): Plan => ({
  ...plan,
  outputs: [plan.outputs[0]!, ...refunds, plan.outputs.at(-1)!],
});
const also = (plan: Plan, ...spends: Spend[]): Plan => ({ ...plan, spends: [...plan.spends, ...spends] });
const amount = value(2_000_000n);

describe("an update", () => {
  it("refuses a request, and keeps the root", () => {
    expect(alone.after).toEqual(alone.before);
    expect(verdict(alone)).toBe("accepted");
  });
  it("refuses some and applies others, in any order", () => {
    expect(verdict(mixed)).toBe("accepted");
    expect(verdict(update([alice, { ...junk, id: 63 }, { ...bob, id: 210 }]))).toBe("accepted");
    expect(verdict(update([{ ...junk, id: 61 }, { ...junk, id: 62 }, { ...junk, id: 230, requester: BOB }]))).toBe(
      "accepted",
    );
  });
  it("refuses a request whose change is impossible, or would be possible", () => {
    const facts = Forestry.from([leafOf(utf8("a"), utf8("v"))]);
    expect(verdict(update([{ ...junk, key: "a" }], facts))).toBe("accepted");
    expect(verdict(update([{ ...junk, key: "b" }], facts))).toBe("accepted");
  });
  it("refuses and applies with a crown", () => {
    const facts = Forestry.from(Array.from({ length: 200 }, (_, i) => leafOf(utf8(`${i}`), utf8("v"))));
    const plan = update([junk, { ...alice, id: 62 }, { ...junk, id: 63 }, { ...bob, id: 64 }], facts);
    const crown = topBranchOf(facts)!;
    const actions = plan.actions.map((action): Action =>
      action.type === "apply" ? { type: "apply", proof: proofBelowTopBranch(action.proof)! } : action
    );
    const crowned = (actions: readonly Action[]): Plan => ({
      ...plan,
      spends: plan.spends.map((one) => one === plan.state ? { ...one, redeemer: modifying(actions, crown) } : one),
    });
    expect(verdict(crowned(actions))).toBe("accepted");
    expect(verdict({ ...crowned(actions), outputs: [stateOutput(plan.before), ...plan.outputs.slice(1)] })).toMatch(
      notTheState,
    );
    const refusing = update([junk], facts);
    const kept = refusing.spends.map((one) =>
      one === refusing.state ? { ...one, redeemer: modifying([{ type: "refuse" }], crown) } : one
    );
    expect(verdict({ ...refusing, spends: kept })).toBe("accepted");
  });
  it("refuses one and passes over another that is retracted", () => {
    const retracted: Spend = { input: requestInput({ id: 65, key: "z", requester: BOB }), redeemer: RETRACT };
    const plan = also(acting(alone, constr(2), constr(1)), retracted);
    expect(verdict({ ...plan, signers: [OWNER, BOB] })).toBe("accepted");
    expect(verdict({ ...plan, signers: [OWNER] })).not.toBe("accepted");
    // the actions exchanged
    expect(verdict({ ...also(acting(alone, constr(1), constr(2)), retracted), signers: [OWNER, ALICE, BOB] })).not
      .toBe("accepted");
  });
  it("refuses one and changes the owner, who signs", () => {
    const given: Plan = { ...alone, outputs: [stateOutput(alone.after, { owner: BOB }), ...alone.outputs.slice(1)] };
    expect(verdict(given)).toMatch(/next owner did not sign/);
    expect(verdict({ ...given, signers: [OWNER, BOB] })).toBe("accepted");
  });
  it("requires the owner's signature, not the requester's", () => {
    for (const signers of [[], [MALLORY], [ALICE], [ALICE, BOB]]) {
      expect(verdict({ ...alone, signers })).toMatch(/not signed by the token's owner/);
      expect(verdict({ ...mixed, signers })).toMatch(/not signed by the token's owner/);
    }
  });
  it("makes no change of what it refuses", () => {
    const applied = update([{ ...junk, refused: false }]);
    expect(verdict({ ...alone, outputs: [applied.outputs[0]!, ...alone.outputs.slice(1)] })).toMatch(notTheState);
    expect(verdict({ ...alone, outputs: [stateOutput(fill(0xab, 32)), ...alone.outputs.slice(1)] })).toMatch(
      notTheState,
    );
  });
  it("keeps the token in its state", () => {
    const stub = output(SCRIPT, amount, stateDatum(alone.after));
    expect(verdict({ ...alone, outputs: [stub, ...alone.outputs.slice(1)] })).not.toBe("accepted");
    const moved = stateOutput(alone.after, { address: WALLET });
    expect(verdict({ ...alone, outputs: [moved, ...alone.outputs.slice(1)] })).toMatch(notTheState);
  });
  it("has an action for each request that it refuses", () => {
    expect(verdict(acting(alone))).not.toBe("accepted");
    expect(verdict(acting(alone, constr(2), constr(2)))).toMatch(/without a request/);
    for (const tag of [3, 4, 7, 127]) expect(verdict(acting(alone, constr(tag)))).not.toBe("accepted");
  });
});

describe("the refund of a refused request", () => {
  it("is the whole deposit, neither less nor more: the offered fee is not taken", () => {
    for (const other of [1_999_999n, 1_500_000n, 0n, 2_000_001n]) {
      expect(verdict(refunding(alone, output(keyAt(ALICE), value(other))))).toMatch(notReturned);
    }
    const applied = owed({ ...junk, refused: false });
    expect(verdict(refunding(mixed, applied, ...mixed.outputs.slice(2, 5)))).toMatch(notReturned);
    // not even where the refunds of others exceed what they are owed
    const more = output(keyAt(ALICE), value(9_000_000n));
    expect(verdict(refunding(mixed, applied, more, ...mixed.outputs.slice(3, 5)))).toMatch(notReturned);
  });
  it("goes to the whole address", () => {
    for (const address of [keyAt(MALLORY), WALLET, keyAt(ALICE, fill(13)), scriptAt(ALICE), SCRIPT]) {
      expect(verdict(refunding(alone, output(address, amount)))).toMatch(notReturned);
    }
    const staked = update([{ ...junk, refund: keyAt(ALICE, fill(13)) }]);
    expect(verdict(staked)).toBe("accepted");
    for (const address of [keyAt(ALICE), keyAt(ALICE, fill(12)), keyAt(MALLORY, fill(13))]) {
      expect(verdict(refunding(staked, output(address, amount)))).toMatch(notReturned);
    }
  });
  it("is what the request holds and nothing else, without datum or script", () => {
    const dust = output(keyAt(ALICE), value(2_000_000n, [fill(9), fill(1, 3), 1n]));
    expect(verdict(refunding(alone, dust))).toMatch(notReturned);
    expect(verdict(refunding(alone, output(keyAt(ALICE), amount, 0n)))).toMatch(notReturned);
    for (const parts of [[constr(1, fill(3, 32)), constr(1)], [constr(0), constr(0, fill(7))]]) {
      expect(verdict(refunding(alone, constr(0, keyAt(ALICE), amount, ...parts)))).toMatch(notReturned);
    }
  });
  it("is one for each request, of one person too, and of an applied and a refused one", () => {
    const two = update([junk, { ...junk, id: 62 }]);
    expect(verdict(two)).toBe("accepted");
    expect(verdict(refunding(two, output(keyAt(ALICE), value(4_000_000n))))).not.toBe("accepted");
    for (const specs of [[junk, alice], [{ ...alice, id: 61 }, { ...junk, id: 62 }]]) {
      const both = update(specs);
      expect(verdict(both)).toBe("accepted");
      expect(verdict(refunding(both, output(keyAt(ALICE), value(4_000_000n))))).not.toBe("accepted");
      expect(verdict(refunding(both, owed(alice)))).not.toBe("accepted");
    }
  });
  it("comes in the order of the requests, beside those of applied ones", () => {
    const plan = update([junk, bob]);
    expect(verdict(plan)).toBe("accepted");
    expect(verdict(refunding(plan, owed(bob), owed(junk)))).toMatch(notReturned);
    expect(verdict(refunding(alone, output(WALLET, amount), owed(junk)))).toMatch(notReturned);
    expect(verdict(refunding(alone))).not.toBe("accepted");
  });
});

describe("what a request's own redeemer says", () => {
  it("is that it is refused, and then no other action goes with it", () => {
    const applied = update([{ ...junk, refused: false }]);
    const proof = (applied.state.redeemer as Constr).fields[0] as readonly Data[];
    // applied, with the redeemer of a refused one
    expect(verdict(spending1(applied, REFUSE))).not.toBe("accepted");
    expect(verdict({ ...acting(alone, ...proof), outputs: applied.outputs })).not.toBe("accepted");
    // passed over, with the requester's signature
    const passed = { ...acting(alone, constr(1)), signers: [OWNER, ALICE] };
    expect(verdict({ ...passed, outputs: [alone.outputs[0]!, output(WALLET, amount)] })).not.toBe("accepted");
  });
  it("is not that it contributes or is retracted, where it is refused", () => {
    expect(verdict(spending1(alone, CONTRIBUTE))).not.toBe("accepted");
    expect(verdict({ ...spending1(alone, RETRACT), signers: [OWNER, ALICE] })).not.toBe("accepted");
    for (const other of [constr(5), constr(6, 0n), constr(2), [], utf8("x")] as Data[]) {
      expect(verdict(spending1(alone, other))).not.toBe("accepted");
    }
  });
  it("is a number below 0 that gives the index of its input", () => {
    const plan = update([alice, { ...junk, id: 63 }, { ...junk, id: 230 }]);
    const saying = (at: number, number: bigint): Plan => ({
      ...plan,
      spends: plan.spends.map((one) => one === plan.requests[at] ? { ...one, redeemer: number } : one),
    });
    expect(verdict(saying(1, -2n))).toBe("accepted");
    expect(verdict(saying(2, -5n))).toBe("accepted");
    for (const wrong of [-1n, -3n, -4n, -5n, -6n, -100n, -(1n << 64n), 0n, 1n, 2n]) {
      expect(verdict(saying(1, wrong))).not.toBe("accepted");
    }
    for (const wrong of [-1n, -4n, -6n, 4n, 5n]) expect(verdict(saying(2, wrong))).not.toBe("accepted");
    // an applied one
    for (const wrong of [-1n, -2n, -100n]) expect(verdict(saying(0, wrong))).not.toBe("accepted");
  });
  it("is any number below 0 for the first input, and no other number", () => {
    const saying = (number: bigint) => verdict(spending1(alone, number));
    for (const number of [-1n, -2n, -100n]) expect(saying(number)).toBe("accepted");
    for (const number of [0n, 1n, 2n, 100n]) expect(saying(number)).not.toBe("accepted");
  });
});

describe("a refused request", () => {
  it("is of the updated token", () => {
    for (const name of [OTHER_NAME, fill(7, 32)]) {
      const other: Spend = { input: requestInput({ ...junk, name }), redeemer: REFUSE };
      const plan = update([]);
      expect(verdict(also(plan, other))).toMatch(/not updated/);
      const refunded = refunding(plan, owed(junk));
      expect(verdict(also({ ...refunded, spends: acting(plan, constr(2)).spends }, other))).toMatch(/not updated/);
    }
  });
  it("names the policy of its own script", () => {
    const theirs = fill(77);
    const token = output(scriptAt(theirs), value(2_000_000n, [theirs, NAME, 1n]));
    const trap: Spend = { input: input(reference(62), token), redeemer: constr(0) };
    const plan = (redeemer: bigint): Plan => ({
      spends: [{ input: requestInput({ ...junk, policy: theirs }), redeemer }, trap, feeInput],
      outputs: [token, output(WALLET, value(1n))],
      signers: [MALLORY],
    });
    // each as its own input, and as the attacker's beside it
    for (const number of [-1n, -2n, -3n]) expect(verdict(plan(number))).not.toBe("accepted");
    expect(verdict(plan(-1n))).toMatch(/another policy/);
    const second: Plan = {
      ...plan(-1n),
      spends: [{ input: requestInput({ ...junk, id: 63, policy: theirs }), redeemer: -2n }, trap, feeInput],
    };
    expect(verdict({ ...second, spends: [{ ...second.spends[0]!, redeemer: -1n }, trap, feeInput] })).toMatch(
      /not the index/,
    );
    expect(verdict(second)).toMatch(/another policy/);
  });
  it("is not spent without an update: not alone, with the end, or with the boot of its token", () => {
    const request = alone.requests[0]!;
    expect(verdict({ spends: [request], outputs: [], signers: [OWNER, ALICE] })).not.toBe("accepted");
    expect(verdict({ spends: [request], outputs: [owed(junk)], signers: [OWNER] })).not.toBe("accepted");
    const state: Spend = { input: input(stateReference, stateOutput(EMPTY)), redeemer: END };
    const ending: Plan = {
      spends: [state, feeInput],
      outputs: [output(WALLET, amount)],
      mint: minted([POLICY, NAME, -1n]),
      mintRedeemer: constr(1),
      signers: [OWNER],
    };
    expect(verdict(ending)).toBe("accepted");
    expect(verdict(also(ending, request))).not.toBe("accepted");
    expect(verdict({ ...also(ending, request), outputs: [stateOutput(EMPTY), owed(junk)] })).toMatch(/mints or burns/);
    const born: Plan = {
      spends: [{ input: input(SEED, output(keyAt(MALLORY), value(5_000_000n))) }],
      outputs: [stateOutput(EMPTY, { owner: MALLORY })],
      mint: minted([POLICY, NAME, 1n]),
      mintRedeemer: constr(0, constr(0, SEED)),
      signers: [MALLORY],
    };
    expect(verdict(born)).toBe("accepted");
    expect(verdict({ ...also(born, request), outputs: [...born.outputs, owed(junk)] })).toMatch(/mints or burns/);
  });
  it("cannot be left out of the actions", () => {
    expect(verdict(also(update([]), alone.requests[0]!))).not.toBe("accepted");
  });
  it("may hold assets, which return as well", () => {
    const held = value(2_000_000n, [fill(9), fill(1, 3), 1n], [fill(10), fill(1, 3), 5n]);
    const plan = update([{ ...junk, value: held }]);
    expect(verdict(refunding(plan, output(keyAt(ALICE), held)))).toBe("accepted");
    const less = [value(2_000_000n), value(2_000_000n, [fill(9), fill(1, 3), 1n]), value(1n)];
    const other = [
      value(2_000_000n, [fill(9), fill(1, 3), 1n], [fill(10), fill(1, 3), 4n]),
      value(2_000_000n, [fill(9), fill(1, 3), 1n], [fill(10), fill(2, 3), 5n]),
      value(1_999_999n, [fill(9), fill(1, 3), 1n], [fill(10), fill(1, 3), 5n]),
    ];
    for (const held of [...less, ...other]) {
      expect(verdict(refunding(plan, output(keyAt(ALICE), held)))).toMatch(notReturned);
    }
    // a unit of a token of the policy at the contract is in its state: it cannot be held by a request
    expect(verdict(update([{ ...alice, value: held }]))).toMatch(/holds assets/);
  });
  it("may offer whatever it likes, which is not taken", () => {
    for (const fee of [-1n, 0n, 2_000_000n, 2_000_001n, 1n << 80n]) {
      expect(verdict(update([{ ...junk, fee }]))).toBe("accepted");
      expect(verdict(refunding(update([{ ...junk, fee }]), output(keyAt(ALICE), value(1_999_999n))))).toMatch(
        notReturned,
      );
    }
  });
  it("returns where it says, also to an address that no update pays", () => {
    const pointer = constr(0, constr(0, ALICE), constr(0, constr(1, 1n, 2n, 3n)));
    for (const refund of [scriptAt(ALICE), pointer]) {
      const plan = update([{ ...junk, refund }]);
      expect(verdict(plan)).toBe("accepted");
      expect(verdict(refunding(plan, output(keyAt(ALICE), amount)))).toMatch(notReturned);
      expect(verdict(update([{ ...junk, refund, refused: false }]))).not.toBe("accepted");
    }
  });
  it("needs no more of a request's form than its token and refund address", () => {
    const [token, refund, key, operation] = [constr(0, POLICY, NAME), keyAt(ALICE), utf8("a"), constr(0, utf8("v"))];
    const of = (...fields: Data[]) => update([{ ...junk, datum: constr(0, constr(0, ...fields)) }]);
    const odd: Data[][] = [
      [0n, key, operation],
      [0n, 5n, constr(7)],
      [0n, [], 0n],
      [utf8("1"), key, operation],
      [0n, key, operation, 0n],
      [0n],
      [],
    ];
    for (const fields of odd) {
      const plan = of(token, refund, ...fields);
      expect(verdict(plan)).toBe("accepted");
      expect(verdict(refunding(plan, output(WALLET, amount)))).toMatch(notReturned);
      expect(verdict({ ...plan, signers: [ALICE] })).toMatch(/not signed by the token's owner/);
    }
    for (const other of [constr(0, POLICY, NAME, 0n), constr(1, POLICY, NAME), constr(0, POLICY), 5n] as Data[]) {
      expect(verdict(of(other, refund, 0n, key, operation))).not.toBe("accepted");
    }
    expect(verdict(of(token))).not.toBe("accepted");
    expect(verdict(of(token, 5n, 0n, key, operation))).not.toBe("accepted");
  });
  it("may be at an address with a stake part", () => {
    expect(verdict(update([{ ...junk, address: scriptAt(POLICY, fill(13)) }]))).toBe("accepted");
  });
  it("does not let a second state or another script run", () => {
    const second = input(reference(201), stateOutput(EMPTY, { name: OTHER_NAME }));
    expect(verdict(also(alone, { input: second, redeemer: modifying([]) }))).toMatch(/second state/);
    const foreign = input(reference(66), output(scriptAt(fill(8)), amount));
    expect(verdict(also(alone, { input: foreign, redeemer: constr(0) }))).toMatch(/another script runs/);
    expect(verdict({ ...alone, others: [constr(2, fill(9))] })).toMatch(/another script runs/);
  });
  it("can still be retracted by its requester alone", () => {
    const retracting: Plan = {
      spends: [{ ...alone.requests[0]!, redeemer: RETRACT }],
      outputs: [output(keyAt(ALICE), value(1_800_000n))],
      signers: [ALICE],
    };
    expect(verdict(retracting)).toBe("accepted");
    expect(verdict({ ...retracting, signers: [OWNER] })).toMatch(/retract/);
  });
});

it("refuses no state", () => {
  const state: Spend = { ...alone.state, redeemer: REFUSE };
  expect(verdict({ ...alone, spends: [state, feeInput] })).not.toBe("accepted");
});

it("is written with a number in contexts of version 3", () => {
  const [request] = alone.requests as [Spend];
  const inputs = [request.input, alone.state.input];
  const tx = { inputs, outputs: alone.outputs, runs: [[spendingOf(request.input), REFUSE] as const] };
  const context = asVersion3(spending(tx, request.input, REFUSE)) as Constr;
  expect(context.fields[1]).toBe(-1n);
});
