/**
 * Delegations, votes, withdrawals, minting, metadata and validity: built, signed by the keys that the wallet lists as
 * signers, judged, decoded.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { messaged } from "#src/base/json.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { derivePath, parsePath, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";
import { encodeNative, nativeHash } from "#src/cardano/nativeScript.ts";
import { addWitness, encodeTransaction, witnessBytes } from "#src/cardano/transaction.ts";
import { decodedView } from "#src/wallets/http/decodedView.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type Account, credentialKey } from "#src/ledger/state.ts";
import { construct, estimateFees } from "#src/wallets/builds/construct.ts";
import { decodeTransaction, lookupsOf } from "#src/wallets/builds/decode.ts";
import { isWithin, policyOfTemplate } from "#src/wallets/builds/policy.ts";
import { signingOf } from "#src/wallets/vault/walletSigning.ts";
import type { ConstructedTransaction, PaymentIntent, PolicyTemplate, WalletFunds } from "#src/wallets/builds/types.ts";
import { readMetadata } from "#src/cardano/metadata/json.ts";
import { encodeMetadata } from "#src/cardano/metadata/metadatum.ts";
import {
  accountOf,
  addressAt,
  judged,
  ownCoin,
  pathAt,
  policyKey,
  setting,
  signedFor,
  stakeKey,
  walletFunds,
} from "../../../support/wallets/fundedWallet.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";
import { newRef, person, utxo } from "../../../support/wallets/person.ts";

const bob = person("bob");
const ada = 1_000_000n;
const pool = "ab".repeat(28);
const abstain: DRep = { kind: "abstain" };
const own = credentialKey({ kind: "key", hash: stakeKey });
const template: PolicyTemplate = { all: ["cosigner#0"] };
const policyPath = [1855, 1815, 0];
const threeCoins = () => [ownCoin(0, 50n * ada), ownCoin(1, 30n * ada), ownCoin(2, 20n * ada)];

function build(intent: PaymentIntent, funds: WalletFunds, more = {}): ConstructedTransaction {
  const built = construct({ ...setting, intent, funds, seed: 3, ...more });
  if (!built.ok) throw new Error(`${built.error.code}: ${built.error.message}`);
  return built.value;
}

function codeOf(intent: PaymentIntent, funds: WalletFunds, more = {}): string {
  const built = construct({ ...setting, intent, funds, seed: 3, ...more });
  return built.ok ? "built" : built.error.code;
}

/**
 * Builds, gets the signers from the wallet, signs with the account's and the policy's keys where it says so, and has
 * the ledger judge.
 */
async function live(
  intent: PaymentIntent,
  funds: WalletFunds,
  ledger: { account?: Account; pools?: readonly string[] } = {},
) {
  const built = build(intent, funds);
  const signing = signingOf(built.transaction, {
    coins: funds.coins,
    account: funds.account,
    policyKey: { hash: policyKey, path: policyPath },
  });
  if (!signing.ok) throw new Error(signing.error.message);
  const paths = signing.value.paths.map(String);
  const signed = signedFor(
    built,
    ...(paths.includes(String(pathAt(0, 2))) ? [stakeKey] : []),
    ...(paths.includes(String(policyPath)) ? [policyKey] : []),
  );
  expect(signed.length).toBe(built.size);
  const accounts = new Map(ledger.account ? [[own, ledger.account]] : []);
  expect(await judged(signed, funds.coins.map(({ utxo }) => utxo), accounts, ledger.pools)).toEqual([]);
  csl.Transaction.from_bytes(signed);
  const decoded = decodeTransaction({
    transaction: signed,
    network: 0,
    keyDeposit: mainnetParameters.keyDeposit,
    owns: {
      addresses: funds.change,
      coins: funds.coins,
      account: funds.account,
      policyKey,
    },
  });
  if (!decoded.ok) throw new Error(decoded.error.message);
  expect(decoded.value).toMatchObject({ id: built.txHash, fee: built.fee, witnesses: { keys: paths.length } });
  return { built, decoded: decoded.value, paths };
}

