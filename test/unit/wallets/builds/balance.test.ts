/**
 * Partial transactions completed by balancing: golden values of other wallets, and scripts of every language, judged by
 * the ledger.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { rewardAddress, scriptAddress } from "#src/cardano/address.ts";
import { decodeAll, encode, Encoded, raw, Tagged } from "#src/cardano/cbor.ts";
import { readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import {
  addWitness,
  encodeOutput,
  encodeTransaction,
  madeOutput,
  type NewOutput,
  partsOf,
  type TransactionParts,
} from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { minFee } from "#src/transaction/fee.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { balanceTransaction } from "#src/wallets/builds/balance.ts";
import { decodeTransaction } from "#src/wallets/builds/decode.ts";
import type { BalanceInput, GivenRedeemer, WalletFunds } from "#src/wallets/builds/types.ts";
import { cases } from "../../../support/base/longTests.ts";
import {
  accountOf,
  addressAt,
  judged,
  ownCoin,
  pathAt,
  setting,
  signedFor,
  stakeKey,
  walletFunds,
} from "../../../support/wallets/fundedWallet.ts";
import { agrees, agreesWithThree, agreesWithTwo, plutusHash, refusesSaying } from "../../../support/plutus/scripts.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";
import { newRef, person } from "../../../support/wallets/person.ts";

const bob = person("bob");
const ada = 1_000_000n;
const unit = fromHex("d87980");

function partial(parts: Partial<TransactionParts>): Uint8Array {
  return encodeTransaction({ inputs: [], outputs: [], fee: 0n, ...parts });
}

function ask(transaction: Uint8Array, funds: WalletFunds, more: Partial<BalanceInput> = {}) {
  const input = { ...setting, transaction, inputs: [], redeemers: [], funds, seed: 1, ...more };
  const { parameters, slots } = setting;
  return balanceTransaction(input, (bytes, utxos) => evaluateScripts({ transaction: bytes, utxos, parameters, slots }));
}

function balanced(...request: Parameters<typeof ask>) {
  const result = ask(...request);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

function codeOf(...request: Parameters<typeof ask>): string {
  const result = ask(...request);
  return result.ok ? "balanced" : result.error.code;
}

describe("golden values of other wallets", () => {
  const delegate = {
    kind: "delegate",
    credential: { kind: "key", hash: stakeKey },
    to: { pool: "ab".repeat(28) },
  } as const;
  const scenarios: Record<string, Uint8Array> = {
    "1ada-payment": partial({ outputs: [{ address: bob.enterprise, value: lovelace(ada) }] }),
    delegate: partial({
      certificates: [
        encodeCertificate({ kind: "register", credential: delegate.credential }),
        encodeCertificate(delegate),
      ],
    }),
  };

  it.each(
    walletVectors("balance-tx-fee").map((one) =>
      [`${one.id} ${one.input.scenario} ${one.input.utxoLovelace}`, one] as const
    ),
  )(
    "%s",
    (_, { input, expected }) => {
      const coin = {
        utxo: {
          ref: newRef(),
          output: madeOutput({ address: bob.enterprise, value: lovelace(BigInt(input.utxoLovelace)) }),
        },
        path: [0],
      };
      const result = ask(scenarios[input.scenario]!, {
        coins: [coin],
        change: [{ address: addressAt(0, 1), path: pathAt(0, 1) }],
        account: accountOf(),
      });
      if (!expected.ok) {
        expect(result).toMatchObject({ ok: false, error: { code: expected.apiCode } });
        if (!result.ok && expected.shortfall !== undefined) {
          expect(result.error.details).toMatchObject({ shortfall: { ada: { quantity: BigInt(expected.shortfall) } } });
        }
        return;
      }
      if (!result.ok) throw new Error(result.error.code);
      expect(result.value.fee).toBe(BigInt(expected.fee));
      expect(result.value.selection.change.length > 0).toBe(expected.hasChange);
      expect(minFee(mainnetParameters, { size: result.value.size - 1 })).toBe(BigInt(expected.ledgerMinimumFee));
    },
  );
});

interface Case {
  readonly name: string;
  readonly language: 1 | 2 | 3;
  readonly spending: Uint8Array;
  readonly other: Uint8Array;
}

const scriptCases: readonly Case[] = [
  { name: "Plutus V1", language: 1, spending: agreesWithThree, other: agreesWithTwo },
  { name: "Plutus V2", language: 2, spending: agreesWithThree, other: agreesWithTwo },
  { name: "Plutus V3", language: 3, spending: agrees, other: agrees },
];

/** A partial transaction that carries a script of some language. */
function carrying(
  parts: Partial<TransactionParts>,
  language: 1 | 2 | 3,
  scripts: readonly Uint8Array[],
  datums: readonly Uint8Array[] = [],
): Uint8Array {
  const { body } = partsOf(partial(parts));
  const witnesses = new Map<number, Tagged>();
  if (datums.length > 0) witnesses.set(4, new Tagged(258, datums.map((datum) => new Encoded(datum))));
  witnesses.set({ 1: 3, 2: 6, 3: 7 }[language], new Tagged(258, scripts));
  return encode([new Encoded(raw(body)), witnesses, true, null]);
}

