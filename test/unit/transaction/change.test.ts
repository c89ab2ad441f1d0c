import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addAssets, lovelace, sumValues } from "#src/cardano/value.ts";
import { bundles, changeOutputs, planChange } from "#src/transaction/change.ts";
import { chooseCollateral } from "#src/transaction/collateral.ts";
import {
  atLeast,
  leastLovelace,
  neededLovelace,
  refScriptSize,
  stableMinimum,
  valueSize,
} from "#src/transaction/output.ts";
import { encode } from "#src/cardano/cbor.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { assetId, coin, person } from "../../support/wallets/person.ts";

const alice = person("alice");
const asset = fc.record({ policy: fc.nat(40), name: fc.nat(255) }).map(({ policy, name }) => assetId(policy, name));
const assets = fc.dictionary(asset, fc.bigInt(1n, (1n << 63n) - 1n), { maxKeys: 300 })
  .map((entries) => new Map(Object.entries(entries)));

describe("outputs", () => {
  test("the minimum lovelace is enough, and one less is not", () => {
    fc.assert(fc.property(assets, (held) => {
      const output = { address: alice.base, value: { lovelace: 0n, assets: held } };
      const least = leastLovelace(parameters, output);
      const holding = (amount: bigint) => ({ ...output, value: { lovelace: amount, assets: held } });
      expect(neededLovelace(parameters, holding(least))).toBeLessThanOrEqual(least);
      expect(neededLovelace(parameters, holding(least - 1n))).toBeGreaterThan(least - 1n);
      expect(atLeast(parameters, output)).toEqual(holding(least));
      expect(atLeast(parameters, holding(least + 5n))).toEqual(holding(least + 5n));
    }));
  });

  test("every amount from the minimum on is enough, at any cost per byte", () => {
    const address = alice.base;
    fc.assert(fc.property(fc.bigInt(0n, 20_000n), fc.bigInt(0n, 200_000n), (utxoCostPerByte, more) => {
      const least = leastLovelace({ utxoCostPerByte }, { address, value: lovelace(0n) });
      const output = { address, value: lovelace(least + more) };
      expect(neededLovelace({ utxoCostPerByte }, output)).toBeLessThanOrEqual(least + more);
      expect(stableMinimum({ utxoCostPerByte }, output)).toBeGreaterThanOrEqual(least);
      if (least > 0n) {
        const short = { address, value: lovelace(least - 1n) };
        expect(neededLovelace({ utxoCostPerByte }, short)).toBeGreaterThan(least - 1n);
      }
    }));
  });

  test("known minimum amounts: an enterprise and a base address", () => {
    expect(leastLovelace(parameters, { address: alice.enterprise, value: lovelace(0n) })).toBe(4310n * (160n + 37n));
    expect(leastLovelace(parameters, { address: alice.base, value: lovelace(0n) })).toBe(4310n * (160n + 65n));
  });

  test("a reference script counts its own bytes", () => {
    expect(refScriptSize(encode([3, new Uint8Array(2990)]))).toBe(2990);
    expect(refScriptSize(encode([0, [0, new Uint8Array(28)]]))).toBe(32);
  });
});

describe("change", () => {
  test("nothing is lost, every output is allowed, and the first gets the remaining lovelace", () => {
    fc.assert(fc.property(assets, fc.bigInt(0n, 10_000_000_000n), (held, amount) => {
      const left = { lovelace: amount, assets: held };
      const plan = planChange({ parameters, minimum: leastLovelace }, [left], 0n, [alice.base]);
      const missing = plan.least > amount ? plan.least - amount : 0n;
      const outputs = changeOutputs(plan, 0n);
      const sum = sumValues(outputs.map(({ value }) => value));
      expect(sum.lovelace).toBe(amount + missing);
      expect(addAssets(sum.assets, held, -1n).size).toBe(0);
      for (const output of outputs) {
        expect(valueSize(output.value)).toBeLessThanOrEqual(parameters.maxValueSize);
        expect(output.value.lovelace).toBeGreaterThanOrEqual(neededLovelace(parameters, output));
      }
      for (const output of outputs.slice(missing > 0n ? 0 : 1)) {
        expect(output.value.lovelace).toBe(leastLovelace(parameters, output));
      }
      expect(outputs.length).toBe(Math.max(1, bundles(held, parameters.maxValueSize).length));
    }));
  });

  test("assets are divided only if one value cannot hold them", () => {
    const many = new Map(Array.from({ length: 100 }, (_, i) => [assetId(i, 1), 1n] as const));
    expect(bundles(many, parameters.maxValueSize)).toHaveLength(1);
    expect(bundles(new Map([...many].map(([id, quantity]) => [id, quantity << 60n])), 400).length).toBeGreaterThan(9);
    expect(bundles(new Map(), 400)).toEqual([new Map()]);
  });
});

describe("collateral", () => {
  const fee = 400_000n;
  const choose = (...held: ReturnType<typeof coin>[]) => chooseCollateral(parameters, held, alice.base, fee);

  test("one output, the excess is returned", () => {
    const [small, enough, rich] = [500_000n, 5_000_000n, 50_000_000n].map((amount) => coin(alice.base, amount));
    expect(choose(small!, enough!, rich!)).toEqual({
      inputs: [enough],
      total: 600_000n,
      return: { address: alice.base, value: lovelace(4_400_000n) },
    });
  });

  test("an excess that is too small to return stays at risk, assets never do", () => {
    const plain = coin(alice.base, 1_000_000n);
    expect(choose(plain)).toEqual({ inputs: [plain], total: 1_000_000n });
    const held = new Map([[assetId(1, 1), 1n]]);
    expect(choose(coin(alice.base, 1_500_000n, held))).toEqual({ missing: expect.any(BigInt) });
    const laden = coin(alice.base, 3_000_000n, held);
    expect(choose(laden)).toEqual({
      inputs: [laden],
      total: 600_000n,
      return: { address: alice.base, value: { lovelace: 2_400_000n, assets: held } },
    });
    expect(choose(laden, plain)).toMatchObject({ inputs: [plain] });
  });

  test("several small ones, at most three, and the missing amount", () => {
    const of = (...amounts: bigint[]) => choose(...amounts.map((amount) => coin(alice.base, amount)));
    expect(of(300_000n, 200_000n, 250_000n)).toMatchObject({ inputs: { length: 3 }, total: 750_000n });
    expect(of(190_000n, 190_000n, 190_000n, 190_000n)).toEqual({ missing: 30_000n });
    expect(of()).toEqual({ missing: 600_000n });
  });
});
