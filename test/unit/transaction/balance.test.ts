import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scriptAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type Assets, lovelace, noAssets } from "#src/cardano/value.ts";
import { balance, type BalancedTransaction, type Skeleton } from "#src/transaction/balance.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { leastLovelace } from "#src/transaction/output.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { agrees, plutusHash, refuses } from "../../support/plutus/scripts.ts";
import { expectSound, unitsOf, witnessFields } from "../../support/ledger/soundness.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";
import { assetId, coin, newRef, person, signed, utxo } from "../../support/wallets/person.ts";
import { cases } from "../../support/base/longTests.ts";

const alice = person("alice");
const bob = person("bob");
const slots: SlotConfig = { zeroTime: 1_700_000_000_000, zeroSlot: 0, slotLength: 1000 };
const nothing: Skeleton = { inputs: [], outputs: [], redeemers: [], references: [], scripts: [], requiredSigners: [] };
const unused: Measure = () => {
  throw new Error("no script to run");
};
const machine: Measure = (transaction, utxos) => evaluateScripts({ transaction, utxos, parameters, slots });
const cage = scriptAddress(0, plutusHash(3, agrees)).hex;
const argument = encodeData(constr(0, 1n));

function must(result: ReturnType<typeof balance>): BalancedTransaction {
  if (!result.ok) {
    throw new Error(JSON.stringify(result.error, (_, value) => typeof value === "bigint" ? `${value}` : value));
  }
  return result.value;
}

function pay(wallet: readonly Utxo[], skeleton: Partial<Skeleton>, measure = unused, address = alice.base) {
  return balance(
    { ...nothing, ...skeleton },
    { address, available: wallet.map((one) => ({ utxo: one })) },
    parameters,
    measure,
  );
}

/** Script inputs with their redeemers. */
function caged(count: number, amount = 2_000_000n): Pick<Skeleton, "inputs" | "redeemers" | "scripts"> {
  const hash = newRef().txHash;
  const inputs = Array.from({ length: count }, (_, i) => coin(cage, amount, noAssets, { txHash: hash, index: i * 2 }));
  return {
    inputs,
    redeemers: inputs.map(({ ref }) => ({ for: { purpose: "spend", ref }, data: argument })),
    scripts: [agrees],
  };
}

