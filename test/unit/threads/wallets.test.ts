import { afterEach, describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { encode } from "#src/cardano/cbor.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { construct, estimateFees } from "#src/wallets/builds/construct.ts";
import { packCoins, unpackCoins } from "#src/wallets/builds/jobCodec.ts";
import { ownCoin, setting, walletFunds } from "../../support/wallets/fundedWallet.ts";
import { agrees, plutusHash } from "../../support/plutus/scripts.ts";
import { person } from "../../support/wallets/person.ts";

const bob = person("bob");
const ada = 1_000_000n;
const soon = () => ({ deadline: Date.now() + 20_000 });
const assets = new Map([["ab".repeat(28) + "01", 5n]]);
const coins = () => [ownCoin(0, 50n * ada), ownCoin(1, 30n * ada, assets, 1), ownCoin(2, 9n * ada, assets, 57)];
let builders: Builders | undefined;

afterEach(async () => {
  await builders?.stop();
  builders = undefined;
});

describe("jobs of wallets", () => {
  test("give the same in threads as in this thread", async () => {
    builders = startBuilders({ threads: 1, log: silentLog });
    const intent = {
      payments: [{ address: bob.base, lovelace: 40n * ada, assets: [...assets] }, { address: bob.base, lovelace: ada }],
    };
    const input = { ...setting, intent, funds: walletFunds(coins()), seed: 3 };
    const built = await builders.run("construct", input, soon());
    expect(built).toEqual(construct(input));
    expect(built.ok).toBe(true);
    expect(await builders.run("fees", input, soon())).toEqual(estimateFees(input));
    if (!built.ok) return;
    const { transaction, txHash } = built.value;
    const owns = { addresses: input.funds.change, coins: input.funds.coins };
    const decoded = await builders.run("decode", { transaction, network: 0, keyDeposit: 2n * ada, owns }, soon());
    expect(decoded).toMatchObject({ ok: true, value: { id: txHash } });
  });

  test("evaluate the scripts of the transactions that they balance, including existing redeemers", async () => {
    builders = startBuilders({ threads: 1, log: silentLog });
    const policy = plutusHash(3, agrees);
    const minting = {
      inputs: [],
      outputs: [{ address: bob.base, value: lovelace(2n * ada) }],
      fee: 0n,
      mint: new Map([[policy, 1n]]),
      scripts: [agrees],
      redeemers: [{ for: { purpose: "mint", policy } as const, data: encode(1), units: { memory: 0n, steps: 0n } }],
    };
    const transaction = encodeTransaction(minting);
    const input = { ...setting, transaction, inputs: [], redeemers: [], funds: walletFunds(coins()) };
    const balanced = await builders.run("balance", input, soon());
    expect(balanced).toMatchObject({ ok: true, value: { selection: { collateral: [{ lovelace: 50n * ada }] } } });
  });
});

test("coins are packed without loss", () => {
  const some = coins();
  expect(unpackCoins(packCoins(some))).toEqual(some);
  expect(unpackCoins(packCoins([]))).toEqual([]);
});