describe("delegation", () => {
  it("registers the account at the first join, and pays the deposit", async () => {
    const funds = walletFunds(threeCoins(), { account: accountOf() });
    const { built, decoded } = await live({ delegations: [{ pool, index: 0 }] }, funds, { pools: [pool] });
    const types = ["register_reward_account", "join_pool"];
    expect(built.selection).toMatchObject({ depositsTaken: [2n * ada], depositsReturned: [] });
    expect(built.selection.certificates.map(({ type }) => type)).toEqual(types);
    expect(decoded.certificates.map(({ type }) => type)).toEqual(types);
    expect(decoded.certificates[0]).toMatchObject({ path: pathAt(0, 2) });
    expect(decoded).toMatchObject({ depositsTaken: [2n * ada], depositsReturned: [] });
  });

  it("joins another pool without a deposit, and includes a vote", async () => {
    const account = accountOf({ registered: true, deposit: 2n * ada, pool: "cd".repeat(28) });
    const { built } = await live(
      { delegations: [{ pool, index: 0 }], vote: abstain },
      walletFunds(threeCoins(), { account }),
      {
        account: { deposit: 2n * ada, balance: 0n },
        pools: [pool],
      },
    );
    expect(built.selection.depositsTaken).toEqual([]);
    expect(built.selection.certificates.map(({ type }) => type)).toEqual(["join_pool", "cast_vote"]);
  });

  it("quits with all rewards, and gets its deposit back", async () => {
    const account = accountOf({ registered: true, deposit: 2n * ada, rewards: 7n * ada, pool, drep: abstain });
    const funds = walletFunds([ownCoin(0, 3n * ada)], { account });
    const { built, decoded } = await live({ delegations: [{ index: 0 }], withdrawal: "self" }, funds, {
      account: { deposit: 2n * ada, balance: 7n * ada, drep: "abstain", pool },
    });
    const change = built.selection.change.reduce((sum, { lovelace }) => sum + lovelace, 0n);
    expect(change).toBe(12n * ada - built.fee);
    expect(built.selection).toMatchObject({ depositsReturned: [2n * ada], withdrawals: [{ lovelace: 7n * ada }] });
    expect(decoded.withdrawals).toEqual([{ account: expect.any(String), lovelace: 7n * ada, path: pathAt(0, 2) }]);
    expect(decoded.certificates.map(({ type }) => type)).toEqual(["quit_pool"]);
  });

  it("pays with the rewards that it withdraws", async () => {
    const account = accountOf({ registered: true, deposit: 2n * ada, rewards: 20n * ada, drep: abstain });
    const { built } = await live(
      { payments: [{ address: bob.base, lovelace: 21n * ada }], withdrawal: "self" },
      walletFunds([ownCoin(0, 5n * ada)], { account }),
      { account: { deposit: 2n * ada, balance: 20n * ada, drep: "abstain" } },
    );
    expect(built.selection.change).toMatchObject([{ lovelace: 4n * ada - built.fee }]);
  });

  it("ends a withdrawal before the boundary of the epoch, and nothing else", () => {
    const account = accountOf({ registered: true, rewards: ada, drep: abstain });
    const more = { boundary: setting.slot + 100 };
    expect(build({ withdrawal: "self" }, walletFunds(threeCoins(), { account }), more).validTo).toBe(
      setting.slot + 100,
    );
    expect(build({ metadata: "a0" }, walletFunds(threeCoins(), { account }), more).validTo).toBe(setting.slot + 7200);
  });

  it("withdraws nothing if there is nothing", () => {
    const account = accountOf({ registered: true, drep: abstain });
    expect(build({ withdrawal: "self" }, walletFunds(threeCoins(), { account })).selection.withdrawals).toEqual([]);
  });

  it("is refused if it would do nothing, lose rewards or not be accepted", () => {
    const joined = { registered: true, deposit: 2n * ada, pool };
    const code = (intent: PaymentIntent, account = accountOf()) =>
      codeOf(intent, walletFunds(threeCoins(), { account }));
    expect(code({ delegations: [{ pool, index: 0 }] }, accountOf(joined))).toBe("pool_already_joined");
    expect(code({ delegations: [{ pool, index: 0 }], vote: abstain }, accountOf({ ...joined, drep: abstain })))
      .toBe("pool_already_joined_same_vote");
    expect(code({ vote: abstain }, accountOf({ ...joined, drep: abstain }))).toBe("same_vote");
    expect(code({ delegations: [{ index: 0 }] })).toBe("not_delegating_to");
    expect(code({ delegations: [{ index: 0 }] }, accountOf({ ...joined, rewards: 1n }))).toBe("non_null_rewards");
    expect(code({ withdrawal: "self" }, accountOf({ ...joined, rewards: 1n }))).toBe(
      "withdrawal_not_possible_without_vote",
    );
    expect(code({ delegations: [{ pool, index: 0 }, { index: 0 }] })).toBe("created_multidelegation_transaction");
    expect(code({ delegations: [{ pool, index: 1 }] })).toBe("created_multiaccount_transaction");
    expect(codeOf({ vote: abstain }, walletFunds(threeCoins()))).toBe("missing_reward_account");
  });
});

