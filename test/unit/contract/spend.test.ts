import { describe, expect, it } from "vitest";
import { constr, type Data } from "#src/cardano/data.ts";
import { utf8 } from "#src/base/bytes.ts";
import {
  fill,
  input,
  keyAt,
  minted,
  output,
  reference,
  run,
  scriptAt,
  spending,
  value,
} from "../../support/contract/scriptContext.ts";
import { validator } from "#src/contract/validator/validator.ts";
import {
  ALICE,
  CONTRIBUTE,
  EMPTY,
  END,
  feeInput,
  MALLORY,
  modifying,
  NAME,
  OTHER_NAME,
  OWNER,
  type Plan,
  POLICY,
  requestInput,
  RETRACT,
  SCRIPT,
  SEED,
  type Spend,
  stateDatum,
  stateOutput,
  stateReference,
  update,
  verdict,
  WALLET,
} from "../../support/contract/contractPlan.ts";

const state: Spend = { input: input(stateReference, stateOutput(EMPTY)), redeemer: END };
const ending: Plan = {
  spends: [state, feeInput],
  outputs: [output(WALLET, value(2_000_000n))],
  mint: minted([POLICY, NAME, -1n]),
  mintRedeemer: constr(1),
  signers: [OWNER],
};
const also = (plan: Plan, ...spends: Spend[]): Plan => ({ ...plan, spends: [...plan.spends, ...spends] });