describe.each(scriptCases)("scripts of $name", ({ language, spending, other }) => {
  const hash = plutusHash(language, spending);
  const policy = plutusHash(language, other);
  const locked = (value = 5n * ada): Utxo => {
    const output: NewOutput = { address: scriptAddress(0, hash).hex, value: lovelace(value), datum: unit };
    return { ref: newRef(), output: madeOutput(output) };
  };
  const funds = () =>
    walletFunds([ownCoin(0, 50n * ada), ownCoin(1, 9n * ada), ownCoin(2, 6n * ada, new Map([["ab".repeat(28), 4n]]))]);

  it("spend and mint, at the minimum fee for their units", async () => {
    const own = funds();
    // Plutus V1 has no inline datum: there the output has the datum hash, and the transaction includes the datum.
    const utxo = language === 1 ? hashed() : locked();
    const transaction = carrying(
      {
        inputs: [utxo.ref],
        outputs: [{ address: bob.base, value: { lovelace: 3n * ada, assets: new Map([[policy + "aa", 7n]]) } }],
        mint: new Map([[policy + "aa", 7n]]),
        validTo: 9_000,
      },
      language,
      [...new Set([spending, other])],
      language === 1 ? [unit] : [],
    );
    const redeemers: GivenRedeemer[] = [
      { purpose: "spending", data: unit, ref: utxo.ref },
      { purpose: "minting", data: encode(42), policy },
    ];
    const built = balanced(transaction, own, { inputs: [utxo], redeemers });
    const signed = signedFor(built);
    expect(await judged(signed, [utxo, ...own.coins.map(({ utxo }) => utxo)])).toEqual([]);
    expect(signed.length).toBe(built.size);
    const read = readTransaction(signed);
    if (!read.ok) throw new Error(read.error.message);
    expect(built.fee).toBe(minFee(mainnetParameters, { size: read.value.size, units: read.value.units }));
    expect(built.selection.collateral).toMatchObject([{ lovelace: 9n * ada, assets: [] }]);
    csl.Transaction.from_bytes(signed);

    function hashed(): Utxo {
      const address = scriptAddress(0, hash).hex;
      const datumHash = csl.hash_plutus_data(csl.PlutusData.from_bytes(unit)).to_bytes();
      const bytes = encode([fromHex(address), 5n * ada, datumHash]);
      return {
        ref: newRef(),
        output: { ...locked().output, address, raw: bytes, datumHash: toHex(datumHash), datum: undefined! },
      };
    }
  });

  it("withdraw", async () => {
    const account = rewardAddress(0, { kind: "script", hash: policy });
    const own = funds();
    const transaction = carrying(
      { withdrawals: [{ account: account.hex, amount: 3n * ada }], validTo: 9_000 },
      language,
      [other],
    );
    const built = balanced(transaction, own, {
      redeemers: [{ purpose: "rewarding", data: unit, account: account.hex }],
    });
    const accounts = new Map([[credentialKey({ kind: "script", hash: policy }), {
      deposit: 2n * ada,
      balance: 3n * ada,
      drep: "abstain",
    }]]);
    expect(await judged(signedFor(built), own.coins.map(({ utxo }) => utxo), accounts)).toEqual([]);
  });
});