describe("minting", () => {
  it("mints to the wallet or to another address, and burns", async () => {
    const policy = policyOfTemplate(template, policyKey);
    if (!policy.ok) throw new Error("no policy");
    const asset = (name: string) => policy.value.id + name;
    const coins = [...threeCoins(), ownCoin(3, 5n * ada, new Map([[asset("bb"), 10n]]))];
    const funds = walletFunds(coins);
    const { built, decoded } = await live({
      payments: [{ address: bob.base, lovelace: 3n * ada }],
      mintBurn: [
        { policy: { template }, name: "aa", quantity: 5n, operation: "mint" },
        { policy: { template }, name: "cc", quantity: (1n << 63n) - 1n, operation: "mint", to: bob.base },
        { policy: { template }, name: "bb", quantity: 4n, operation: "burn" },
      ],
    }, funds);
    const held = new Map(built.selection.change.flatMap(({ assets }) => assets));
    expect(held).toEqual(new Map([[asset("aa"), 5n], [asset("bb"), 6n]]));
    expect(built.selection.outputs).toHaveLength(2);
    expect(built.selection.outputs[1]).toMatchObject({ address: bob.base, assets: [[asset("cc"), (1n << 63n) - 1n]] });
    expect(decoded.policyKey).toBe(policyKey);
    expect(decoded.mint).toEqual([{
      policy: policy.value.id,
      script: { kind: "native", native: toHex(policy.value.bytes) },
      assets: [
        { name: "aa", quantity: 5n, fingerprint: expect.stringMatching(/^asset1/) },
        { name: "cc", quantity: (1n << 63n) - 1n, fingerprint: expect.any(String) },
      ],
    }]);
    expect(decoded.burn).toMatchObject([{ assets: [{ name: "bb", quantity: 4n }] }]);
  });

  it("refers to a script in an output", async () => {
    const policy = policyOfTemplate(template, policyKey);
    if (!policy.ok) throw new Error("no policy");
    const script = encode([0, new Encoded(encodeNative(policy.value.native))]);
    const carrier = utxo({ address: bob.base, value: { lovelace: 2n * ada, assets: new Map() }, script });
    const funds = walletFunds(threeCoins());
    const intent: PaymentIntent = {
      mintBurn: [{
        policy: { id: policy.value.id, reference: carrier.ref },
        name: "aa",
        quantity: 5n,
        operation: "mint",
      }],
    };
    expect(codeOf(intent, funds)).toBe("unresolved_inputs");
    const built = build(intent, funds, { references: [carrier] });
    const signing = signingOf(built.transaction, {
      coins: funds.coins,
      policyKey: { hash: policyKey, path: policyPath },
      policies: [toHex(policy.value.bytes)],
    });
    expect(signing.ok && signing.value.paths).toContainEqual(policyPath);
    const signed = signedFor(built, policyKey);
    expect(await judged(signed, [carrier, ...funds.coins.map(({ utxo }) => utxo)])).toEqual([]);
  });

  it("puts a reference script into the first payment, and decoding lists it with its place", async () => {
    const intent: PaymentIntent = { payments: [{ address: bob.base, lovelace: 0n }], referencePolicy: template };
    const { built, decoded } = await live(intent, walletFunds(threeCoins()));
    const output = csl.Transaction.from_bytes(built.transaction).body().outputs().get(0);
    expect(output.script_ref()?.is_native_script()).toBe(true);
    const policy = policyOfTemplate(template, policyKey);
    if (!policy.ok) throw new Error("no policy");
    const native = toHex(policy.value.bytes);
    const reference = { txHash: decoded.id, index: 0 };
    expect(decoded.witnesses.scripts).toEqual([{ kind: "native", native, reference }]);
    // a transaction without Plutus scripts is valid as well
    expect(decoded.scriptValidity).toBe("valid");
    const { witness_count: { scripts } } = decodedView(messaged(decoded), undefined);
    expect(scripts).toMatchObject([{ script_type: "native", reference: { id: decoded.id, index: 0 } }]);
    // as cardano-wallet: not even its own policy key has a name there
    expect(JSON.stringify(scripts)).toContain(`"${policyKey}"`);
    expect(JSON.stringify(decodedView(messaged(decoded), undefined, true).witness_count.scripts))
      .toMatch(/"addr_shared_vkh1/);
    expect(codeOf({ ...intent, payments: [] }, walletFunds(threeCoins()))).toBe("created_invalid_transaction");
  });

  it("is refused with the code of the reason", () => {
    const mint = (more: object, funds = walletFunds(threeCoins())) =>
      codeOf({ mintBurn: [{ policy: { template }, name: "aa", quantity: 5n, operation: "mint", ...more }] }, funds);
    expect(mint({})).toBe("built");
    expect(mint({}, walletFunds(threeCoins(), { policyKey: undefined }))).toBe("missing_policy_public_key");
    expect(mint({ policy: { template: { all: ["cosigner#0", "cosigner#1"] } } })).toBe(
      "created_wrong_policy_script_template",
    );
    expect(mint({ policy: { template: "cosigner#1" } })).toBe("created_wrong_policy_script_template");
    expect(mint({ policy: { template: { all: [] } } })).toBe("created_wrong_policy_script_template");
    expect(mint({ name: "aa".repeat(33) })).toBe("asset_name_too_long");
    expect(mint({ quantity: 0n })).toBe("mint_or_burn_asset_quantity_out_of_bounds");
    expect(mint({ quantity: 1n << 63n })).toBe("mint_or_burn_asset_quantity_out_of_bounds");
    expect(mint({ policy: { template: { all: ["cosigner#0", { active_until: 100 }] } } }))
      .toBe("validity_interval_not_inside_script_timelock");
    expect(mint({ operation: "burn" })).toBe("not_enough_money");
  });

  it("respects the times of its script", async () => {
    const timed: PolicyTemplate = { all: ["cosigner#0", { active_from: 400 }, { active_until: 9_000 }] };
    const intent: PaymentIntent = {
      mintBurn: [{ policy: { template: timed }, name: "aa", quantity: 5n, operation: "mint" }],
    };
    expect(codeOf(intent, walletFunds(threeCoins()))).toBe("validity_interval_not_inside_script_timelock");
    const validity = { from: { quantity: 400n, unit: "slot" }, before: { quantity: 8_500n, unit: "second" } } as const;
    const { decoded } = await live({ ...intent, validity }, walletFunds(threeCoins()));
    expect(decoded.validity).toEqual({ from: 400n, before: 9_000n });
  });
});

describe("validity", () => {
  it("is two hours from now by default", () => {
    expect(build({ metadata: "a0" }, walletFunds(threeCoins())).validTo).toBe(setting.slot + 7200);
  });

  it("must begin before it ends", () => {
    const code = (from: bigint, before: bigint) =>
      codeOf(
        {
          metadata: "a0",
          validity: { from: { quantity: from, unit: "slot" }, before: { quantity: before, unit: "slot" } },
        },
        walletFunds(threeCoins()),
      );
    expect(code(400n, 600n)).toBe("built");
    expect(code(600n, 600n)).toBe("invalid_validity_bounds");
    expect(code(-1n, 600n)).toBe("invalid_validity_bounds");
  });
});

describe("metadata", () => {
  it("is included, and decoded as encoded", async () => {
    const metadata = readMetadata({
      "0": { string: "x".repeat(64) },
      "674": { list: [{ int: -5 }, { bytes: "00ff" }] },
    });
    if (!metadata.ok) throw new Error(metadata.error.message);
    const hex = toHex(encodeMetadata(metadata.value));
    const { built, decoded } = await live({ metadata: hex }, walletFunds(threeCoins()));
    expect(built.selection.metadata).toBe(hex);
    expect(decoded.metadata).toBe(hex);
  });
});

describe("estimated fees", () => {
  it("cover the range of different choices, and include minimum and deposit", () => {
    const coins = Array.from({ length: 200 }, (_, i) => ownCoin(i, BigInt(1 + i % 30) * ada));
    const funds = walletFunds(coins, { account: accountOf() });
    const intent: PaymentIntent = {
      payments: [{ address: bob.base, lovelace: 40n * ada }],
      delegations: [{ pool, index: 0 }],
    };
    const estimate = estimateFees({ ...setting, intent, funds, seed: 1 });
    expect(estimate).toMatchObject({ ok: true, value: { deposit: 2n * ada, minimums: [986_990n] } });
    if (!estimate.ok) return;
    const { least, most } = estimate.value;
    expect(least < most).toBe(true);
    const { fee } = build(intent, funds, { seed: 4 });
    expect(least <= fee && fee <= most).toBe(true);
  });
});

describe("decoding", () => {
  it("lists what has to be looked up, and refuses other bytes", () => {
    const funds = walletFunds(threeCoins());
    const { transaction, selection } = build({ payments: [{ address: bob.base, lovelace: 40n * ada }] }, funds);
    const lookups = lookupsOf(transaction);
    expect(lookups.ok && lookups.value.inputs).toHaveLength(selection.inputs.length);
    expect(lookups.ok && lookups.value.addresses).toEqual([bob.base, addressAt(0, 1)]);
    expect(lookupsOf(fromHex("83a0a0f6")).ok).toBe(false);
    expect(lookupsOf(fromHex("00")).ok).toBe(false);
  });

  it("decodes excessively nested transactions of others, and signs them", () => {
    const nested = (depth: number, around: readonly number[], inside: readonly number[]) =>
      Uint8Array.from([...new Array(depth).fill(around).flat(), ...inside]);
    const script = nested(600, [0x82, 0x01, 0x81], [0x82, 0x04, 0x00]);
    const auxiliary = nested(600, [0xa1, 0x00], [0x05]);
    const datum = nested(600, [0x81], [0x05]);
    const built = encodeTransaction({
      inputs: [newRef()],
      outputs: [{ address: bob.base, value: { lovelace: ada, assets: new Map() }, datum }],
      fee: 200_000n,
      mint: new Map([[nativeHash(script), 1n]]),
      nativeScripts: [script],
      auxiliary,
    });
    const decoded = decodeTransaction({
      transaction: built,
      network: 0,
      keyDeposit: 2n * ada,
      owns: { addresses: [], coins: [], policyKey },
    });
    expect(decoded).toMatchObject({
      ok: true,
      value: { mint: [{ script: { kind: "native", native: toHex(script) } }], metadata: toHex(auxiliary) },
    });
    const added = addWitness(built, { key: new Uint8Array(32), signature: new Uint8Array(64) });
    expect(added.length).toBe(built.length + witnessBytes(1));
  });

  it("detects own inputs and outputs, and counts signatures at any stage", () => {
    const funds = walletFunds(threeCoins());
    const { transaction } = build({ payments: [{ address: bob.base, lovelace: 40n * ada }] }, funds);
    const decode = (bytes: Uint8Array, owns = { addresses: funds.change, coins: funds.coins }) => {
      const result = decodeTransaction({ transaction: bytes, network: 0, keyDeposit: 2n * ada, owns });
      if (!result.ok) throw new Error(result.error.message);
      return result.value;
    };
    const mine = decode(transaction);
    expect(mine.witnesses).toEqual({ keys: 0, bootstrap: 0, scripts: [] });
    expect(mine.inputs.every(({ own }) => own !== undefined)).toBe(true);
    expect(mine.outputs.map(({ path }) => path)).toEqual([undefined, pathAt(0, 1)]);
    const theirs = decode(transaction, { addresses: [], coins: [] });
    expect(theirs.inputs.every(({ own }) => own === undefined)).toBe(true);
    const key = new Uint8Array(32).fill(1), signature = new Uint8Array(64).fill(2);
    expect(decode(addWitness(transaction, { key, signature })).witnesses.keys).toBe(1);
    expect(decode(addWitness(transaction, { key, signature })).id).toBe(mine.id);
  });
});

describe("vectors of other wallets", () => {
  const template = (text: string): PolicyTemplate => {
    const list = /^all \[(.*)\]$/.exec(text)?.[1];
    if (list === undefined && !text.includes("[")) {
      const [word, slot] = text.split(" ");
      if (word === "active_from") return { active_from: Number(slot) };
      return word === "active_until" ? { active_until: Number(slot) } : text;
    }
    if (list !== undefined) return { all: list.split(",").map((one) => template(one.trim())) };
    return { any: /^any \[(.*)\]$/.exec(text)![1]!.split(",").map((one) => template(one.trim())) };
  };

  it.each(walletVectors("within-slot-interval"))("$id", ({ input, expected }) => {
    const policy = policyOfTemplate(template(input.script), policyKey);
    if (!policy.ok) throw new Error(policy.error.message);
    const [from, before] = input.validity;
    expect(isWithin(policy.value.native, BigInt(from), BigInt(before))).toBe(expected.within);
  });

  const policyKeyOf = (mnemonic: string, path: string) => {
    const entropy = mnemonicEntropy(mnemonic.split(" "));
    const indices = parsePath(path);
    if (!entropy.ok || !indices) throw new Error("no key");
    return keyHash(toPublic(derivePath(rootKey(entropy.value), indices)).key);
  };

  it.each(walletVectors("policy-id"))("$id", ({ input, expected }) => {
    const hash = input.mnemonic === undefined
      ? keyHash(fromBech32(input.policy_vk)!.bytes)
      : policyKeyOf(input.mnemonic, input.path);
    const policy = policyOfTemplate(template(input.template), hash);
    expect(policy.ok && policy.value.id).toBe(expected.policy_id);
  });
});
