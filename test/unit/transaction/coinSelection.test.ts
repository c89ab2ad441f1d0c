import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { addAssets, lovelace, sumValues, type Value } from "#src/cardano/value.ts";
import { type Coin, priorityOrder } from "#src/transaction/coinPool.ts";
import { inListOrder, shortfall } from "#src/transaction/coinSelection.ts";
import { assetId, coin, person, utxo } from "../../support/wallets/person.ts";

const alice = person("alice");
const coins = (...amounts: bigint[]) => amounts.map((amount) => coin(alice.enterprise, amount));
const offer = (utxos: readonly Utxo[], preference = 0): Coin[] => utxos.map((one) => ({ utxo: one, preference }));

/** Needs of a transaction with inputs, which selects no coin if nothing is missing. */
function needs(need: Value) {
  return { payments: [need], surplus: lovelace(0n), hasInputs: true };
}

function choose(available: readonly Coin[], need: Value, most: number) {
  return inListOrder(priorityOrder(available), needs(need), () => 0, most);
}

function chosen(available: readonly Coin[], need: Value, most = 100): readonly Utxo[] | string {
  const choice = choose(available, need, most);
  return typeof choice === "string" ? choice : choice.groups[0]!.coins.map(({ utxo }) => utxo);
}

describe("selection in list order", () => {
  test("the largest alone if it suffices, else as few as needed", () => {
    const [a, b, c] = coins(1n, 5n, 3n);
    expect(chosen(offer([a!, b!, c!]), lovelace(4n))).toEqual([b]);
    expect(chosen(offer([a!, b!, c!]), lovelace(6n))).toEqual([b, c]);
    expect(chosen(offer([a!, b!, c!]), lovelace(9n))).toEqual([b, c, a]);
    expect(chosen(offer([a!, b!, c!]), lovelace(0n))).toEqual([]);
    expect(chosen(offer([a!, b!, c!]), lovelace(-7n))).toEqual([]);
  });

  test("preferred coins come first, whatever their size, and are not used if one large one is needed anyway", () => {
    const [small, large] = coins(4n, 100n);
    const available = [...offer([large!], 1), ...offer([small!])];
    expect(chosen(available, lovelace(4n))).toEqual([small]);
    expect(chosen(available, lovelace(5n))).toEqual([large]);
    expect(chosen(available, lovelace(101n))).toEqual([small, large]);
  });

  test("outputs with assets only if lovelace alone does not suffice", () => {
    const rich = coin(alice.enterprise, 100n, new Map([[assetId(1, 1), 3n]]));
    const [plain] = coins(10n);
    expect(chosen(offer([rich, plain!]), lovelace(10n))).toEqual([plain]);
    expect(chosen(offer([rich, plain!]), lovelace(11n))).toEqual([rich]);
    expect(chosen(offer([rich, plain!]), { lovelace: 105n, assets: new Map([[assetId(1, 1), 1n]]) })).toEqual([
      rich,
      plain,
    ]);
  });

  test("an output with a reference script is never spent", () => {
    const script = utxo({ address: alice.enterprise, value: lovelace(100n), script: fromHex("820342abcd") });
    expect(chosen(offer([script]), lovelace(1n))).toBe("depleted");
  });

  test("the missing amount is reported", () => {
    const need = { lovelace: 12n, assets: new Map([[assetId(1, 1), 5n], [assetId(1, 2), 1n]]) };
    const held = [coin(alice.enterprise, 4n, new Map([[assetId(1, 1), 2n], [assetId(1, 2), 9n]])), ...coins(3n)];
    const missing = shortfall(offer(held), needs(need));
    expect(missing).toMatchObject({
      lovelace: -5n,
      assets: new Map([[assetId(1, 1), -3n], [assetId(1, 2), 8n]]),
    });
    expect(shortfall(offer(held), needs({ lovelace: 7n, assets: new Map() }))).toBeUndefined();
  });

  test("more lovelace is a new selection: one large coin replaces several small ones of a lower priority", () => {
    const [small, large] = coins(4n, 100n);
    const choice = choose([...offer([large!], 1), ...offer([small!])], lovelace(4n), 100);
    if (typeof choice === "string") throw new Error(choice);
    const more = choice.add(choice.groups, 1n);
    expect(more).toMatchObject([{ coins: [{ utxo: large }], left: { lovelace: 96n } }]);
    expect(typeof more !== "string" && choice.add(more, 101n)).toBe("depleted");
  });

  test("if more inputs than allowed are needed, the largest are selected, or it is refused", () => {
    const dust = coins(...Array<bigint>(50).fill(1n));
    const large = coins(30n, 20n);
    const available = [...offer(dust), ...offer(large, 3)];
    expect(chosen(available, lovelace(50n), 100)).toHaveLength(50);
    expect(chosen(available, lovelace(50n), 10)).toEqual(large);
    expect(chosen(available, lovelace(55n), 6)).toBe("crowded");
  });

  test("the selection covers the need, and no part of it is unnecessary", () => {
    const assets = fc.dictionary(fc.constantFrom(assetId(1, 1), assetId(1, 2), assetId(2, 1)), fc.bigInt(1n, 9n), {
      maxKeys: 3,
    })
      .map((entries) => new Map(Object.entries(entries)));
    const value = fc.record({ lovelace: fc.bigInt(0n, 50n), assets });
    const candidate = fc.record({ value, preference: fc.nat(2) });
    fc.assert(fc.property(fc.array(candidate, { maxLength: 40 }), value, (offered, need) => {
      const candidates = offered.map(({ value, preference }) => ({
        utxo: coin(alice.base, value.lovelace, value.assets),
        preference,
      }));
      const selection = chosen(candidates, need, 1000);
      const covers = (utxos: readonly Utxo[]) => {
        const sum = sumValues(utxos.map(({ output }) => output.value));
        const left = addAssets(sum.assets, need.assets, -1n);
        return sum.lovelace >= need.lovelace && [...left.values()].every((quantity) => quantity > 0n);
      };
      if (typeof selection === "string") {
        expect(covers(candidates.map(({ utxo }) => utxo))).toBe(false);
        return;
      }
      expect(covers(selection)).toBe(true);
      expect(new Set(selection).size).toBe(selection.length);
      for (const one of selection) expect(covers(selection.filter((other) => other !== one))).toBe(false);
    }));
  });

  test("the largest of thousands of outputs", () => {
    const many = offer(coins(...Array.from({ length: 5000 }, (_, i) => 1_000_000n + BigInt((i * 7919) % 5000))));
    expect(chosen(many, lovelace(300_000_000n), 1000)).toHaveLength(299);
  });
});