it("evaluates once or rarely twice, however many coins are available", () => {
  const policy = plutusHash(3, agrees);
  const transaction = carrying(
    {
      outputs: [{ address: bob.base, value: lovelace(40n * ada) }],
      mint: new Map([[policy, 1n]]),
    },
    3,
    [agrees],
  );
  const own = walletFunds(Array.from({ length: 300 }, (_, i) => ownCoin(i, BigInt(2 + i % 9) * ada)));
  const { seed: _, ...input } = {
    ...setting,
    seed: 0,
    transaction,
    inputs: [],
    redeemers: [{ purpose: "minting", data: unit, policy }] satisfies GivenRedeemer[],
    funds: own,
  };
  let runs = 0;
  const result = balanceTransaction(input, (bytes, utxos) => {
    runs++;
    return evaluateScripts({ transaction: bytes, utxos, parameters: setting.parameters, slots: setting.slots });
  });
  expect(result.ok).toBe(true);
  expect(runs).toBeLessThanOrEqual(3);
});

describe("coins that others may send to a wallet", () => {
  const minting = (language: 1 | 3, script: Uint8Array, outputs: readonly Encoded[] = []) => {
    const policy = plutusHash(language, script);
    return {
      transaction: carrying({ outputs, mint: new Map([[policy, 1n]]) }, language, [script]),
      redeemers: [{ purpose: "minting", data: unit, policy }] satisfies GivenRedeemer[],
    };
  };
  const gift = (datum: Uint8Array) => {
    const output = encodeOutput({ address: addressAt(0), value: lovelace(40n * ada), datum });
    return { utxo: { ref: newRef(), output: readOutput(decodeAll(output)) }, path: pathAt(0) };
  };

  it("are spent, however deeply their datum is nested", () => {
    const deep = gift(Uint8Array.from([...new Array<number>(5_000).fill(0x81), 5]));
    const { transaction, redeemers } = minting(3, agrees);
    expect(balanced(transaction, walletFunds([deep]), { redeemers }).spends).toEqual([deep.utxo.ref]);
  });

  it("are not spent along with Plutus V1 if they have an inline datum", () => {
    const shown = gift(unit);
    const coin = ownCoin(1, 50n * ada);
    const { transaction, redeemers } = minting(1, agreesWithTwo);
    for (const coins of [[shown, coin], [coin, shown]]) {
      const read = readTransaction(balanced(transaction, walletFunds(coins), { redeemers }).transaction);
      expect(read.ok && read.value.body.inputs).toEqual([coin.utxo.ref]);
    }
  });

  it("may be in unusual encodings in the partial transaction too", () => {
    const odd = new Encoded(fromHex(`bf00583900${"11".repeat(56)}011a001e8480ff`));
    const { transaction, redeemers } = minting(3, agrees, [odd]);
    expect(codeOf(transaction, walletFunds([ownCoin(1, 50n * ada)]), { redeemers })).toBe("balanced");
  });
});

