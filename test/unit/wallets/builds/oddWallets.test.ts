/** Unusual wallets: of Byron, with many assets, of dust, of thousands of coins; and intents with every feature. */
import { sha256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { byronAttributes } from "#src/cardano/byron.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { addWitnesses } from "#src/cardano/transaction.ts";
import { lovelace, sumValues } from "#src/cardano/value.ts";
import { minFee } from "#src/transaction/fee.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type Account, credentialKey } from "#src/ledger/state.ts";
import { construct } from "#src/wallets/builds/construct.ts";
import { decodeTransaction } from "#src/wallets/builds/decode.ts";
import { policyOfTemplate } from "#src/wallets/builds/policy.ts";
import { signingOf } from "#src/wallets/vault/walletSigning.ts";
import type {
  ConstructedTransaction,
  MintBurn,
  OwnCoin,
  PaymentIntent,
  WalletFunds,
} from "#src/wallets/builds/types.ts";
import { byronAddress } from "../../../support/chain/byron.ts";
import { cases } from "../../../support/base/longTests.ts";
import {
  accountOf,
  judged,
  ownCoin,
  policyKey,
  setting,
  signedFor,
  stakeKey,
  walletFunds,
} from "../../../support/wallets/fundedWallet.ts";
import { assetId, coin, person } from "../../../support/wallets/person.ts";

const bob = person("bob");
const ada = 1_000_000n;
const MOST = (1n << 64n) - 1n;

function build(intent: PaymentIntent, funds: WalletFunds, seed = 1): ConstructedTransaction {
  const built = construct({ ...setting, intent, funds, seed });
  if (!built.ok) throw new Error(`${built.error.code}: ${built.error.message}`);
  return built.value;
}

describe("a Byron wallet", () => {
  const keys = [0, 1, 2].map((i) => ({ key: sha256(utf8(`byron ${i}`)), chainCode: sha256(utf8(`chain ${i}`)) }));
  // the third has a path in its address, like those of random wallets: a longer witness
  const addresses = keys.map((parts, i) =>
    byronAddress({ ...parts, ...(i === 2 ? { attributes: { 1: new Uint8Array(30) } } : {}) })
  );
  const funds: WalletFunds = {
    coins: [0, 0, 1, 2].map((i) => ({ utxo: coin(addresses[i]!, 10n * ada), path: [i] })),
    change: [{ address: addresses[0]!, path: [0] }],
  };

  it("is spent from with a bootstrap witness for each address, at the minimum fee", async () => {
    const built = build({ payments: [{ address: bob.base, lovelace: 38n * ada }] }, funds);
    const signing = signingOf(built.transaction, { coins: funds.coins });
    if (!signing.ok) throw new Error(signing.error.message);
    expect(signing.value).toMatchObject({ hash: built.txHash, paths: [] });
    expect(signing.value.byron).toHaveLength(3);
    const hash = fromHex(signing.value.hash);
    const bootstraps = signing.value.byron.map(({ address, path }) => {
      const { key, chainCode } = keys[path[0]!]!;
      return { key: publicKey(key), signature: sign(key, hash), chainCode, attributes: byronAttributes(address) };
    });
    const once = addWitnesses(built.transaction, { bootstraps });
    expect(addWitnesses(once, { bootstraps })).toEqual(once);
    expect(once.length).toBe(built.size);
    expect(built.fee).toBe(minFee(mainnetParameters, { size: built.size - 1 }));
    expect(await judged(once, funds.coins.map(({ utxo }) => utxo))).toEqual([]);
    const decoded = decodeTransaction({
      transaction: once,
      network: 0,
      keyDeposit: 0n,
      owns: { addresses: [], coins: [] },
    });
    expect(decoded).toMatchObject({ ok: true, value: { witnesses: { keys: 0, bootstrap: 3 } } });
  });
});

describe("a wallet with many assets", () => {
  it("gets its change in bundles that outputs can hold", async () => {
    const rich = (count: number, from: number) =>
      new Map(Array.from({ length: count }, (_, i) => [assetId((from + i) % 250, i % 7), BigInt(i + 1)] as const));
    const same = assetId(251, 1);
    const coins = [
      ownCoin(0, 40n * ada, new Map([...rich(150, 0), [same, MOST]])),
      ownCoin(1, 40n * ada, new Map([...rich(60, 150), [same, MOST]])),
      ownCoin(2, 5n * ada, new Map([[same, 7n]])),
    ];
    const funds = walletFunds(coins);
    const built = build({ payments: [{ address: bob.base, lovelace: 30n * ada }] }, funds);
    expect(built.selection.change.length).toBeGreaterThan(2);
    const quantities = built.selection.change.flatMap(({ assets }) =>
      assets.filter(([asset]) => asset === same).map(([, n]) => n)
    );
    expect(quantities.every((n) => n <= MOST)).toBe(true);
    expect(quantities.reduce((a, b) => a + b, 0n)).toBeGreaterThan(MOST);
    expect(await judged(signedFor(built), coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  it("pays an asset out of several coins and keeps the rest", async () => {
    const asset = assetId(3, 3);
    const coins = [5n, 6n, 7n].map((n, i) => ownCoin(i, 4n * ada, new Map([[asset, n], [assetId(4, i), 1n]])));
    const funds = walletFunds(coins);
    const built = build({ payments: [{ address: bob.base, lovelace: 0n, assets: [[asset, 17n]] }] }, funds);
    const kept = sumValues(
      built.selection.change.map(({ lovelace, assets }) => ({ lovelace, assets: new Map(assets) })),
    );
    expect(kept.assets.get(asset)).toBe(1n);
    expect(kept.assets.size).toBe(4);
    expect(await judged(signedFor(built), coins.map(({ utxo }) => utxo))).toEqual([]);
  });
});

describe("a wallet of many coins", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ownCoin(i, BigInt(1_000_000 + (i * 7_919) % 50_000_000)));

  it("selects different coins each time, and makes change about as large as the payment", () => {
    const funds = walletFunds(many);
    const chosen = new Set<string>();
    const changes: bigint[] = [];
    for (let seed = 0; seed < 12; seed++) {
      const { spends, selection } = build({ payments: [{ address: bob.base, lovelace: 200n * ada }] }, funds, seed);
      chosen.add(spends.map(({ txHash }) => txHash).join());
      changes.push(selection.change.reduce((sum, one) => sum + one.lovelace, 0n));
    }
    expect(chosen.size).toBe(12);
    expect(changes.every((change) => change > 120n * ada && change < 280n * ada)).toBe(true);
  });

  it("reports that a transaction would be too large, for any selection", () => {
    const dust = Array.from({ length: 10_000 }, (_, i) => ownCoin(i, ada));
    const intent = { payments: [{ address: bob.base, lovelace: 5_000n * ada }] };
    expect(construct({ ...setting, intent, funds: walletFunds(dust) })).toMatchObject({
      ok: false,
      error: { code: "transaction_is_too_big" },
    });
    const round = construct({ ...setting, intent, funds: walletFunds(dust, { selection: "round-robin" }) });
    expect(round).toMatchObject({ ok: false, error: { code: "transaction_is_too_big" } });
  });

  it("omits change outputs if so many payments leave no space for them", async () => {
    const coins = Array.from({ length: 100 }, (_, i) => ownCoin(i, 10n * ada));
    const payments = coins.map(() => ({ address: bob.base, lovelace: 3n * ada }));
    for (const selection of ["per-output", "round-robin"] as const) {
      const built = build({ payments }, walletFunds(coins, { selection }));
      expect(built.selection.outputs).toHaveLength(100);
      expect(built.selection.change.length).toBeLessThan(60);
      expect(await judged(signedFor(built), coins.map(({ utxo }) => utxo))).toEqual([]);
    }
  });

  it("still pays what a transaction of the maximum size can", async () => {
    const dust = Array.from({ length: 2_000 }, (_, i): OwnCoin => ({ ...ownCoin(i % 3, ada), path: [i] }));
    const built = build({ payments: [{ address: bob.base, lovelace: 300n * ada }] }, walletFunds(dust));
    expect(built.selection.inputs.length).toBeGreaterThan(300);
    expect(await judged(signedFor(built), dust.map(({ utxo }) => utxo))).toEqual([]);
  });
});

describe("any intent", () => {
  const policy = policyOfTemplate("cosigner#0", policyKey);
  if (!policy.ok) throw new Error("no policy");
  const { id } = policy.value;
  const pool = "ab".repeat(28);
  const own = credentialKey({ kind: "key", hash: stakeKey });

  it("results in a transaction that the ledger accepts and that balances with deposits, rewards and minted value", async () => {
    const outcomes = new Map<string, number>();
    const mint = fc.record({
      name: fc.constantFrom("", "aa", "bb".repeat(32)),
      quantity: fc.bigInt(1n, 1_000n),
      operation: fc.constantFrom("mint" as const, "burn" as const),
      to: fc.constantFrom(undefined, undefined, bob.base),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt(2n * ada, 60n * ada), { minLength: 1, maxLength: 10 }),
        fc.array(fc.bigInt(ada, 30n * ada), { maxLength: 3 }),
        fc.array(mint, { maxLength: 3 }),
        fc.constantFrom("nothing", "join", "quit", "vote", "join and vote"),
        fc.record({ registered: fc.boolean(), rewards: fc.bigInt(0n, 9n * ada), withdraws: fc.boolean() }),
        fc.constantFrom(undefined, `a100${"64".padEnd(2)}74657874`.replace(/ /g, "")),
        fc.constantFrom("per-output" as const, "round-robin" as const),
        fc.nat(),
        async (holds, pays, mints, action, state, metadata, selection, seed) => {
          const coins = holds.map((amount, i) =>
            ownCoin(i, amount, i % 2 === 0 ? new Map([[id + "aa", 400n], [id, 2n]]) : new Map())
          );
          const rewards = state.registered ? state.rewards : 0n;
          const account = accountOf({
            registered: state.registered,
            deposit: state.registered ? 2n * ada : 0n,
            rewards,
            ...(state.registered ? { pool: "cd".repeat(28), drep: { kind: "no confidence" } } : {}),
          });
          const funds = walletFunds(coins, { account, selection });
          const intent: PaymentIntent = {
            payments: pays.map((amount) => ({ address: bob.base, lovelace: amount })),
            mintBurn: mints.map((one): MintBurn => ({ ...one, policy: { template: "cosigner#0" } })),
            delegations: action.startsWith("join") ? [{ pool, index: 0 }] : action === "quit" ? [{ index: 0 }] : [],
            vote: action.endsWith("vote") ? { kind: "abstain" } : undefined,
            withdrawal: state.withdraws ? "self" : undefined,
            metadata,
          };
          const built = construct({ ...setting, intent, funds, seed });
          const outcome = built.ok ? "built" : built.error.code;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          if (!built.ok) return;
          const { selection: shown, fee, size, transaction } = built.value;
          const signing = signingOf(transaction, { coins, account, policyKey: { hash: policyKey, path: [7] } });
          if (!signing.ok) throw new Error(signing.error.message);
          const paths = signing.value.paths.map(String);
          const signed = signedFor(
            built.value,
            ...(paths.includes(String(account.path)) ? [stakeKey] : []),
            ...(paths.includes("7") ? [policyKey] : []),
          );
          expect(signed.length).toBe(size);
          const least = minFee(mainnetParameters, { size: size - 1 });
          expect(shown.change.length > 0 ? fee === least : fee >= least).toBe(true);
          const held: [string, Account][] = state.registered
            ? [[own, { deposit: 2n * ada, balance: rewards, drep: "no confidence", pool: "cd".repeat(28) }]]
            : [];
          expect(await judged(signed, coins.map(({ utxo }) => utxo), new Map(held), [pool])).toEqual([]);
          const sum = (list: readonly { readonly lovelace: bigint }[]) =>
            list.reduce((total, one) => total + one.lovelace, 0n);
          const amounts = (list: readonly bigint[]) => sum(list.map(lovelace));
          expect(sum(shown.inputs) + sum(shown.withdrawals) + amounts(shown.depositsReturned))
            .toBe(sum(shown.outputs) + sum(shown.change) + fee + amounts(shown.depositsTaken));
        },
      ),
      { numRuns: cases(40, 150), seed: 21 },
    );
    expect(outcomes.get("built")).toBeGreaterThan(cases(12, 50));
    const expected = [
      "built",
      "not_enough_money",
      "cannot_cover_fee",
      "inputs_depleted",
      "created_invalid_transaction",
      "not_delegating_to",
      "non_null_rewards",
    ];
    expect([...outcomes.keys()].filter((code) => !expected.includes(code))).toEqual([]);
  });
});