describe("payments", () => {
  const payment = { address: bob.enterprise, value: lovelace(3_000_000n) };

  test("a payment with change has exactly the minimum fee", () => {
    const wallet = [coin(alice.base, 10_000_000n)];
    const built = must(pay(wallet, { outputs: [payment] }));
    const sound = expectSound(signed(built.transaction, alice), wallet, parameters);
    expect(sound.fee).toBe(sound.least);
    expect(sound.outputs.map(({ address }) => address)).toEqual([bob.enterprise, alice.base]);
    expect(built).toMatchObject({ fee: sound.fee, hash: scanTransaction(built.transaction).hash });
  });

  test("one output holds payment and fee without change: the remainder is the fee", () => {
    const wallet = [coin(alice.base, 3_200_000n)];
    const built = must(pay(wallet, { outputs: [payment] }));
    expect(expectSound(signed(built.transaction, alice), wallet, parameters).fee).toBe(200_000n);
  });

  test("another input instead of a lost remainder", () => {
    const wallet = [coin(alice.base, 3_200_000n), coin(alice.base, 1_500_000n)];
    const sound = expectSound(signed(must(pay(wallet, { outputs: [payment] })).transaction, alice), wallet, parameters);
    expect(sound.fee).toBe(sound.least);
    expect(sound.outputs).toHaveLength(2);
  });

  test("assets are returned, and the lovelace that they need is not lost", () => {
    const held = new Map([[assetId(1, 1), 3n]]);
    const wallet = [coin(alice.base, 5_000_000n, held)];
    const sound = expectSound(signed(must(pay(wallet, { outputs: [payment] })).transaction, alice), wallet, parameters);
    expect(sound.outputs[1]!.value.assets).toEqual(held);
    expect(pay([coin(alice.base, 4_000_000n, held)], { outputs: [payment] })).toMatchObject({
      error: { code: "not_enough_money" },
    });
  });

  test("the shortfall is the missing amount: with it the payment can be made", () => {
    for (const amount of [900_000n, 2_999_999n, 3_100_000n]) {
      const wallet = [coin(alice.base, amount)];
      const refused = pay(wallet, { outputs: [payment] });
      if (refused.ok) throw new Error("paid");
      expect(refused.error).toMatchObject({ code: "not_enough_money", details: { for: "transaction" } });
      const { shortfall } = refused.error.details as { shortfall: bigint };
      const enough = [coin(alice.base, amount + shortfall)];
      expectSound(signed(must(pay(enough, { outputs: [payment] })).transaction, alice), enough, parameters);
    }
    expect(pay([], { outputs: [payment] })).toMatchObject({ error: { code: "not_enough_money" } });
  });

  test("missing assets are named", () => {
    const outputs = [{ address: bob.base, value: { lovelace: 2_000_000n, assets: new Map([[assetId(1, 1), 3n]]) } }];
    expect(pay([coin(alice.base, 90_000_000n)], { outputs })).toMatchObject({
      error: { code: "not_enough_money", details: { assets: new Map([[assetId(1, 1), 3n]]) } },
    });
  });

  test("over thirty inputs, hundreds of them, and more than fit", () => {
    const coins = (count: number) => Array.from({ length: count }, () => coin(alice.enterprise, 1_000_000n));
    for (const [ada, most] of [[33n, 36], [250n, 260]] as const) {
      const wallet = coins(300);
      const built = must(
        pay(wallet, { outputs: [{ ...payment, value: lovelace(ada * 1_000_000n) }] }, unused, alice.enterprise),
      );
      const sound = expectSound(signed(built.transaction, alice), wallet, parameters);
      expect(sound.fee).toBe(sound.least);
      expect(built.inputs.length).toBeLessThan(most);
    }
    const crowd = pay(coins(900), { outputs: [{ ...payment, value: lovelace(700_000_000n) }] });
    expect(crowd).toMatchObject({ error: { code: "too_large", details: { what: "inputs" } } });
    const poor = pay(coins(900), { outputs: [{ ...payment, value: lovelace(1_700_000_000n) }] });
    expect(poor).toMatchObject({ error: { code: "not_enough_money" } });
  });

  test("a datum that does not fit is too large, and the excess is reported", () => {
    const outputs = [{ ...payment, value: lovelace(90_000_000n), datum: encodeData(new Uint8Array(17_000)) }];
    expect(pay([coin(alice.base, 200_000_000n)], { outputs })).toMatchObject({
      error: { code: "too_large", details: { what: "bytes", limit: 16_384, size: expect.any(Number) } },
    });
  });
});

describe("golden fees of a payment of one ada from one output", () => {
  const golden = walletVectors("balance-tx-fee").filter(({ input }) => input.scenario === "1ada-payment");
  test.each(golden.map((vector) => [vector.id, vector] as const))("%s", (_id, { input, expected }) => {
    const wallet = input.utxoLovelace === 0 ? [] : [coin(alice.enterprise, BigInt(input.utxoLovelace))];
    const outputs = [{ address: bob.enterprise, value: lovelace(1_000_000n) }];
    const built = pay(wallet, { outputs }, unused, alice.enterprise);
    if (!expected.ok) {
      expect(built).toMatchObject({ error: { code: "not_enough_money" } });
      return;
    }
    const { fee } = expectSound(signed(must(built).transaction, alice), wallet, parameters);
    // A payment with change has the minimum fee of its own bytes, which differ with the encoding of an output.
    if (!expected.hasChange) expect(fee).toBe(BigInt(expected.fee));
    else expect(fee).toBeLessThanOrEqual(BigInt(expected.fee));
  });
});

