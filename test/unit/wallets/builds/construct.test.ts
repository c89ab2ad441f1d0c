/**
 * Transactions that wallets construct: judged by the ledger once signed, decoded by a library that the product does not
 * use.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encode } from "#src/cardano/cbor.ts";
import { refKey } from "#src/cardano/output.ts";
import { addValues, lovelace, sameValue, sumValues } from "#src/cardano/value.ts";
import { ledgerSize, minFee } from "#src/transaction/fee.ts";
import { valueSize } from "#src/transaction/output.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";
import { construct, estimateFees } from "#src/wallets/builds/construct.ts";
import type {
  ConstructedTransaction,
  ConstructInput,
  OwnCoin,
  Payment,
  PaymentIntent,
  WalletFunds,
} from "#src/wallets/builds/types.ts";
import { judged, ownCoin, setting, signedFor, walletFunds } from "../../../support/wallets/fundedWallet.ts";
import { assetId, person, utxo } from "../../../support/wallets/person.ts";
import { cases } from "../../../support/base/longTests.ts";

const bob = person("bob");
const carol = person("carol");
const ada = 1_000_000n;

function build(intent: PaymentIntent, funds: WalletFunds, more: Partial<ConstructInput> = {}): ConstructedTransaction {
  const built = construct({ ...setting, intent, funds, seed: 1, ...more });
  if (!built.ok) throw new Error(`${built.error.code}: ${built.error.message}`);
  return built.value;
}

function refused(intent: PaymentIntent, funds: WalletFunds) {
  const built = construct({ ...setting, intent, funds, seed: 1 });
  if (built.ok) throw new Error("a refusal was expected");
  return built.error;
}

function read(transaction: Uint8Array): Transaction {
  const result = readTransaction(transaction);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

const pay = (amount: bigint, to = bob.base): Payment => ({ address: to, lovelace: amount });
const coins = (...amounts: readonly bigint[]): OwnCoin[] => amounts.map((amount, i) => ownCoin(i, amount));

describe("a payment", () => {
  it("is accepted by the ledger at the minimum fee, and decoded by others", async () => {
    const funds = walletFunds(coins(50n * ada, 20n * ada));
    const built = build({ payments: [pay(7n * ada)] }, funds);
    const signed = signedFor(built);
    expect(await judged(signed, funds.coins.map(({ utxo }) => utxo))).toEqual([]);
    expect(signed.length).toBe(built.size);
    const theirs = csl.Transaction.from_bytes(signed);
    expect(theirs.body().fee().to_str()).toBe(`${built.fee}`);
    expect(theirs.body().outputs().len()).toBe(2);
    expect(theirs.body().outputs().get(0).amount().coin().to_str()).toBe(`${7n * ada}`);
    const { feePerByte, feeFixed } = mainnetParameters;
    expect(built.fee).toBe(feePerByte * BigInt(ledgerSize(signed.length)) + feeFixed);
  });

  it("adds the surplus to the fee if it is too small for an output", async () => {
    const funds = walletFunds(coins(10n * ada));
    const built = build({ payments: [pay(9n * ada)] }, funds);
    expect(built).toMatchObject({ fee: ada, selection: { change: [] } });
    expect(await judged(signedFor(built), funds.coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  it("selects another coin for its change and fee if there is one", () => {
    const built = build({ payments: [pay(9n * ada)] }, walletFunds(coins(10n * ada, 5n * ada)));
    expect(built.selection.inputs).toHaveLength(2);
    expect(built.selection.change).toHaveLength(1);
  });

  it("combines several coins if one is too small", () => {
    const built = build({ payments: [pay(9n * ada)] }, walletFunds(coins(4n * ada, 4n * ada, 4n * ada)));
    expect(built.selection.inputs).toHaveLength(3);
  });

  it("has the minimum amount of its output if it states none", () => {
    const built = build({ payments: [pay(0n), pay(0n, bob.enterprise)] }, walletFunds(coins(10n * ada, 10n * ada)));
    expect(built.selection.outputs.map(({ lovelace }) => lovelace)).toEqual([986_990n, 866_310n]);
  });

  it("does not use reserved coins while the rest suffices, and uses them otherwise", () => {
    const offered = ownCoin(2, 30n * ada, new Map(), 50);
    const funds = walletFunds([ownCoin(0, 10n * ada), ownCoin(1, 10n * ada), offered]);
    for (let seed = 0; seed < 30; seed++) {
      const built = build({ payments: [pay(8n * ada)] }, funds, { seed });
      expect(built.spends.map(refKey)).not.toContain(refKey(offered.utxo.ref));
    }
    expect(build({ payments: [pay(25n * ada)] }, funds).spends.map(refKey)).toContain(refKey(offered.utxo.ref));
    expect(build({ payments: [pay(8n * ada)] }, walletFunds([offered])).spends).toEqual([offered.utxo.ref]);
  });
});

it("does not use outputs with reference scripts unless nothing else suffices", async () => {
  const plain = ownCoin(0, 20n * ada);
  const output = {
    address: plain.utxo.output.address,
    value: lovelace(50n * ada),
    script: encode([0, [0, new Uint8Array(28)]]),
  };
  const shelf = { ...ownCoin(0, 1n), utxo: utxo(output) };
  for (let seed = 0; seed < 10; seed++) {
    const { spends } = build({ payments: [pay(8n * ada)] }, walletFunds([shelf, plain]), { seed });
    expect(spends).toEqual([plain.utxo.ref]);
  }
  const both = build({ payments: [pay(60n * ada)] }, walletFunds([shelf, plain]));
  expect(both.spends).toHaveLength(2);
  expect(await judged(signedFor(both), [shelf.utxo, plain.utxo])).toEqual([]);
});

describe("several payments", () => {
  it("are paid from separate coins, with change for each", async () => {
    const funds = walletFunds(coins(20n * ada, 30n * ada, 40n * ada));
    const built = build({ payments: [pay(15n * ada), pay(25n * ada, carol.base)] }, funds);
    expect(built.selection.inputs.length).toBeGreaterThanOrEqual(2);
    expect(built.selection.change).toHaveLength(2);
    expect(await judged(signedFor(built), funds.coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  it("divide the fee over their changes", () => {
    const funds = walletFunds(coins(20n * ada, 20n * ada));
    const { fee, selection } = build({ payments: [pay(15n * ada), pay(15n * ada)] }, funds);
    const [one, other] = selection.change.map(({ lovelace }) => 5n * ada - lovelace);
    expect(one! + other!).toBe(fee);
    expect(one! - other! <= 1n && other! - one! <= 1n).toBe(true);
  });

  it("are refused as not fragmented enough if there are fewer coins than payments", () => {
    const error = refused({ payments: [pay(2n * ada), pay(2n * ada)] }, walletFunds(coins(100n * ada)));
    expect(error.code).toBe("inputs_depleted");
    expect(error.message).toContain("not fragmented enough");
    // how to switch
    expect(error.message).toContain('PUT /v2/wallets/{walletId} with {"selection": "round-robin"}');
  });

  it("are made from one coin if the wallet is set to round-robin", async () => {
    const funds = walletFunds(coins(100n * ada), { selection: "round-robin" });
    const built = build({ payments: [pay(2n * ada), pay(6n * ada)] }, funds);
    expect(built.selection.inputs).toHaveLength(1);
    expect(built.selection.change).toHaveLength(2);
    expect(await judged(signedFor(built), funds.coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  it("find the coins that fit even if a random selection would not", () => {
    const funds = walletFunds(coins(10n * ada, 5n * ada, 3n * ada));
    for (let seed = 0; seed < 40; seed++) {
      const built = build({ payments: [pay(9n * ada), pay(4n * ada), pay(2n * ada)] }, funds, { seed });
      expect(built.selection.inputs).toHaveLength(3);
    }
  });
});

describe("a payment that the wallet cannot make", () => {
  it("is refused with the missing amounts", () => {
    const asset = assetId(1, 1);
    expect(refused({ payments: [pay(7n * ada)] }, walletFunds(coins(2n * ada, 3n * ada)))).toMatchObject({
      code: "not_enough_money",
      details: { shortfall: { ada: { quantity: 2n * ada, unit: "lovelace" }, assets: [] } },
    });
    const intent = { payments: [{ ...pay(2n * ada), assets: [[asset, 5n]] as const }] };
    const funds = walletFunds([ownCoin(0, 20n * ada, new Map([[asset, 2n]]))]);
    expect(refused(intent, funds)).toMatchObject({
      code: "not_enough_money",
      details: {
        shortfall: {
          ada: { quantity: 0n },
          assets: [{ policy_id: asset.slice(0, 56), asset_name: asset.slice(56), quantity: 3n }],
        },
      },
    });
  });

  it("has the fee as its shortfall", () => {
    const intent = { payments: [pay(10n * ada)] };
    const funds = walletFunds(coins(10n * ada));
    expect(refused(intent, funds).code).toBe("cannot_cover_fee");
    // an estimate gives the fee that is lacking
    const { fee } = build({ payments: [pay(5n * ada)] }, funds);
    expect(estimateFees({ ...setting, intent, funds, seed: 1 })).toMatchObject({ value: { least: fee, most: fee } });
  });

  it("is any payment if it has no coin", () => {
    expect(refused({ metadata: "a100a0" }, walletFunds([])).code).toBe("no_utxos_available");
    expect(refused({ payments: [pay(ada)] }, walletFunds([])).code).toBe("no_utxos_available");
  });

  it("is one that is too small, too large or has too many assets", () => {
    const funds = walletFunds(coins(100n * ada));
    expect(refused({ payments: [pay(2n * ada), pay(5n)] }, funds)).toMatchObject({
      code: "utxo_too_small",
      details: {
        tx_output_index: 1,
        tx_output_lovelace_specified: { quantity: 5n, unit: "lovelace" },
        tx_output_lovelace_required_minimum: { quantity: 986_990n, unit: "lovelace" },
      },
    });
    const many = Array.from({ length: 250 }, (_, i) => [assetId(i, 0), 1n] as const);
    expect(refused({ payments: [{ ...pay(0n), assets: many }] }, funds)).toMatchObject({
      code: "output_token_bundle_size_exceeds_limit",
      details: { bundle_size: 250, address: expect.stringMatching(/^addr_test1/) },
    });
    const asset = assetId(1, 1);
    expect(refused({ payments: [{ ...pay(0n), assets: [[asset, 1n << 64n]] }] }, funds)).toMatchObject({
      code: "output_token_quantity_exceeds_limit",
      details: {
        policy_id: asset.slice(0, 56),
        asset_name: asset.slice(56),
        quantity: 1n << 64n,
        max_quantity: (1n << 64n) - 1n,
      },
    });
  });

  it("needs more inputs than a transaction holds", () => {
    const dust = Array.from({ length: 600 }, (_, i) => ownCoin(i, ada));
    expect(refused({ payments: [pay(590n * ada)] }, walletFunds(dust)).code).toBe("transaction_is_too_big");
  });

  it("is an empty one", () => {
    expect(refused({}, walletFunds(coins(5n * ada))).code).toBe("created_invalid_transaction");
    const validity = { before: { quantity: 9n, unit: "second" as const } };
    expect(refused({ validity }, walletFunds(coins(5n * ada))).code).toBe("created_invalid_transaction");
  });
});

const quantity = fc.bigInt(1n, (1n << 64n) - 1n);
const holdings = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 40 })), {
  maxLength: 60,
  selector: ([policy, name]) => `${policy}/${name}`,
}).chain((names) =>
  fc.tuple(...names.map(([policy, name]) => fc.tuple(fc.constant(assetId(policy, name)), quantity)))
    .map((list) => new Map(list))
);
const amounts = fc.array(
  fc.tuple(
    fc.bigInt(1n * ada, 400n * ada),
    fc.oneof({ weight: 4, arbitrary: fc.constant(new Map<string, bigint>()) }, { weight: 1, arbitrary: holdings }),
    fc.constantFrom(0, 0, 0, 1, 40),
  ),
  { minLength: 1, maxLength: 40 },
);
const payments = fc.array(fc.tuple(fc.bigInt(1n * ada, 60n * ada), fc.integer({ min: 0, max: 99 })), {
  minLength: 1,
  maxLength: 5,
});

describe("any wallet and any payments", () => {
  it.each(["per-output", "round-robin"] as const)(
    "result in a transaction that the ledger accepts: %s",
    async (selection) => {
      const seen = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(amounts, payments, fc.nat(), async (holds, amounts, seed) => {
          const own = holds.map(([amount, assets, preference], i) =>
            ownCoin(i, amount + 12n * ada * BigInt(assets.size > 0), assets, preference)
          );
          // sometimes a part of an asset of the wallet is paid too
          const held = [...new Map(own.flatMap(({ utxo }) => [...utxo.output.value.assets]))];
          const intent: PaymentIntent = {
            payments: amounts.map(([amount, which]) => {
              const found = held[which];
              return {
                ...pay(amount + 2n * ada),
                ...(found ? { assets: [[found[0], found[1] / 3n + 1n]] as const } : {}),
              };
            }),
          };
          const funds = walletFunds(own, { selection });
          const built = construct({ ...setting, intent, funds, seed });
          seen.set(built.ok ? "built" : built.error.code, (seen.get(built.ok ? "built" : built.error.code) ?? 0) + 1);
          if (!built.ok) {
            const total = sumValues(own.map(({ utxo }) => utxo.output.value));
            if (built.error.code === "inputs_depleted") expect(selection).toBe("per-output");
            if (built.error.code === "not_enough_money") {
              const requested = sumValues(
                intent.payments!.map(({ lovelace, assets }) => ({ lovelace, assets: new Map(assets) })),
              );
              expect(
                requested.lovelace > total.lovelace ||
                  [...requested.assets].some(([asset, n]) => n > (total.assets.get(asset) ?? 0n)),
              ).toBe(true);
            }
            return;
          }
          const { fee, selection: { inputs, outputs, change } } = built.value;
          // every coin once, inputs equal outputs, and the payments are the requested ones
          expect(new Set(inputs.map(({ ref }) => refKey(ref))).size).toBe(inputs.length);
          const valueOf = (
            { lovelace, assets }: { lovelace: bigint; assets: readonly (readonly [string, bigint])[] },
          ) => ({ lovelace, assets: new Map(assets) });
          const into = sumValues(inputs.map(valueOf));
          const out = addValues(sumValues([...outputs, ...change].map(valueOf)), lovelace(fee));
          expect(sameValue(into, out)).toBe(true);
          expect(outputs.map(({ lovelace }) => lovelace)).toEqual(intent.payments!.map(({ lovelace }) => lovelace));
          for (const output of change) {
            expect(valueSize(valueOf(output))).toBeLessThanOrEqual(mainnetParameters.maxValueSize);
          }
          if (selection === "per-output") expect(inputs.length).toBeGreaterThanOrEqual(outputs.length);
          const signed = signedFor(built.value);
          expect(signed.length).toBe(built.value.size);
          const { size } = read(signed);
          const least = minFee(mainnetParameters, { size });
          if (change.length > 0) {
            // if the size of the fee field itself oscillates, no fee is exact to the lovelace
            expect(fee >= least && fee <= least + 4n * mainnetParameters.feePerByte).toBe(true);
            seen.set("exact", (seen.get("exact") ?? 0) + Number(fee === least));
            seen.set("with change", (seen.get("with change") ?? 0) + 1);
          } else expect(fee >= least && fee - least < 986_990n + 65n * 44n).toBe(true);
          expect(await judged(signed, own.map(({ utxo }) => utxo))).toEqual([]);
          expect(csl.Transaction.from_bytes(signed).body().inputs().len()).toBe(inputs.length);
        }),
        { numRuns: cases(40, 120), seed: 7 },
      );
      expect(seen.get("built")).toBeGreaterThan(cases(15, 60));
      expect(seen.get("exact")).toBe(seen.get("with change"));
    },
  );
});
