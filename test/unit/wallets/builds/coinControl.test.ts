/** Coins and change that the author of a transaction chooses, for wallets of every kind of address. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { derivePath, HARD, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { refKey } from "#src/cardano/output.ts";
import { addValues, lovelace, sameValue, sumValues, type Value } from "#src/cardano/value.ts";
import { construct, estimateFees } from "#src/wallets/builds/construct.ts";
import type { CoinControl, OwnCoin, PaymentIntent, WalletFunds } from "#src/wallets/builds/types.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";
import { scriptAt } from "#src/wallets/shared/account.ts";
import { byronAddress } from "../../../support/chain/byron.ts";
import { sharedAddress } from "../../../support/wallets/sharedAddress.ts";
import {
  addressAt,
  judged,
  ownCoin,
  pathAt,
  setting,
  signedFor,
  walletFunds,
} from "../../../support/wallets/fundedWallet.ts";
import { assetId, coin, newRef, person } from "../../../support/wallets/person.ts";
import { cases } from "../../../support/base/longTests.ts";

const ada = 1_000_000n;
const bob = person("bob");

const account = derivePath(rootKey(new Uint8Array(32).fill(7)), [HARD + 1854, HARD + 1815, HARD]);
const payment = { script: { all: ["cosigner#0"] }, keys: { "cosigner#0": writeXpub(toPublic(account)) } };
const byronAt = (index: number) => byronAddress({ root: new Uint8Array(28).fill(index) });

type Amount = readonly [amount: bigint, assets: ReadonlyMap<string, bigint>, preference: number];

/** Wallets by the kind of their addresses. */
const KINDS: Readonly<Record<string, (amounts: readonly Amount[]) => WalletFunds>> = {
  shelley: (amounts) =>
    walletFunds(amounts.map(([amount, assets, preference], i) => ownCoin(i, amount, assets, preference))),
  shared: (amounts) =>
    walletFunds(
      amounts.map(([amount, assets, preference], i) => ({
        utxo: coin(sharedAddress({ payment }, 0, i % 5), amount, assets),
        path: pathAt(i % 5),
        preference,
      })),
      {
        scripts: [0, 1, 2, 3, 4].map((i) => encodeNative(scriptAt(payment, 0, i))),
        change: [{ address: sharedAddress({ payment }, 1, 0), path: pathAt(0, 1) }],
      },
    ),
  byron: (amounts) =>
    walletFunds(
      amounts.map(([amount, assets, preference], i) => ({
        utxo: coin(byronAt(i % 5), amount, assets),
        path: [HARD, HARD + i % 5],
        preference,
      })),
      { change: [{ address: byronAt(9), path: [HARD, HARD + 9] }] },
    ),
};

const amounts = fc.array(
  fc.tuple(
    fc.bigInt(2n * ada, 80n * ada),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(new Map<string, bigint>()) },
      { weight: 1, arbitrary: fc.bigInt(1n, 99n).map((n) => new Map([[assetId(1, 1), n]])) },
    ),
    fc.constantFrom(0, 0, 1, 50),
  ),
  { minLength: 1, maxLength: 25 },
);
/** For each coin: 0 free, 1 to be spent, 2 to be avoided. */
const marks = fc.array(fc.constantFrom(0, 0, 0, 1, 2), { minLength: 25, maxLength: 25 });
const payments = fc.array(fc.bigInt(2n * ada, 30n * ada), { maxLength: 3 });

const refsOf = (coins: readonly OwnCoin[]) => coins.map(({ utxo }) => utxo.ref);