describe("scripts", () => {
  test("a single output pays for everything: fee, collateral and deposit", () => {
    const wallet = [coin(alice.enterprise, 10_000_000n)];
    const skeleton = {
      ...caged(1),
      outputs: [{ address: cage, value: lovelace(4_000_000n) }],
      requiredSigners: [alice.key],
    };
    const built = must(pay(wallet, skeleton, machine, alice.enterprise));
    const sound = expectSound(signed(built.transaction, alice), [...wallet, ...skeleton.inputs], parameters);
    expect(sound.fee).toBe(sound.least);
    expect(built.collateral).toEqual(wallet);
    expect(built.units).toEqual(unitsOf(built.transaction));
    expect(built.units.memory).toBeGreaterThan(0n);
  });

  test("units are those of an evaluation of the very transaction, at each of its indices", () => {
    const wallet = [coin(alice.base, 3_000_000n), coin(alice.base, 7_000_000n)];
    const skeleton = caged(15);
    const built = must(
      pay(wallet, { ...skeleton, outputs: [{ address: bob.base, value: lovelace(37_000_000n) }] }, machine),
    );
    const known = [...wallet, ...skeleton.inputs];
    const sound = expectSound(signed(built.transaction, alice), known, parameters);
    expect(sound.fee).toBe(sound.least);
    const run = machine(built.transaction, known);
    if (!run.ok) throw new Error(run.message);
    expect(run.redeemers).toHaveLength(15);
    expect(run.redeemers.reduce((sum, { units }) => sum + units.steps, 0n)).toBe(built.units.steps);
  });

  test("released script outputs pay the fee, but collateral needs an output of a key", () => {
    const skeleton = caged(2);
    const wallet = [coin(alice.base, 900_000n)];
    const built = must(pay(wallet, skeleton, machine));
    expect(built.inputs).toEqual(skeleton.inputs);
    expectSound(signed(built.transaction, alice), [...wallet, ...skeleton.inputs], parameters);
    expect(pay([], skeleton, machine)).toMatchObject({
      error: { code: "not_enough_money", details: { for: "collateral" } },
    });
  });

  test("the shortfall of a script transaction counts its units and suffices", () => {
    const skeleton = { ...caged(1), outputs: [{ address: bob.base, value: lovelace(9_000_000n) }] };
    const refused = pay([coin(alice.base, 3_000_000n)], skeleton, machine);
    if (refused.ok) throw new Error("paid");
    const { shortfall } = refused.error.details as { shortfall: bigint };
    const enough = [coin(alice.base, 3_000_000n + shortfall)];
    const sound = expectSound(
      signed(must(pay(enough, skeleton, machine)).transaction, alice),
      [...enough, ...skeleton.inputs],
      parameters,
    );
    expect(sound.fee).toBe(sound.least);
  });

  test("a reference script is read instead of carried, and costs its bytes", () => {
    const wallet = [coin(alice.base, 10_000_000n)];
    const carried = caged(1);
    const published = utxo({ address: bob.base, value: lovelace(20_000_000n), script: encode([3, agrees]) });
    const read = { ...carried, scripts: [], references: [published] };
    const known = [...wallet, ...carried.inputs, published];
    const built = must(pay(wallet, read, machine));
    const sound = expectSound(signed(built.transaction, alice), known, parameters);
    expect(sound.fee).toBe(sound.least);
    expect(scanTransaction(built.transaction).references).toEqual([published.ref]);
  });

  test("a script that refuses is a failure, not a transaction", () => {
    const hash = plutusHash(3, refuses);
    const input = coin(scriptAddress(0, hash).hex, 2_000_000n);
    const result = pay([coin(alice.base, 10_000_000n)], {
      inputs: [input],
      redeemers: [{ for: { purpose: "spend", ref: input.ref }, data: argument }],
      scripts: [refuses],
    }, machine);
    expect(result).toMatchObject({ error: { code: "script_refused" } });
  });

  test("units over the limit are too large", () => {
    const greedy: Measure = () => ({
      ok: true,
      redeemers: [0, 1].map((index) => ({ purpose: "spend", index, units: { memory: 20_000_000n, steps: 5n } })),
    });
    expect(pay([coin(alice.base, 10_000_000n)], caged(1), greedy)).toMatchObject({
      error: { code: "too_large", details: { what: "memory", size: 20_000_000n, limit: 16_500_000n } },
    });
  });
});

