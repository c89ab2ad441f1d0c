/** Transactions of shared wallets: constructed, signed in turn, judged by the ledger. */
import { describe, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { ledgerSize, minFee } from "#src/transaction/fee.ts";
import { derivePath, HARD, rootKey, type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { addWitness } from "#src/cardano/transaction.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { construct } from "#src/wallets/builds/construct.ts";
import type { OwnCoin, PaymentIntent, StakeAccount, WalletFunds } from "#src/wallets/builds/types.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";
import { hashOf, scriptAt, stakeCredential, stakeScript } from "#src/wallets/shared/account.ts";
import { scriptsIn, sharedSigning, signingStateOf } from "#src/wallets/shared/sign.ts";
import type { ScriptForm, ScriptTemplate } from "#src/wallets/shared/types.ts";
import { validityWithin } from "#src/wallets/shared/validity.ts";
import { judged, setting } from "../../support/wallets/fundedWallet.ts";
import { coin, person } from "../../support/wallets/person.ts";
import { sharedAddress } from "../../support/wallets/sharedAddress.ts";

const ada = 1_000_000n;
const bob = person("bob");
const POOL = "ab".repeat(28);

const accounts = [1, 2, 3].map((n) =>
  derivePath(rootKey(new Uint8Array(32).fill(n)), [HARD + 1854, HARD + 1815, HARD])
);
const keys = Object.fromEntries(accounts.map((account, n) => [`cosigner#${n}`, writeXpub(toPublic(account))]));
const template = (script: ScriptForm): ScriptTemplate => ({ script, keys });

interface Shared {
  readonly payment: ScriptTemplate;
  readonly delegation?: ScriptTemplate;
}

const pathAt = (role: number, index: number) => [HARD + 1854, HARD + 1815, HARD, role, index];

function coinsOf(wallet: Shared, ...amounts: readonly bigint[]): OwnCoin[] {
  return amounts.map((amount, i) => ({ utxo: coin(sharedAddress(wallet, 0, i), amount), path: pathAt(0, i) }));
}

function walletFunds(wallet: Shared, coins: readonly OwnCoin[], account?: Partial<StakeAccount>): WalletFunds {
  const credential = stakeCredential(wallet.delegation);
  return {
    coins,
    change: [0, 1, 2].map((i) => ({ address: sharedAddress(wallet, 1, i), path: pathAt(1, i) })),
    scripts: [
      ...coins.map(({ path }) => encodeNative(scriptAt(wallet.payment, path[3]!, path[4]!))),
      ...(wallet.delegation ? [encodeNative(stakeScript(wallet.delegation))] : []),
    ],
    ...(credential
      ? { account: { credential, path: pathAt(2, 0), registered: false, deposit: 0n, rewards: 0n, ...account } }
      : {}),
  };
}

function built(wallet: Shared, intent: PaymentIntent, funds: WalletFunds) {
  const validity = validityWithin([wallet.payment.script], intent.validity, {
    slot: setting.slot,
    slotLengthMs: 1_000,
  });
  const made = construct({ ...setting, intent: { ...intent, validity }, funds, seed: 1 });
  if (!made.ok) throw new Error(`${made.error.code}: ${made.error.message}`);
  return made.value;
}

/** The checks of a cosigner's server before it signs. */
function signingBy(wallet: Shared, who: number, transaction: Uint8Array) {
  const places = [0, 1, 2, 3].flatMap((index) => [0, 1].map((role) => ({ template: wallet.payment, role, index })));
  const stake = wallet.delegation ? [{ template: wallet.delegation, role: 2, index: 0 }] : [];
  const byHash = new Map(
    [...places, ...stake].map(({ template, role, index }) => [hashOf(scriptAt(template, role, index)), [role, index]]),
  );
  const own = scriptsIn(transaction).flatMap((script) =>
    byHash.has(script) ? [{ script, path: byHash.get(script)! }] : []
  );
  return sharedSigning({ transaction, account: keys[`cosigner#${who}`]!, own });
}

function signBy(wallet: Shared, who: number, transaction: Uint8Array): Uint8Array {
  const { hash, paths } = signingBy(wallet, who, transaction);
  return addWitness(
    transaction,
    ...paths.map((path) => {
      const { key } = derivePath(accounts[who] as SecretNode, path);
      return { key: publicKey(key), signature: sign(key, fromHex(hash)) };
    }),
  );
}

const payments = [{ address: bob.base, lovelace: 7n * ada }];

describe("a shared wallet's payment", () => {
  const all = { payment: template({ all: ["cosigner#0", "cosigner#1", "cosigner#2"] }) };

  test("of all is refused until the last has signed, and then has exactly the minimum fee", async () => {
    const funds = walletFunds(all, coinsOf(all, 20n * ada, 20n * ada));
    const { transaction, fee, size } = built(all, { payments }, funds);
    const utxos = funds.coins.map(({ utxo }) => utxo);
    let signed = transaction;
    for (const who of [2, 0]) {
      signed = signBy(all, who, signed);
      expect(await judged(signed, utxos)).not.toEqual([]);
      expect(signingBy(all, 1, signed)).toMatchObject({ agrees: false, expected: 3, detected: who === 2 ? 1 : 2 });
    }
    signed = signBy(all, 1, signed);
    expect(signingBy(all, 1, signed)).toMatchObject({ agrees: true, paths: [], expected: 3, detected: 3 });
    expect(await judged(signed, utxos)).toEqual([]);
    expect(signed.length).toBe(size);
    expect(fee).toBe(minFee(mainnetParameters, { size: ledgerSize(signed.length), refScriptBytes: 0 }));
  });

  test.each([[[0, 1]], [[2, 1]], [[1, 0, 2]]])("of two of three is accepted when %j sign", async (order) => {
    const wallet = { payment: template({ some: { at_least: 2, from: ["cosigner#0", "cosigner#1", "cosigner#2"] } }) };
    const funds = walletFunds(wallet, coinsOf(wallet, 20n * ada));
    const { transaction, fee, size } = built(wallet, { payments }, funds);
    const signed = order.reduce((made, who) => signBy(wallet, who, made), transaction);
    expect(await judged(signed, funds.coins.map(({ utxo }) => utxo))).toEqual([]);
    expect(signingStateOf(signed).signers.size).toBe(2);
    expect(signed.length).toBe(size);
    expect(fee).toBe(minFee(mainnetParameters, { size: ledgerSize(signed.length), refScriptBytes: 0 }));
  });

  test.each<ScriptForm>([
    { all: ["cosigner#0", { active_from: 400 }] },
    { all: ["cosigner#0", { active_until: 600 }, { active_from: 100 }] },
    { any: [{ all: ["cosigner#0", { active_from: 300 }] }, { all: ["cosigner#1", "cosigner#2"] }] },
    { all: [{ any: ["cosigner#0", "cosigner#1"] }, { all: [{ active_until: 505 }] }] },
  ])("respects the times of its script (%#)", async (script) => {
    const wallet = { payment: template(script) };
    const funds = walletFunds(wallet, coinsOf(wallet, 20n * ada));
    const { transaction } = built(wallet, { payments }, funds);
    const signed = signBy(wallet, 0, transaction);
    expect(await judged(signed, funds.coins.map(({ utxo }) => utxo))).toEqual([]);
  });

  test("of several outputs uses a coin for each, each with its own script", async () => {
    const funds = walletFunds(all, coinsOf(all, 20n * ada, 20n * ada, 20n * ada));
    const two = [...payments, { address: bob.enterprise, lovelace: 3n * ada }];
    const { transaction, selection } = built(all, { payments: two }, funds);
    expect(selection.inputs).toHaveLength(2);
    const signed = [0, 1, 2].reduce((made, who) => signBy(all, who, made), transaction);
    expect(signingStateOf(signed).signers.size).toBe(6);
    expect(await judged(signed, funds.coins.map(({ utxo }) => utxo))).toEqual([]);
  });
});

describe("a shared wallet's stake", () => {
  const wallet = {
    payment: template({ all: ["cosigner#0", "cosigner#1"] }),
    delegation: template({ any: ["cosigner#0", "cosigner#1"] }),
  };
  const delegations = [{ pool: POOL, index: 0 }];
  const stake = credentialKey(stakeCredential(wallet.delegation)!);

  test("is registered and delegated by its script", async () => {
    const funds = walletFunds(wallet, coinsOf(wallet, 20n * ada));
    const { transaction, selection, size } = built(wallet, { delegations }, funds);
    expect(selection.depositsTaken).toEqual([2n * ada]);
    const utxos = funds.coins.map(({ utxo }) => utxo);
    const half = signBy(wallet, 1, transaction);
    expect(await judged(half, utxos, new Map(), [POOL])).not.toEqual([]);
    const signed = signBy(wallet, 0, half);
    expect(await judged(signed, utxos, new Map(), [POOL])).toEqual([]);
    expect(signed.length).toBe(size);
  });

  test("is deregistered with its rewards", async () => {
    const account = { registered: true, deposit: 2n * ada, rewards: 5n * ada, pool: POOL };
    const funds = walletFunds(wallet, coinsOf(wallet, 20n * ada), account);
    const { transaction, selection } = built(wallet, { delegations: [{ index: 0 }], withdrawal: "self" }, funds);
    expect(selection.depositsReturned).toEqual([2n * ada]);
    const signed = [0, 1].reduce((made, who) => signBy(wallet, who, made), transaction);
    const known = new Map([[stake, { deposit: 2n * ada, balance: 5n * ada, pool: POOL }]]);
    expect(await judged(signed, funds.coins.map(({ utxo }) => utxo), known, [POOL])).toEqual([]);
  });
});