describe("a partial transaction", () => {
  const pay = (amount: bigint) => ({ outputs: [{ address: bob.base, value: lovelace(amount) }] });

  it("keeps its bytes except for the necessary changes", () => {
    // an output as a map of indefinite length, and metadata: no encoder here writes them in that form
    const body = encode(
      new Map<number, Encoded | bigint | Uint8Array>([
        [0, new Encoded(fromHex("80"))],
        [1, new Encoded(fromHex(`81bf00583900${"11".repeat(56)}011a001e8480ff`))],
        [2, 0n],
        [3, 5_000n],
        [7, fromHex("22".repeat(32))],
      ]),
    );
    const transaction = encode([
      new Encoded(body),
      new Map([[1, [new Encoded(fromHex(`8200581c${"33".repeat(28)}`))]]]),
      true,
      new Encoded(fromHex("bf00a0ff")),
    ]);
    const built = balanced(transaction, walletFunds([ownCoin(0, 50n * ada)]));
    const hex = toHex(built.transaction);
    expect(hex).toContain(`bf00583900${"11".repeat(56)}011a001e8480ff`);
    expect(hex).toContain(`a101818200581c${"33".repeat(28)}f5`);
    expect(hex.endsWith("bf00a0ff")).toBe(true);
    expect(hex).toContain(`075820${"22".repeat(32)}`);
  });

  it("may have the wallet's coins as inputs, and others that the request states", async () => {
    const theirs = { ref: newRef(), output: madeOutput({ address: bob.base, value: lovelace(4n * ada) }) };
    const mine = ownCoin(0, 5n * ada);
    const own = walletFunds([mine, ownCoin(1, 30n * ada)]);
    const transaction = partial({ ...pay(7n * ada), inputs: [theirs.ref, mine.utxo.ref], validTo: 9_000 });
    const built = balanced(transaction, own, { inputs: [theirs] });
    expect(built.selection.inputs.map(({ ref, lovelace, path }) => [refKey(ref), lovelace, path])).toEqual([
      [refKey(mine.utxo.ref), 5n * ada, mine.path],
      [refKey(theirs.ref), 4n * ada, []],
    ]);
    expect(built.spends).toEqual([mine.utxo.ref]);
    const unsigned = await judged(signedFor(built), [theirs, ...own.coins.map(({ utxo }) => utxo)]);
    expect(unsigned).toEqual([{ name: "MissingVKeyWitnessesUTXOW", keys: [bob.key] }]);
  });

  it("gets deposits paid and rewards counted", () => {
    const credential = { kind: "key", hash: stakeKey } as const;
    const own = walletFunds([ownCoin(0, 50n * ada)], { account: accountOf() });
    const registers = partial({
      certificates: [encodeCertificate({ kind: "register", credential, deposit: 2n * ada })],
    });
    const left = (built: ReturnType<typeof balanced>) =>
      built.fee + built.selection.change.reduce((sum, one) => sum + one.lovelace, 0n);
    expect(left(balanced(registers, own))).toBe(48n * ada);
    expect(balanced(registers, own).selection).toMatchObject({
      depositsTaken: [2n * ada],
      certificates: [{ type: "register_reward_account", path: pathAt(0, 2) }],
    });
    const ends = partial({
      certificates: [encodeCertificate({ kind: "unregister", credential })],
      withdrawals: [{ account: rewardAddress(0, credential).hex, amount: 3n * ada }],
    });
    expect(left(balanced(ends, own))).toBe(55n * ada);
    expect(left(balanced(ends, own, { deposits: new Map([[`key-${stakeKey}`, 7n]]) }))).toBe(53n * ada + 7n);
  });

  it("pays a pool's deposit once, and not again for a registered pool", () => {
    const own = walletFunds([ownCoin(0, 900n * ada)]);
    const pool = "cd".repeat(28);
    const account = fromHex(rewardAddress(0, { kind: "key", hash: stakeKey }).hex);
    const margin = new Tagged(30, [1, 2]);
    const registers = encode([
      3,
      fromHex(pool),
      new Uint8Array(32),
      0,
      500,
      margin,
      account,
      [fromHex(stakeKey)],
      [],
      null,
    ]);
    const left = (certificates: readonly Uint8Array[], pools: readonly string[] = []) => {
      const { fee, selection } = balanced(partial({ certificates }), own, { pools });
      return 900n * ada - fee - selection.change.reduce((sum, one) => sum + one.lovelace, 0n);
    };
    const { poolDeposit } = mainnetParameters;
    expect(left([registers])).toBe(poolDeposit);
    expect(left([registers, registers])).toBe(poolDeposit);
    expect(left([registers], [pool])).toBe(0n);
    expect(left([registers], ["ef".repeat(28)])).toBe(poolDeposit);
  });

  it("is refused with the code of the reason", () => {
    const own = walletFunds([ownCoin(0, 50n * ada)]);
    const plain = partial(pay(2n * ada));
    expect(codeOf(plain, own)).toBe("balanced");
    expect(codeOf(fromHex("80"), own)).toBe("bad_request");
    const signed = addWitness(plain, { key: new Uint8Array(32), signature: new Uint8Array(64) });
    expect(codeOf(signed, own)).toBe("balance_tx_existing_key_witnesses");
    expect(codeOf(partial({ ...pay(2n * ada), collateral: [newRef()] }), own)).toBe("balance_tx_existing_collateral");
    expect(codeOf(partial({ ...pay(2n * ada), totalCollateral: 5n }), own)).toBe(
      "balance_tx_existing_total_collateral",
    );
    const rewards = (networks: readonly string[]) =>
      partial({
        withdrawals: networks.map((network, i) => ({ account: `e${network}${"ab".repeat(27)}0${i}`, amount: 1n })),
      });
    expect(codeOf(rewards(["0", "1"]), own)).toBe("balance_tx_conflicting_networks");
    expect(codeOf(rewards(["0", "0"]), own)).not.toBe("balance_tx_conflicting_networks");
    const back = { address: bob.base, value: lovelace(ada) };
    expect(codeOf(partial({ ...pay(2n * ada), collateralReturn: back }), own)).toBe(
      "balance_tx_existing_return_collateral",
    );
    const stranger = newRef();
    expect(codeOf(partial({ ...pay(2n * ada), inputs: [stranger] }), own)).toBe("unresolved_inputs");
    const stated = (amount: bigint): Utxo => ({
      ref: stranger,
      output: madeOutput({ address: bob.base, value: lovelace(amount) }),
    });
    expect(codeOf(partial({ ...pay(2n * ada), inputs: [stranger] }), own, { inputs: [stated(ada), stated(2n * ada)] }))
      .toBe("input_resolution_conflicts");
    expect(codeOf(plain, own, { redeemers: [{ purpose: "spending", data: unit, ref: stranger }] })).toBe(
      "redeemer_target_not_found",
    );
    expect(codeOf(partial(pay(5n)), own)).toBe("utxo_too_small");
    expect(codeOf(partial(pay(500n * ada)), own)).toBe("not_enough_money");
    expect(codeOf(plain, walletFunds([]))).toBe("no_utxos_available");
  });

  it("is refused if its script refuses, its data is invalid, or nothing can be collateral", () => {
    const script = refusesSaying("not today");
    const policy = plutusHash(3, script);
    const minting = { ...pay(2n * ada), mint: new Map([[policy, 1n]]) };
    const redeemers: GivenRedeemer[] = [{ purpose: "minting", data: unit, policy }];
    const refused = ask(carrying(minting, 3, [script]), walletFunds([ownCoin(0, 50n * ada)]), { redeemers });
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "redeemer_script_failure", details: { logs: ["not today"] } },
    });
    const agreeing = plutusHash(3, agrees);
    const fine = carrying({ ...pay(2n * ada), mint: new Map([[agreeing, 1n]]) }, 3, [agrees]);
    const resultWith = (funds: WalletFunds, data = unit) =>
      codeOf(fine, funds, { redeemers: [{ purpose: "minting", data, policy: agreeing }] });
    expect(resultWith(walletFunds([ownCoin(0, 50n * ada)]))).toBe("balanced");
    for (const none of ["1f", "6161", "f5", "c101", "4100ff"]) {
      expect(resultWith(walletFunds([ownCoin(0, 50n * ada)]), fromHex(none)), none).toBe("redeemer_invalid_data");
    }
    const shelf = {
      ...ownCoin(0, 50n * ada),
      utxo: {
        ref: newRef(),
        output: madeOutput({ address: addressAt(0), value: lovelace(50n * ada), script: encode([3, agrees]) }),
      },
    };
    expect(resultWith(walletFunds([shelf]))).toBe("insufficient_collateral");
  });

  it("is valid for any content and any coins of the wallet", async () => {
    let built = 0;
    const amounts = fc.array(fc.bigInt(ada, 80n * ada), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(amounts, amounts, fc.nat({ max: 3 }), fc.nat(), async (holds, pays, given, seed) => {
        const own = walletFunds(holds.map((amount, i) => ownCoin(i, amount)));
        const transaction = partial({
          inputs: own.coins.slice(0, given).map(({ utxo }) => utxo.ref),
          outputs: pays.map((amount) => ({ address: bob.enterprise, value: lovelace(amount) })),
          validTo: 9_000,
        });
        const result = ask(transaction, own, { seed });
        if (!result.ok) {
          expect(["not_enough_money", "cannot_cover_fee"]).toContain(result.error.code);
          return;
        }
        built++;
        const { fee, selection, size, transaction: bytes } = result.value;
        const least = minFee(mainnetParameters, { size: size - 1 });
        expect(selection.change.length > 0 ? fee === least : fee >= least).toBe(true);
        const signed = signedFor(result.value);
        expect(await judged(signed, own.coins.map(({ utxo }) => utxo))).toEqual([]);
        const decoded = decodeTransaction({
          transaction: bytes,
          network: 0,
          keyDeposit: 0n,
          owns: { addresses: [], coins: own.coins },
        });
        expect(decoded.ok && decoded.value.inputs.length).toBe(selection.inputs.length);
      }),
      { numRuns: cases(20, 60), seed: 11 },
    );
    expect(built).toBeGreaterThan(cases(4, 15));
  });
});
