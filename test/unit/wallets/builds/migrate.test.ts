/**
 * Wallet migrations: every transaction judged by the ledger once signed, and the invariants of all of them together.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { addValues, lovelace, sameValue, sumValues } from "#src/cardano/value.ts";
import { ledgerSize, minFee } from "#src/transaction/fee.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { migrate } from "#src/wallets/builds/migrate.ts";
import type { OwnCoin, WalletFunds } from "#src/wallets/builds/types.ts";
import {
  accountOf,
  judged,
  ownCoin,
  setting,
  signedBy,
  stakeKey,
  walletFunds,
} from "../../../support/wallets/fundedWallet.ts";
import { assetId, person } from "../../../support/wallets/person.ts";
import { cases } from "../../../support/base/longTests.ts";

const ada = 1_000_000n;
const [bob, carol] = [person("bob"), person("carol")];
const targets = [bob.base, carol.enterprise].map((address) => ({ address, path: [] }));
const account = { kind: "key", hash: stakeKey } as const;

function migrated(coins: readonly OwnCoin[], more: Partial<WalletFunds> = {}) {
  const result = migrate({ ...setting, funds: { ...walletFunds(coins), change: targets, ...more } });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value.map((transaction) => {
    const { inputs, outputs, fee, withdrawals = new Map<string, bigint>() } = scanTransaction(transaction);
    const keys = (inputs as readonly OutRef[]).map((ref) =>
      paymentKeyHash(coins.find(({ utxo }) => refKey(utxo.ref) === refKey(ref))!.utxo.output.address)!
    );
    const signed = signedBy(transaction, [...keys, ...(withdrawals.size > 0 ? [stakeKey] : [])]);
    return { signed, inputs, outputs, fee: fee!, withdrawals };
  });
}

function refusal(coins: readonly OwnCoin[]) {
  const result = migrate({ ...setting, funds: { ...walletFunds(coins), change: targets } });
  return result.ok ? undefined : result.error.code;
}

const sumOf = (coins: readonly OwnCoin[], inputs: readonly OutRef[]) => {
  const keys = new Set(inputs.map(refKey));
  return sumValues(coins.filter(({ utxo }) => keys.has(refKey(utxo.ref))).map(({ utxo }) => utxo.output.value));
};

describe("a migration", () => {
  it("moves everything in one transaction if it fits, at the minimum fee", async () => {
    const coins = [5n, 3n, 9n].map((amount, i) => ownCoin(i, amount * ada));
    const [one, ...others] = migrated(coins);
    expect(others).toEqual([]);
    expect(one!.inputs).toHaveLength(3);
    expect(one!.outputs.map(({ address, value }) => [address, value.lovelace])).toEqual([
      [bob.base, 17n * ada - one!.fee],
    ]);
    expect(one!.fee).toBe(minFee(mainnetParameters, { size: ledgerSize(one!.signed.length) }));
    expect(await judged(one!.signed, coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  it("fills transactions one after the other, and uses the addresses in rotation", async () => {
    const coins = Array.from({ length: 700 }, (_, i) => ownCoin(i, 2n * ada + BigInt(i)));
    const all = migrated(coins);
    expect(all.flatMap(({ inputs }) => inputs)).toHaveLength(700);
    const sizes = all.map(({ signed }) => signed.length);
    for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThan(mainnetParameters.maxTxSize - 160);
    expect(all.map(({ outputs }) => outputs[0]!.address)).toEqual(
      all.map((_, i) => targets[i % 2]!.address),
    );
    expect(await judged(all[1]!.signed, coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  it("leaves dust, and reports if there is nothing else", () => {
    const dust = [1n, 1_000n, 5_000n].map((amount, i) => ownCoin(i, amount));
    const [one] = migrated([...dust, ownCoin(9, 5n * ada)]);
    expect(one!.inputs).toHaveLength(1);
    expect(refusal(dust)).toBe("nothing_to_migrate");
    expect(refusal([])).toBe("nothing_to_migrate");
    // more than their input costs, and still none of them pays for a transaction
    expect(refusal([ownCoin(0, 500_000n), ownCoin(1, 500_000n)])).toBe("nothing_to_migrate");
  });

  it("withdraws rewards in the first transaction, if they pay for it and the vote allows it", async () => {
    const coins = Array.from({ length: 200 }, (_, i) => ownCoin(i, 3n * ada));
    const drep = { kind: "abstain" } as const;
    const with3 = accountOf({ registered: true, rewards: 3n * ada, drep });
    const [first, ...others] = migrated(coins, { account: with3 });
    expect([...first!.withdrawals.values()]).toEqual([3n * ada]);
    expect(others.flatMap(({ withdrawals }) => [...withdrawals])).toEqual([]);
    const accounts = new Map([[credentialKey(account), { deposit: 2n * ada, balance: 3n * ada, drep: "abstain" }]]);
    expect(await judged(first!.signed, coins.map(({ utxo }) => utxo), accounts)).toEqual([]);
    for (
      const more of [{ rewards: 1_000n, drep }, { rewards: 3n * ada, drep: undefined }, { rewards: 0n, drep }]
    ) {
      const all = migrated(coins, { account: accountOf({ registered: true, ...more }) });
      expect(all.flatMap(({ withdrawals }) => [...withdrawals])).toEqual([]);
    }
  });

  it("loses nothing of any wallet, leaves nothing that could pay, and is accepted by the ledger", async () => {
    const asset = fc.tuple(fc.nat(30), fc.bigInt(1n, 2n ** 63n));
    const held = fc.record({
      lovelace: fc.oneof(
        fc.bigInt(1n, 50_000n),
        fc.bigInt(900_000n, 1_500_000n),
        fc.bigInt(1_500_000n, 40_000_000n),
      ),
      assets: fc.array(asset, { maxLength: 12 }),
      plain: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(held, { minLength: 1, maxLength: 160 }), async (holding) => {
        const coins = holding.map(({ lovelace, assets, plain }, i) =>
          ownCoin(i, lovelace, new Map((plain ? [] : assets).map(([n, quantity]) => [assetId(n % 7, n), quantity])))
        );
        const utxos = coins.map(({ utxo }) => utxo);
        const ends = coins.every((coin) => refusal([coin]) !== undefined);
        if (ends) {
          expect(refusal(coins)).toBe("nothing_to_migrate");
          return;
        }
        const all = migrated(coins);
        const spent = all.flatMap(({ inputs }) => inputs.map(refKey));
        expect(new Set(spent).size).toBe(spent.length);
        let place = 0;
        for (const { signed, inputs, outputs, fee } of all) {
          expect(await judged(signed, utxos)).toEqual([]);
          const made = sumValues(outputs.map(({ value }) => value));
          expect(sameValue(addValues(made, lovelace(fee)), sumOf(coins, inputs))).toBe(true);
          for (const { address } of outputs) expect(address).toBe(targets[place++ % 2]!.address);
          const needed = minFee(mainnetParameters, { size: ledgerSize(signed.length) });
          expect(fee - needed).toBeLessThanOrEqual(200n);
        }
        const left = coins.filter(({ utxo }) => !spent.includes(refKey(utxo.ref)));
        for (const coin of left) expect(refusal([coin])).toBe("nothing_to_migrate");
      }),
      { numRuns: cases(8, 25) },
    );
  });
});
