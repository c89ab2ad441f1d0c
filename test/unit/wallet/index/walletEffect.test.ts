import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { created } from "#src/cardano/block.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace } from "#src/cardano/value.ts";
import { addressesIn, type OwnSide, stakesIn, walletEffect } from "#src/wallet/index/walletEffect.ts";
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