describe("a choice of coins", () => {
  it.each(Object.entries(KINDS))("is kept by every transaction that is built: %s", async (kind, heldFunds) => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        amounts,
        marks,
        payments,
        fc.boolean(),
        fc.constantFrom("per-output" as const, "round-robin" as const),
        fc.nat(),
        async (held, marks, paid, only, selection, seed) => {
          const funds = { ...heldFunds(held), selection };
          const [spend, avoid] = [1, 2].map((mark) => funds.coins.filter((_, i) => marks[i] === mark));
          const coins: CoinControl = {
            spend: refsOf(spend!),
            only: only && spend!.length > 0,
            avoid: refsOf(avoid!),
          };
          const intent: PaymentIntent = {
            payments: paid.map((amount) => ({ address: bob.base, lovelace: amount })),
            metadata: "a10a00",
            coins,
          };
          const built = construct({ ...setting, intent, funds, seed });
          const code = built.ok ? "built" : built.error.code;
          seen.set(code, (seen.get(code) ?? 0) + 1);
          if (!built.ok) {
            // the choice alone never makes a payment fail that the chosen and the free coins cover
            const usable = coins.only ? spend! : funds.coins.filter((one) => !avoid!.includes(one));
            const sum = usable.reduce((all, { utxo }) => all + utxo.output.value.lovelace, 0n);
            if (coins.spend.length > 0) {
              expect(sum).toBeLessThan(paid.reduce((all, one) => all + one, 0n) + 2n * ada * BigInt(1 + paid.length));
            }
            return;
          }
          const { fee, spends, selection: { inputs, outputs, change } } = built.value;
          const keys = inputs.map(({ ref }) => refKey(ref));
          expect(new Set(keys).size).toBe(keys.length);
          expect(spends.map(refKey).sort()).toEqual([...keys].sort());
          const required = refsOf(spend!).map(refKey);
          expect(keys).toEqual(expect.arrayContaining(required));
          if (coins.only) expect(keys).toHaveLength(required.length);
          const avoided = new Set(refsOf(avoid!).map(refKey));
          expect(keys.filter((key) => avoided.has(key))).toEqual([]);
          const valueOf = (one: { lovelace: bigint; assets: Iterable<readonly [string, bigint]> }): Value => ({
            lovelace: one.lovelace,
            assets: new Map(one.assets),
          });
          const out = addValues(sumValues([...outputs, ...change].map(valueOf)), lovelace(fee));
          expect(sameValue(sumValues(inputs.map(valueOf)), out)).toBe(true);
          if (kind === "shelley") {
            expect(await judged(signedFor(built.value), funds.coins.map(({ utxo }) => utxo))).toEqual([]);
          }
        },
      ),
      { numRuns: cases(40, 150), seed: 5 },
    );
    expect(seen.get("built")).toBeGreaterThan(cases(20, 75));
  });

  const funds = walletFunds([ownCoin(0, 5n * ada), ownCoin(1, 50n * ada), ownCoin(2, 9n * ada)]);
  const [small, large] = refsOf(funds.coins);
  const build = (intent: PaymentIntent, more: Partial<WalletFunds> = {}) =>
    construct({ ...setting, intent, funds: { ...funds, ...more }, seed: 1 });
  const pay = (...amounts: bigint[]) => ({ payments: amounts.map((one) => ({ address: bob.base, lovelace: one })) });

  it("lets one input pay several payments, whatever the wallet's selection is", () => {
    const built = build({ ...pay(3n * ada, 4n * ada), coins: { spend: [large!], only: true, avoid: [] } });
    expect(built.ok && built.value.selection.inputs.map(({ ref }) => ref)).toEqual([large]);
    expect(built.ok && built.value.selection.change).toHaveLength(2);
  });

  it("that is too small is refused as a wallet without the other coins is", () => {
    const only = { spend: [small!], only: true, avoid: [] };
    expect(build({ ...pay(6n * ada), coins: only })).toMatchObject({
      error: { code: "not_enough_money", details: { shortfall: { ada: { quantity: ada } } } },
    });
    expect(build({ ...pay(5n * ada), coins: only })).toMatchObject({ error: { code: "cannot_cover_fee" } });
    const avoid = { spend: [], only: false, avoid: refsOf(funds.coins) };
    expect(build({ ...pay(2n * ada), coins: avoid })).toMatchObject({ error: { code: "no_utxos_available" } });
    const fees = estimateFees({ ...setting, intent: { ...pay(5n * ada), coins: only }, funds });
    expect(fees.ok && fees.value.least).toBeGreaterThan(150_000n);
  });

  it("with an input that is not the wallet's, or whose script is unknown, names it", () => {
    const foreign = newRef();
    const script = { utxo: coin(sharedAddress({ payment }, 0, 0), 9n * ada), path: pathAt(0) };
    const coins = [...funds.coins, script];
    const spend = [small!, foreign, script.utxo.ref];
    expect(build({ ...pay(2n * ada), coins: { spend, only: false, avoid: [] } }, { coins })).toMatchObject({
      error: {
        code: "inputs_not_available",
        details: { inputs: [foreign, script.utxo.ref].map(({ txHash, index }) => ({ id: txHash, index })) },
      },
    });
  });
});

describe("a chosen change address", () => {
  it("takes all change", () => {
    const change = [{ address: addressAt(17), path: pathAt(17) }];
    const funds = walletFunds([ownCoin(0, 50n * ada), ownCoin(1, 60n * ada)], { change });
    const payments = [3n, 4n].map((n) => ({ address: bob.base, lovelace: n * ada }));
    const built = construct({ ...setting, intent: { payments }, funds, seed: 1 });
    expect(built.ok && built.value.selection.change.map(({ address, path }) => [address, path])).toEqual([
      [addressAt(17), pathAt(17)],
      [addressAt(17), pathAt(17)],
    ]);
  });
});
