import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { created } from "#src/cardano/block.ts";
import { Tagged } from "#src/cardano/cbor.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace } from "#src/cardano/value.ts";
import { addressesIn, type OwnSide, stakesIn, walletEffect } from "#src/wallets/index/walletEffect.ts";
import { type Parts, transactionOf } from "../../../support/wallets/walletIndexModel.ts";

const mine = `60${"11".repeat(28)}`;
const foreign = `60${"22".repeat(28)}`;
const hash = "33".repeat(28);
const ref = { txHash: "44".repeat(32), index: 0 };
const other = { txHash: "55".repeat(32), index: 1 };
const out = (address: string, amount: bigint) => ({ address, value: lovelace(amount) });
const output = (address: string, amount: bigint): Output => ({ ...out(address, amount), raw: new Uint8Array() });
const DEPOSIT = 2_000_000n;

function weighed(parts: Partial<Parts>, inputs: [typeof ref, bigint][] = []) {
  const transaction = scanTransaction(transactionOf({ inputs: [ref], outputs: [], fee: 170_000n, ...parts }));
  const own: OwnSide = {
    inputs: new Map(inputs.map(([one, amount]) => [refKey(one), output(mine, amount)])),
    outputs: new Map(
      created(transaction).filter((one) => one.output.address === mine).map((one) => [one.ref.index, one.output]),
    ),
    stake: `key-${hash}`,
  };
  return { transaction, own, weight: walletEffect(transaction, own, DEPOSIT) };
}

describe("the effect of a transaction on a wallet", () => {
  it("is incoming less outgoing value", () => {
    expect(weighed({ outputs: [out(mine, 5n), out(foreign, 7n)] }).weight).toEqual({
      net: 5n,
      fee: 170_000n,
      depositTaken: 0n,
      depositReturned: 0n,
      ownWithdrawal: 0n,
      withdrawal: undefined,
    });
    expect(weighed({ outputs: [out(mine, 5n)] }, [[ref, 9n]]).weight.net).toBe(-4n);
  });

  it("counts own withdrawals as spent, and reports the largest of all", () => {
    const withdrawals = new Map([[`e0${hash}`, 10n], [`f0${hash}`, 30n]]);
    const { weight, transaction } = weighed({ outputs: [out(mine, 15n)], withdrawals }, [[ref, 9n]]);
    expect(weight).toMatchObject({ net: -4n, ownWithdrawal: 10n, withdrawal: 30n });
    expect(stakesIn(transaction)).toEqual([`key-${hash}`, `script-${hash}`]);
  });

  it("counts the deposits of its own account, and of others if it pays", () => {
    const own = [0, fromHex(hash)];
    const theirs = [1, fromHex(hash)];
    const certificates = [[0, own], [7, theirs, 3n], [8, own, 5n], [1, theirs]];
    expect(weighed({ certificates }).weight).toMatchObject({ depositTaken: DEPOSIT, depositReturned: 5n });
    expect(weighed({ certificates }, [[ref, 9n]]).weight).toMatchObject({
      depositTaken: DEPOSIT + 3n,
      depositReturned: DEPOSIT + 5n,
    });
    const drep = [[16, theirs, 500n, null], [17, theirs, 400n]];
    expect(weighed({ certificates: drep }).weight).toMatchObject({ depositTaken: 0n, depositReturned: 0n });
    expect(weighed({ certificates: drep }, [[ref, 9n]]).weight).toMatchObject({
      depositTaken: 500n,
      depositReturned: 400n,
    });
  });

  describe("that registers a pool or proposes governance actions", () => {
    const pool = (seed: string) => [3, fromHex(seed.repeat(28)), ...POOL];
    const POOL = [fromHex("01".repeat(32)), 0, 0, new Tagged(30, [0, 1]), fromHex(`e0${hash}`), [], [], null];
    const taken = (parts: Partial<Parts>, inputs: [typeof ref, bigint][]) => weighed(parts, inputs).weight.depositTaken;

    it("has the pool's deposit where the sums leave one, and none where the pool was registered", () => {
      const register = [[0, [0, fromHex(hash)]], pool("aa")];
      const paid = { outputs: [out(mine, 1_000_000n)], certificates: register };
      expect(taken(paid, [[ref, 503_170_000n]])).toBe(502_000_000n);
      expect(taken(paid, [[ref, 3_170_000n]])).toBe(DEPOSIT);
      // a second certificate of the same pool pays nothing, another pool does
      const two = { outputs: [out(foreign, 5n)], certificates: [pool("aa"), pool("aa"), pool("bb")] };
      expect(taken(two, [[ref, 1_000_170_005n]])).toBe(1_000_000_000n);
    });

    it("has deposits of proposals, and no donation", () => {
      const proposals = [100_000_000_000n, 100_000_000_000n];
      expect(taken({ proposals }, [[ref, 9n]])).toBe(200_000_000_000n);
      expect(taken({ proposals }, [])).toBe(0n);
      expect(taken({ proposals, valid: false }, [[ref, 9n]])).toBe(0n);
      const all = {
        outputs: [out(mine, 7n)],
        certificates: [pool("aa"), [8, [0, fromHex(hash)], 2_000_000n]],
        withdrawals: new Map([[`e0${hash}`, 30n]]),
        proposals: [1_000n],
        donation: 44n,
      };
      expect(weighed(all, [[ref, 498_000_000n + 170_000n + 7n - 30n + 1_000n + 44n]]).weight)
        .toMatchObject({ depositTaken: 500_001_000n, depositReturned: 2_000_000n });
    });

    it("has no deposit of a pool where inputs are of others, whose value is unknown", () => {
      const parts = { inputs: [ref, other], certificates: [pool("aa")], proposals: [3n] };
      expect(taken(parts, [[ref, 600_000_000n]])).toBe(3n);
      expect(taken(parts, [[ref, 600_000_000n], [other, 170_003n]])).toBe(600_000_003n);
    });
  });

  it("counts only collateral if phase 2 failed", () => {
    const parts = {
      outputs: [out(mine, 5n)],
      collateral: [other],
      collateralReturn: out(mine, 60n),
      withdrawals: new Map([[`e0${hash}`, 10n]]),
      certificates: [[0, [0, fromHex(hash)]]],
      valid: false,
    };
    const { weight, transaction, own } = weighed(parts, [[other, 100n]]);
    // the fee follows from the collateral
    expect(weight).toEqual({
      net: -40n,
      fee: 40n,
      depositTaken: 0n,
      depositReturned: 0n,
      ownWithdrawal: 0n,
      withdrawal: undefined,
    });
    expect(stakesIn(transaction)).toEqual([]);
    expect(addressesIn(transaction, own)).toEqual([mine]);
    expect(weighed(parts).weight.fee).toBeUndefined();
    expect(weighed({ ...parts, totalCollateral: 41n }).weight.fee).toBe(41n);
  });
});
