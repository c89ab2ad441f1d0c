/** Consolidations: every transaction judged by the ledger once signed, and the invariants of all of them together. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { addValues, lovelace, sameValue, sumValues } from "#src/cardano/value.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { consolidate } from "#src/wallets/builds/consolidate.ts";
import type { OwnCoin } from "#src/wallets/builds/types.ts";
import { addressAt, judged, ownCoin, setting, signedBy, walletFunds } from "../../../support/wallets/fundedWallet.ts";
import { assetId } from "../../../support/wallets/person.ts";
import { cases } from "../../../support/base/longTests.ts";

const ada = 1_000_000n;
const below = 5n * ada;

function run(coins: readonly OwnCoin[], most = 50) {
  return consolidate({ ...setting, funds: walletFunds(coins), below, most });
}

/** Checks every transaction, and gives the coins of each and its number of outputs. */
async function checked(coins: readonly OwnCoin[], transactions: readonly Uint8Array[]) {
  const byKey = new Map(coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const seen = new Set<string>();
  const result = [];
  for (const transaction of transactions) {
    const { inputs, outputs, fee } = scanTransaction(transaction);
    const spent = (inputs as readonly OutRef[]).map((ref) => byKey.get(refKey(ref))!);
    for (const { utxo: { ref } } of spent) {
      expect(seen.has(refKey(ref))).toBe(false);
      seen.add(refKey(ref));
    }
    // nothing leaves the wallet but the fee, and there are fewer outputs than before
    const own = new Set(Array.from({ length: 20 }, (_, i) => addressAt(i, 1)));
    expect(outputs.every(({ address }) => own.has(address))).toBe(true);
    const out = addValues(sumValues(outputs.map(({ value }) => value)), lovelace(fee!));
    expect(sameValue(sumValues(spent.map(({ utxo }) => utxo.output.value)), out)).toBe(true);
    expect(outputs.length).toBeLessThan(spent.length);
    expect(spent.filter(({ utxo }) => utxo.output.value.lovelace >= below).length).toBeLessThanOrEqual(1);
    const keys = spent.map(({ utxo }) => paymentKeyHash(utxo.output.address)!);
    expect(await judged(signedBy(transaction, keys), coins.map(({ utxo }) => utxo))).toEqual([]);
    result.push({ spent, outputs: outputs.length });
  }
  return result;
}

describe("a consolidation", () => {
  it("merges small coins and leaves large ones, even where no small one pays for itself", async () => {
    const small = Array.from({ length: 12 }, (_, i) => ownCoin(i, ada));
    const coins = [...small, ownCoin(20, 80n * ada)];
    const result = run(coins);
    if (!result.ok) throw new Error(result.error.message);
    const [one, ...others] = await checked(coins, result.value);
    expect([one!.spent.length, one!.outputs, others]).toEqual([12, 1, []]);
  });

  it("takes one large coin where the small ones cannot pay for their tokens' output", async () => {
    const tokens = Array.from({ length: 5 }, (_, i) => ownCoin(i, 10n, new Map([[assetId(1, i), 7n]])));
    const coins = [...tokens, ownCoin(20, 80n * ada), ownCoin(21, 90n * ada)];
    const result = run(coins);
    if (!result.ok) throw new Error(result.error.message);
    const [one, ...others] = await checked(coins, result.value);
    expect([one!.spent.length, others]).toEqual([6, []]);
    expect(run(tokens)).toMatchObject({ error: { code: "nothing_to_consolidate" } });
  });

  it("is nothing for a wallet without small coins, with one, or with worthless ones", () => {
    expect(run([])).toMatchObject({ error: { code: "nothing_to_consolidate" } });
    expect(run([ownCoin(0, 9n * ada), ownCoin(1, 8n * ada)])).toMatchObject({
      error: { code: "nothing_to_consolidate" },
    });
    expect(run([ownCoin(0, 2n * ada)])).toMatchObject({ error: { code: "nothing_to_consolidate" } });
    expect(run([ownCoin(0, 900n), ownCoin(1, 900n), ownCoin(2, 50n * ada)]))
      .toMatchObject({ error: { code: "nothing_to_consolidate" } });
  });

  it("makes no more transactions than it may", async () => {
    const coins = Array.from({ length: 900 }, (_, i) => ownCoin(i, 2n * ada));
    const all = run(coins);
    if (!all.ok) throw new Error(all.error.message);
    expect(all.value.length).toBeGreaterThan(1);
    expect((await checked(coins, all.value)).reduce((sum, { spent }) => sum + spent.length, 0)).toBe(900);
    expect(all.value.every((one) => one.length < mainnetParameters.maxTxSize)).toBe(true);
    const some = run(coins, 1);
    expect(some.ok && some.value).toHaveLength(1);
  });

  const held = fc.array(
    fc.tuple(
      fc.oneof(fc.bigInt(900n, 3n * ada), fc.bigInt(1n * ada, 40n * ada)),
      fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 12 }),
    ),
    { minLength: 1, maxLength: 60 },
  );

  it("keeps all tokens and is accepted by the ledger, for any coins", async () => {
    let merged = 0;
    await fc.assert(
      fc.asyncProperty(held, async (amounts) => {
        const coins = amounts.map(([amount, names], i) =>
          ownCoin(i, amount, new Map(names.map((name) => [assetId(name % 4, name), BigInt(name + 1)])))
        );
        const result = run(coins);
        if (!result.ok) return;
        merged += (await checked(coins, result.value)).length;
      }),
      { numRuns: cases(30, 100), seed: 3 },
    );
    expect(merged).toBeGreaterThan(cases(15, 60));
  });
});