describe("ending a token", () => {
  it("burns it", () => expect(verdict(ending)).toBe("accepted"));
  it("requires the owner's signature", () => {
    expect(verdict({ ...ending, signers: [MALLORY] })).toMatch(/not signed by the token's owner/);
  });
  it("burns exactly this token", () => {
    for (
      const mint of [
        minted(),
        minted([POLICY, OTHER_NAME, -1n]),
        minted([POLICY, NAME, -2n]),
        minted([POLICY, NAME, 1n]),
        minted([POLICY, NAME, -1n], [POLICY, OTHER_NAME, -1n]),
        minted([fill(9), NAME, -1n]),
      ]
    ) expect(verdict({ ...ending, mint })).not.toBe("accepted");
  });
  it("does not restrict other policies", () => {
    expect(verdict({ ...ending, mint: minted([fill(0), NAME, 1n], [POLICY, NAME, -1n]) })).toBe("accepted");
  });
  it("does not end two at once", () => {
    const other: Spend = { input: input(reference(201), stateOutput(EMPTY, { name: OTHER_NAME })), redeemer: END };
    const mint = minted([POLICY, NAME, -1n], [POLICY, OTHER_NAME, -1n]);
    expect(verdict({ ...also(ending, other), mint })).toMatch(/not exactly this token/);
  });
  it("is refused for an output without the token", () => {
    const stub: Spend = {
      input: input(reference(201), output(SCRIPT, value(2_000_000n), stateDatum(EMPTY))),
      redeemer: END,
    };
    expect(verdict({ ...ending, spends: [stub, feeInput] })).not.toBe("accepted");
    expect(verdict(also(ending, stub))).not.toBe("accepted");
  });
  it("takes no requests' deposits (C6, F)", () => {
    const request: Spend = { input: requestInput({}), redeemer: CONTRIBUTE };
    expect(verdict(also(ending, request))).toMatch(/contribute/);
    const back = { ...also(ending, request), outputs: [stateOutput(EMPTY), output(WALLET, value(1n))] };
    expect(verdict(back)).toMatch(/contribute/);
  });
  it("may include a retracted request", () => {
    const request: Spend = { input: requestInput({}), redeemer: RETRACT };
    expect(verdict({ ...also(ending, request), signers: [OWNER, ALICE] })).toBe("accepted");
    expect(verdict(also(ending, request))).toMatch(/retract/);
  });
  it("does not end one token and update another", () => {
    const plan = update([]);
    const other: Spend = { input: input(reference(201), stateOutput(EMPTY, { name: OTHER_NAME })), redeemer: END };
    const both = { ...also(plan, other), mint: minted([POLICY, OTHER_NAME, -1n]), mintRedeemer: constr(1) };
    expect(verdict(both)).toMatch(/second state/);
  });
});

describe("retracting a request", () => {
  const request: Spend = { input: requestInput({}), redeemer: RETRACT };
  const retracting: Plan = { spends: [request], outputs: [output(keyAt(ALICE), value(1_800_000n))], signers: [ALICE] };
  it("requires the requester's signature, and no token (N2, N3)", () => expect(verdict(retracting)).toBe("accepted"));
  it("is refused without it", () => {
    expect(verdict({ ...retracting, signers: [OWNER, MALLORY] })).toMatch(/retract/);
    expect(verdict({ ...retracting, signers: [] })).toMatch(/retract/);
  });
  it("requires the payment key, with any stake part", () => {
    const staked: Spend = { input: requestInput({ refund: keyAt(ALICE, fill(13)) }), redeemer: RETRACT };
    expect(verdict({ ...retracting, spends: [staked] })).toBe("accepted");
    expect(verdict({ ...retracting, spends: [staked], signers: [fill(13)] })).toMatch(/retract/);
  });
  it("works for a request that no update could apply", () => {
    const held = value(2_000_000n, [fill(9), fill(1, 3), 1n]);
    const odd = constr(0, constr(0, 7n, keyAt(ALICE), -5n));
    for (
      const input of [
        requestInput({ value: held }),
        requestInput({ datum: odd }),
        requestInput({ fee: 1n << 90n }),
        requestInput({ name: OTHER_NAME, policy: fill(9) }),
        requestInput({ address: scriptAt(POLICY, fill(13)) }),
      ]
    ) {
      expect(verdict({ ...retracting, spends: [{ input, redeemer: RETRACT }] })).toBe("accepted");
      expect(verdict({ ...retracting, spends: [{ input, redeemer: RETRACT }], signers: [OWNER] })).toMatch(/retract/);
    }
  });
  it("works for several at once", () => {
    const many = [61, 62, 63].map((id): Spend => ({ input: requestInput({ id }), redeemer: RETRACT }));
    expect(verdict({ ...retracting, spends: many })).toBe("accepted");
  });
});

describe("contributing a request", () => {
  const request: Spend = { input: requestInput({ key: "a" }), redeemer: CONTRIBUTE };
  const thieving = (plan: Partial<Plan>): Plan => ({ spends: [request], outputs: [], signers: [MALLORY], ...plan });
  it("requires an update of its token", () => {
    expect(verdict(thieving({ outputs: [output(keyAt(MALLORY), value(2_000_000n))] }))).toMatch(/not updated/);
  });
  it("is refused with a token of the same name under another policy (C3)", () => {
    const foreign = fill(9);
    const fake = output(keyAt(MALLORY), value(2_000_000n, [foreign, NAME, 1n]), stateDatum(EMPTY, MALLORY));
    expect(verdict(thieving({ outputs: [fake], mint: minted([foreign, NAME, 1n]) }))).toMatch(/not updated/);
    expect(verdict(thieving({ outputs: [fake] }))).toMatch(/not updated/);
    const held = input(reference(70), fake);
    expect(verdict(thieving({ spends: [request, { input: held }], outputs: [fake] }))).toMatch(/not updated/);
  });
  it("is refused for a request that names another policy", () => {
    const foreign = fill(9);
    const naming: Spend = { input: requestInput({ policy: foreign }), redeemer: CONTRIBUTE };
    const fake = output(keyAt(MALLORY), value(2_000_000n, [foreign, NAME, 1n]));
    expect(verdict(thieving({ spends: [naming], outputs: [fake] }))).toMatch(/another policy/);
  });
  it("is refused with the boot of the token it names", () => {
    const seed: Spend = { input: input(SEED, output(keyAt(MALLORY), value(5_000_000n))) };
    const born: Plan = {
      spends: [seed],
      outputs: [stateOutput(EMPTY, { owner: MALLORY })],
      mint: minted([POLICY, NAME, 1n]),
      mintRedeemer: constr(0, constr(0, SEED)),
      signers: [MALLORY],
    };
    expect(verdict(born)).toBe("accepted");
    expect(verdict(also(born, request))).toMatch(/mints or burns/);
  });
  it("is refused with an update of another token", () => {
    const plan = update([]);
    expect(verdict(also(plan, { input: requestInput({ name: OTHER_NAME }), redeemer: CONTRIBUTE }))).toMatch(
      /not updated/,
    );
  });
  it("is refused with a token next to others in the first output", () => {
    const plan = update([{ key: "a" }]);
    const held = value(2_000_000n, [POLICY, NAME, 1n], [fill(9), fill(1, 3), 1n]);
    const outputs = [output(SCRIPT, held, stateDatum(plan.after)), ...plan.outputs.slice(1)];
    expect(verdict({ ...plan, outputs })).toMatch(/not updated/);
  });
  it("is not skipped under a token name in another form", () => {
    const odd = constr(
      0,
      constr(0, constr(0, POLICY, NAME, 0n), keyAt(ALICE), 500_000n, utf8("a"), constr(0, utf8("v"))),
    );
    expect(verdict(also(update([]), { input: requestInput({ datum: odd }), redeemer: CONTRIBUTE }))).toMatch(
      /contribute/,
    );
    const tagged = constr(
      0,
      constr(0, constr(1, POLICY, NAME), keyAt(ALICE), 500_000n, utf8("a"), constr(0, utf8("v"))),
    );
    expect(verdict(also(update([]), { input: requestInput({ datum: tagged }), redeemer: CONTRIBUTE }))).toMatch(
      /contribute/,
    );
  });
  it("is applied or not spent: an update cannot ignore it", () => {
    const plan = update([]);
    expect(verdict(also(plan, request))).not.toBe("accepted");
    const spends = [...plan.spends, request].map((spend) =>
      spend === plan.state ? { ...spend, redeemer: modifying([{ type: "skip" }]) } : spend
    );
    expect(verdict({ ...plan, spends })).toMatch(/passed over/);
  });
});

describe("an output at the script", () => {
  const tx = { inputs: [], outputs: [], signers: [OWNER, ALICE] };
  it("without a datum, or with any other, stays", () => {
    const bare = input(reference(61), output(SCRIPT, value(2_000_000n)));
    const redeemers: Data[] = [END, CONTRIBUTE, RETRACT, modifying([]), constr(0, 0n), 5n, utf8("x")];
    for (const redeemer of redeemers) {
      expect(run(validator, spending({ ...tx, inputs: [bare] }, bare, redeemer)).ok).toBe(false);
      for (const datum of [5n, utf8("x"), [], constr(0), constr(2, constr(0, OWNER, EMPTY)), constr(7)] as Data[]) {
        const odd = input(reference(61), output(SCRIPT, value(2_000_000n), datum));
        expect(run(validator, spending({ ...tx, inputs: [odd] }, odd, redeemer)).ok).toBe(false);
      }
    }
  });
  it("is no vote, certificate or withdrawal", () => {
    const own = requestInput({});
    const good = spending({ ...tx, inputs: [own] }, own, RETRACT);
    expect(run(validator, good).ok).toBe(true);
    const fields = (good as unknown as { fields: Data[] }).fields;
    for (const tag of [2, 3, 4, 5]) {
      expect(run(validator, constr(0, fields[0]!, RETRACT, constr(tag, constr(0, POLICY)))).message).toMatch(
        /no such purpose/,
      );
    }
  });
});
