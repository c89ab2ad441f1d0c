/** What a transaction lets out of a wallet. */
import { describe, expect, it } from "vitest";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { outflow } from "#src/wallets/spending.ts";
import { newRef } from "../../support/wallets/person.ts";

const [own, other] = ["00aa", "00bb"];
const coin = newRef();
const second = newRef();
const foreign = newRef();
const parts = {
  coins: new Map([[refKey(coin), 100n], [refKey(second), 30n]]),
  addresses: new Set([own]),
  account: "e0cc",
};
const output = (address: string, amount: bigint) => ({ address, value: lovelace(amount) });
const transaction = (more: object) =>
  ({
    inputs: [],
    outputs: [],
    collateral: [],
    collateralReturn: undefined,
    withdrawals: new Map(),
    ...more,
  }) as unknown as ScannedTransaction;

describe("the lovelace that leaves a wallet", () => {
  const cases: readonly (readonly [name: string, more: object, amount: bigint])[] = [
    ["a payment with change, and its fee", { inputs: [coin], outputs: [output(other, 40n), output(own, 55n)] }, 45n],
    ["a payment to itself: the fee", { inputs: [coin, second], outputs: [output(own, 40n), output(own, 88n)] }, 2n],
    ["others' inputs and outputs do not count", {
      inputs: [coin, foreign],
      outputs: [output(other, 500n), output(own, 90n)],
    }, 10n],
    ["a gain is nothing", { inputs: [coin, foreign], outputs: [output(own, 190n)] }, 0n],
    ["rewards that go to others", {
      inputs: [coin],
      withdrawals: new Map([["e0cc", 7n], ["e0dd", 900n]]),
      outputs: [output(other, 5n), output(own, 100n)],
    }, 7n],
    ["at least the collateral", {
      inputs: [coin],
      outputs: [output(own, 99n)],
      collateral: [second],
      collateralReturn: output(own, 10n),
    }, 20n],
    ["collateral of others", { inputs: [], collateral: [foreign] }, 0n],
  ];
  it.each(cases)("%s", (_, more, amount) => expect(outflow(transaction(more), parts)).toBe(amount));
});
