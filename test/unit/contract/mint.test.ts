import { describe, expect, it } from "vitest";
import { constr, type Data } from "#src/cardano/data.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { concat } from "#src/base/bytes.ts";
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
import {
  EMPTY,
  MALLORY,
  NAME,
  OTHER_NAME,
  OWNER,
  type Plan,
  POLICY,
  SCRIPT,
  SEED,
  stateDatum,
  stateOutput,
  verdict,
  WALLET,
} from "../../support/contract/contractPlan.ts";

const MINT: Data = constr(0, constr(0, SEED));
const BURN: Data = constr(1);
const seed = { input: input(SEED, output(WALLET, value(5_000_000n))) };
const birth: Plan = {
  spends: [seed],
  outputs: [stateOutput(EMPTY), output(WALLET, value(3_000_000n))],
  mint: minted([POLICY, NAME, 1n]),
  mintRedeemer: MINT,
  signers: [OWNER],
};
const notTheState = /first output is not the next state/;
/** A birth whose first output is another one. */
const with0 = (first: Data): Plan => ({ ...birth, outputs: [first, ...birth.outputs.slice(1)] });

describe("a new token", () => {
  it("is minted", () => expect(verdict(birth)).toBe("accepted"));
  it("may be minted along with tokens of other policies", () => {
    const mint = minted([fill(0), fill(1, 3), 7n], [POLICY, NAME, 1n], [fill(9), fill(1, 3), -7n]);
    expect(verdict({ ...birth, mint })).toBe("accepted");
  });
  it("has one unit", () => {
    expect(verdict({ ...birth, mint: minted([POLICY, NAME, 2n]) })).toMatch(/not one token/);
    const two = output(SCRIPT, value(2_000_000n, [POLICY, NAME, 2n]), stateDatum(EMPTY));
    expect(verdict({ ...with0(two), mint: minted([POLICY, NAME, 2n]) })).toMatch(/not one token/);
    expect(verdict({ ...birth, mint: minted([POLICY, NAME, -1n]) })).toMatch(/not one token/);
  });
  it("is named after the seed", () => {
    expect(verdict({ ...birth, mint: minted([POLICY, OTHER_NAME, 1n]) })).toMatch(/not one token/);
  });
  it("comes alone (C5)", () => {
    const mint = minted([POLICY, NAME, 1n], [POLICY, OTHER_NAME, 1n]);
    expect(verdict({ ...birth, mint })).toMatch(/not one token/);
    expect(verdict({ ...birth, mint: minted([POLICY, OTHER_NAME, -1n], [POLICY, NAME, 1n]) })).toMatch(/not one token/);
  });
  it("is booted once: its seed is spent", () => {
    const other = { input: input(reference(49), output(WALLET, value(5_000_000n))) };
    expect(verdict({ ...birth, spends: [other] })).not.toBe("accepted");
    expect(verdict({ ...birth, spends: [other, seed] })).toBe("accepted");
  });
  it("is in the first output (C5)", () => {
    expect(verdict(with0(output(SCRIPT, value(2_000_000n), stateDatum(EMPTY))))).toMatch(notTheState);
    expect(verdict({ ...birth, outputs: [...birth.outputs].reverse() })).not.toBe("accepted");
  });
  it("is at the script, without a stake part", () => {
    expect(verdict(with0(stateOutput(EMPTY, { address: keyAt(OWNER) })))).toMatch(notTheState);
    expect(verdict(with0(stateOutput(EMPTY, { address: scriptAt(fill(8)) })))).toMatch(notTheState);
    expect(verdict(with0(stateOutput(EMPTY, { address: scriptAt(POLICY, OWNER) })))).toMatch(notTheState);
    expect(verdict(with0(stateOutput(EMPTY, { address: keyAt(POLICY) })))).toMatch(notTheState);
  });
  it("has no facts", () => {
    expect(verdict(with0(stateOutput(fill(1, 32))))).toMatch(notTheState);
    expect(verdict(with0(stateOutput(new Uint8Array(31))))).toMatch(notTheState);
  });
  it("is alone in its output", () => {
    const junk = output(SCRIPT, value(2_000_000n, [POLICY, NAME, 1n], [fill(9), fill(1, 3), 1n]), stateDatum(EMPTY));
    expect(verdict(with0(junk))).toMatch(notTheState);
    const before = output(SCRIPT, value(2_000_000n, [fill(0), fill(1, 3), 1n], [POLICY, NAME, 1n]), stateDatum(EMPTY));
    expect(verdict(with0(before))).toMatch(notTheState);
    const script = output(SCRIPT, value(2_000_000n, [POLICY, NAME, 1n]), stateDatum(EMPTY), fill(7));
    expect(verdict(with0(script))).toMatch(notTheState);
  });
  it("has a datum of one form", () => {
    const held = value(2_000_000n, [POLICY, NAME, 1n]);
    for (
      const datum of [
        constr(1, constr(0, OWNER, EMPTY, 0n)),
        constr(1, constr(0, OWNER, EMPTY), 0n),
        constr(2, constr(0, OWNER, EMPTY)),
        constr(0, constr(0, OWNER, EMPTY)),
        constr(1, constr(1, OWNER, EMPTY)),
        constr(1, constr(0, OWNER)),
        constr(1, constr(0, 5n, EMPTY)),
        5n,
      ]
    ) expect(verdict(with0(output(SCRIPT, held, datum)))).not.toBe("accepted");
    expect(verdict(with0(output(SCRIPT, held)))).not.toBe("accepted");
    expect(verdict(with0(constr(0, SCRIPT, held, constr(1, fill(3, 32)), constr(1))))).not.toBe("accepted");
  });
  it("has an owner who signs", () => {
    expect(verdict({ ...birth, signers: [MALLORY] })).toMatch(/owner/);
    expect(verdict({ ...birth, signers: [] })).toMatch(/owner/);
    expect(verdict(with0(stateOutput(EMPTY, { owner: fill(2, 27) })))).toMatch(/owner/);
  });
  it("takes indices of two bytes", () => {
    const seeded = (index: number): Plan => {
      const name = sha256(concat(fill(50, 32), Uint8Array.of(index >> 8, index & 255)));
      return {
        ...birth,
        spends: [{ input: input(reference(50, index), output(WALLET, value(5_000_000n))) }],
        outputs: [stateOutput(EMPTY, { name })],
        mint: minted([POLICY, name, 1n]),
        mintRedeemer: constr(0, constr(0, reference(50, index))),
      };
    };
    for (const index of [0, 255, 256, 65_535]) expect(verdict(seeded(index))).toBe("accepted");
    expect(verdict(seeded(65_536))).not.toBe("accepted");
  });
});

describe("burning", () => {
  const burn = (mint: Data): Plan => ({ spends: [seed], outputs: [], mint, mintRedeemer: BURN, signers: [] });
  it("decreases the quantity", () => {
    expect(verdict(burn(minted([POLICY, NAME, -1n])))).toBe("accepted");
    expect(verdict(burn(minted([POLICY, NAME, -1n], [POLICY, OTHER_NAME, -3n])))).toBe("accepted");
  });
  it("adds nothing (C1, E)", () => {
    expect(verdict(burn(minted([POLICY, NAME, 1000n])))).toMatch(/something is minted/);
    expect(verdict(burn(minted([POLICY, NAME, -1n], [POLICY, OTHER_NAME, 1n])))).toMatch(/something is minted/);
    expect(verdict(burn(minted([POLICY, NAME, 0n])))).toMatch(/something is minted/);
  });
  it("is the only other redeemer", () => {
    expect(verdict({ ...burn(minted([POLICY, NAME, -1n])), mintRedeemer: constr(2) })).toMatch(/no such redeemer/);
  });
});