describe("any wallet, any transaction", () => {
  const asset = fc.record({ policy: fc.nat(3), name: fc.nat(60) }).map(({ policy, name }) => assetId(policy, name));
  const assets = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Assets>(noAssets) },
    fc.dictionary(asset, fc.bigInt(1n, 1n << 62n), { maxKeys: 80 }).map((entries): Assets =>
      new Map(Object.entries(entries))
    ),
  );
  const held = fc.record({ assets, extra: fc.oneof(fc.bigInt(0n, 3_000_000n), fc.bigInt(0n, 9_000_000_000n)) });
  const asOutput = (address: string) => ({ assets, extra }: { assets: Assets; extra: bigint }) => ({
    address,
    value: { assets, lovelace: leastLovelace(parameters, { address, value: { lovelace: 0n, assets } }) + extra },
  });
  const plain = fc.record({ assets: fc.constant<Assets>(noAssets), extra: fc.bigInt(0n, 4_000_000n) });
  const scenario = fc.record({
    wallet: fc.array(fc.record({ held, preference: fc.nat(2), base: fc.boolean() }), { maxLength: 45 }),
    payments: fc.array(plain, { maxLength: 3 }),
    scripts: fc.nat(12),
    base: fc.boolean(),
    units: fc.record({ memory: fc.bigInt(1n, 500_000n), steps: fc.bigInt(1n, 300_000_000n) }),
    mint: fc.boolean(),
  });

  test("conserves value, pays the minimum fee, and fails only because of missing value", () => {
    let done = 0;
    fc.assert(
      fc.property(scenario, ({ wallet, payments, scripts, base, units, mint }) => {
        const address = base ? alice.base : alice.enterprise;
        const available = wallet.map(({ held, preference, base }) => ({
          utxo: utxo(asOutput(base ? alice.base : alice.enterprise)(held)),
          preference,
        }));
        const skeleton: Skeleton = {
          ...nothing,
          ...(scripts > 0 ? caged(scripts) : {}),
          outputs: payments.map(asOutput(bob.base)),
          ...(mint && scripts > 0 ? { mint: new Map([[plutusHash(3, agrees) + "aa", 1n]]) } : {}),
          requiredSigners: [alice.key],
        };
        const found: Measure = (transaction) => {
          const order = scanTransaction(transaction).inputs.map(refKey);
          const spends = skeleton.inputs.map(({ ref }) => ({
            purpose: "spend",
            index: order.indexOf(refKey(ref)),
            units,
          }));
          return { ok: true, redeemers: spends };
        };
        const result = balance(skeleton, { address, available }, parameters, found);
        const known = [...available.map(({ utxo }) => utxo), ...skeleton.inputs];
        if (result.ok) {
          done++;
          const sound = expectSound(signed(result.value.transaction, alice), known, parameters);
          const changed = sound.outputs.length > skeleton.outputs.length;
          expect(sound.size + 1).toBe(result.value.size);
          if (changed) expect(sound.fee - sound.least).toBeLessThanOrEqual(44n);
          else {expect(sound.fee).toBeLessThan(
              sound.least + leastLovelace(parameters, { address, value: lovelace(0n) }) + 10_000n,
            );}
          expect(witnessFields(result.value.transaction).has(0)).toBe(false);
          return;
        }
        if (result.error.code === "too_large") return;
        expect(result.error.code).toBe("not_enough_money");
        const { shortfall } = result.error.details as { shortfall: bigint };
        expect(shortfall).toBeGreaterThan(0n);
        const rescued = balance(
          skeleton,
          { address, available: [...available, { utxo: coin(address, shortfall + 2_500_000n) }] },
          parameters,
          found,
        );
        expect(rescued.ok).toBe(true);
      }),
      { numRuns: cases(75, 300) },
    );
    expect(done).toBeGreaterThan(cases(20, 100));
  });
});
