/** API/Shelley/TransactionsNew.hs */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { expect } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import type { Constructed, Decoded, Transaction } from "#src/client/wallets.ts";
import { readByCsl } from "../../../support/ledger/readByCsl.ts";
import { agreesWithTwo, plutusHash } from "../../../support/plutus/scripts.ts";
import { cases, flow, type Row, row, type Table } from "../table.ts";
import { noSuchWallet } from "../words.ts";
import { ADA, ASSETS, type Expected, lovelace, type Made, MIN_UTXO, payment, type World } from "../world.ts";

type Id = Pick<Made, "id">;

const construct = (world: World, { id }: Id, body: object) =>
  world.call("POST", `/wallets/${id}/transactions-construct`, body);
const constructed = async (world: World, wallet: Id, body: object): Promise<Constructed> =>
  world.check(await construct(world, wallet, body), { status: 202 });
const submit = (world: World, { id }: Id, transaction: string) =>
  world.call("POST", `/wallets/${id}/transactions-submit`, { transaction });
const sign = async (world: World, { id }: Id, transaction: string): Promise<string> =>
  (await world.ok(202, "POST", `/wallets/${id}/transactions-sign`, { transaction, passphrase: "cardano-wallet" }))
    .transaction;
const decode = (world: World, { id }: Id, transaction: string): Promise<Decoded> => world.decode(id, transaction);
const ofFunded = (id: string, body: object | ((world: World) => object | Promise<object>), expected: Expected): Row =>
  flow(id, async (world) => {
    const sent = typeof body === "function" ? await body(world) : body;
    world.check(await construct(world, await world.sharedFixture(), sent), expected);
  });

/** A payment to an address of no wallet. */
const away = (world: World, amount = MIN_UTXO) => ({ payments: [payment(world.elsewhere[0]!, amount)] });
const amountOf = ({ quantity }: { quantity: number | bigint }) => BigInt(quantity);
const tip = async (world: World): Promise<number> =>
  (await world.ok(200, "GET", "/network/information")).node_tip.absolute_slot_number;
/** Pays one amount to one address of another wallet, and waits until both have it in the ledger. */
const pay = async (world: World, from: Id, to: Id, amount: bigint, index: number) => {
  const address = (await world.addresses(to.id)).filter(({ derivation_path }) => derivation_path[3] === "0")[index]!.id;
  const { id } = await world.send(from.id, { payments: [payment(address, amount)] });
  for (const wallet of [from, to]) await world.untilInLedger(wallet.id, id);
};
const byAddress = (world: World, { id }: Id, address?: string): Promise<Transaction[]> =>
  world.ok(200, "GET", `/wallets/${id}/transactions${address === undefined ? "" : `?address=${address}`}`);
const ada = (listed: readonly Transaction[]) => listed.map(({ amount }) => Number(amount.quantity) / 1_000_000);

const INVALID = { status: 403, code: "created_invalid_transaction" };
const NOT_ENOUGH = { status: 403, code: "not_enough_money" };
const WRONG_TEMPLATE = { status: 403, code: "created_wrong_policy_script_template" };
const TOO_SMALL = {
  status: 403,
  code: "utxo_too_small",
  body: { info: { tx_output_index: 0, tx_output_lovelace_required_minimum: { unit: "lovelace" } } },
};
const seconds = (quantity: number) => ({ quantity, unit: "second" });
const slots = (quantity: number) => ({ quantity, unit: "slot" });

const DEPOSIT = lovelace(2_000_000);
const STAKE_PATH = ["1852H", "1815H", "0H", "2", "0"];
const REGISTER = { certificate_type: "register_reward_account", reward_account_path: STAKE_PATH };
const joinOf = (pool: string) => ({ certificate_type: "join_pool", pool, reward_account_path: STAKE_PATH });
const QUIT = { certificate_type: "quit_pool", reward_account_path: STAKE_PATH };
const joining = (pool: string, index = "0H") => ({ delegations: [{ join: { pool, stake_key_index: index } }] });
const QUITTING = { delegations: [{ quit: { stake_key_index: "0H" } }] };
const ABSENT = "pool1mgjlw24rg8sp4vrzctqxtf2nn29rjhtkq2kdzvf4tcjd5pl547k";
const ABSENT_ID = toHex(fromBech32(ABSENT)!.bytes);
/** Waits until a wallet's active delegation is this. */
const delegates = (world: World, { id }: Id, active: object) =>
  world.eventually(`${id} delegates`, async () => {
    expect((await world.wallet(id)).delegation).toMatchObject({ active, next: [] });
  });

const NAME = "61623132";
const MINTED = 50_000;
const minting = (
  template: unknown,
  more: object = {},
  name: string | null = NAME,
  quantity: unknown = MINTED,
) => ({
  mint_burn: [{
    policy_script_template: template,
    ...(name === null ? {} : { asset_name: name }),
    operation: { mint: { quantity, ...more } },
  }],
});
const burning = (template: unknown, name: string | null = NAME) => ({
  mint_burn: [{
    policy_script_template: template,
    ...(name === null ? {} : { asset_name: name }),
    operation: { burn: { quantity: MINTED } },
  }],
});
const ONE = { all: ["cosigner#0"] };
const toSelf = async (world: World, { id }: Id) => ({ receiving_address: await world.address(id, 1) });
/** The hash of a wallet's policy key, which it has from the start; and the id of a policy with this key and a timelock. */
const policyOf = async (world: World, { id }: Id, until?: number) => {
  const shown: string = await world.ok(200, "GET", `/wallets/${id}/policy-key?hash=true`);
  const again = await world.ok(202, "POST", `/wallets/${id}/policy-key?hash=true`, { passphrase: "cardano-wallet" });
  expect(again).toBe(shown);
  const key = csl.Ed25519KeyHash.from_bytes(fromBech32(shown)!.bytes);
  const scripts = csl.NativeScripts.new();
  scripts.add(csl.NativeScript.new_script_pubkey(csl.ScriptPubkey.new(key)));
  if (until !== undefined) {
    const slot = csl.BigNum.from_str(String(until));
    scripts.add(csl.NativeScript.new_timelock_expiry(csl.TimelockExpiry.new_timelockexpiry(slot)));
  }
  return { shown, policy: csl.NativeScript.new_script_all(csl.ScriptAll.new(scripts)).hash().to_hex() };
};
/** Mints or burns, and compares what is decoded before and after the signature; returns the fee. */
const changed = async (
  world: World,
  wallet: Id,
  body: object,
  of: { policy: string; shown: string; name: string },
  kind: "mint" | "burn",
) => {
  const built = await constructed(world, wallet, body);
  const signed = await sign(world, wallet, built.transaction);
  for (const transaction of [built.transaction, signed]) {
    const read = await decode(world, wallet, transaction);
    expect(read[kind]).toMatchObject({
      tokens: [{
        policy_id: of.policy,
        policy_script: { script_type: "native" },
        assets: [{ asset_name: of.name, quantity: MINTED, fingerprint: expect.stringMatching(/^asset1/) }],
      }],
      wallet_policy_key_hash: of.shown,
      wallet_policy_key_index: "0H",
    });
    expect(read[kind === "mint" ? "burn" : "mint"]).toEqual({ tokens: [] });
  }
  world.check(await submit(world, wallet, signed), { status: 202 });
  return amountOf(built.fee);
};
/** Waits until a wallet has this much, and these assets. */
const holds = async (world: World, { id }: Id, available: bigint, assets: readonly unknown[]) => {
  const wallet = await world.untilAvailable(id, available);
  expect(wallet.assets).toMatchObject({ available: assets, total: assets });
};
const mintsAndBurns = (id: string, { name = NAME, burns = false, timelock = false } = {}): Row =>
  flow(id, async (world) => {
    const wallet = await world.walletWith([100n * ADA, 100n * ADA]);
    const now = await tip(world);
    const until = timelock ? now + 4_001 : undefined;
    const of = { ...await policyOf(world, wallet, until), name };
    const template = until === undefined ? ONE : { all: ["cosigner#0", { active_until: until }] };
    const given = name === "" ? null : name;
    const mint = {
      ...minting(template, await toSelf(world, wallet), given),
      ...(timelock ? { validity_interval: { invalid_hereafter: slots(now + 4_000) } } : {}),
    };
    const left = 200n * ADA - await changed(world, wallet, mint, of, "mint");
    await holds(world, wallet, left, [{ policy_id: of.policy, asset_name: name, quantity: MINTED }]);
    if (!burns) return;
    const fee = await changed(world, wallet, burning(template, given), of, "burn");
    await holds(world, wallet, left - fee, []);
  });

const asset = (world: World, quantity: number | bigint) => [{
  policy_id: world.bank.policy,
  asset_name: ASSETS[0],
  quantity,
}];

/** A transaction with one output that holds a reference script; the script's key or its Plutus hash. */
const REFERRED_TO = "01".repeat(32);
const withOutput = (change: (body: csl.TransactionBody, output: csl.TransactionOutput) => void): string => {
  const inputs = csl.TransactionInputs.new();
  inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_hex(REFERRED_TO), 2));
  const key = csl.Ed25519KeyHash.from_hex("9f0a5e78313c22c7f25e0d2a289761ac1765a3bb24a6270bf4d4f7e9");
  const address = csl.EnterpriseAddress.new(0, csl.Credential.from_keyhash(key)).to_address();
  const output = csl.TransactionOutput.new(address, csl.Value.new(csl.BigNum.from_str("10000000")));
  const outputs = csl.TransactionOutputs.new();
  const body = csl.TransactionBody.new_tx_body(inputs, outputs, csl.BigNum.from_str("300000"));
  change(body, output);
  outputs.add(output);
  const fixed = csl.FixedTransaction.from_hex(
    csl.Transaction.new(
      csl.TransactionBody.from_bytes(
        csl.TransactionBody.from_bytes(rebuilt(body, outputs).to_bytes()).to_bytes(),
      ),
      csl.TransactionWitnessSet.new(),
    ).to_hex(),
  );
  fixed.sign_and_add_vkey_signature(csl.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(7)));
  return fixed.to_hex();
};
const rebuilt = (body: csl.TransactionBody, outputs: csl.TransactionOutputs): csl.TransactionBody => {
  const made = csl.TransactionBody.new_tx_body(body.inputs(), outputs, body.fee());
  const [mint, references] = [body.mint(), body.reference_inputs()];
  if (mint) made.set_mint(mint);
  if (references) made.set_reference_inputs(references);
  return made;
};
/** Decodes a transaction that makes a reference script, and one that mints by it. */
const referred = (
  id: string,
  script: csl.ScriptRef,
  hash: string,
  shown: object,
): Row =>
  flow(id, async (world) => {
    const wallet = await world.sharedEmpty();
    const making = await decode(world, wallet, withOutput((_, output) => output.set_script_ref(script)));
    expect(making.witness_count).toEqual({
      verification_key: 1,
      scripts: [{ ...shown, reference: { id: making.id, index: 0 } }],
      bootstrap: 0,
    });
    const { shown: key } = await policyOf(world, wallet);
    const name = new TextEncoder().encode("ReferencedScriptAsset");
    const using = await decode(
      world,
      wallet,
      withOutput((body) => {
        const references = csl.TransactionInputs.new();
        references.add(csl.TransactionInput.new(csl.TransactionHash.from_hex(making.id), 0));
        body.set_reference_inputs(references);
        const assets = csl.MintAssets.new();
        assets.insert(csl.AssetName.new(name), csl.Int.new_i32(1));
        const mint = csl.Mint.new();
        mint.insert(csl.ScriptHash.from_hex(hash), assets);
        body.set_mint(mint);
      }),
    );
    expect(using.mint).toMatchObject({
      tokens: [{
        policy_id: hash,
        policy_script: {
          script_type: "reference script",
          script_hash: hash,
          references: [{ id: making.id, index: 0 }],
        },
        assets: [{ asset_name: toHex(name), quantity: 1 }],
      }],
      wallet_policy_key_hash: key,
      wallet_policy_key_index: "0H",
    });
    expect(using.witness_count).toEqual({ verification_key: 1, scripts: [], bootstrap: 0 });
  });
const SIMPLE_KEY = "83ffcc26a977eb2cb7238334b91ec94de72fba2e8b58dda4d2afea6f";
const simple = () => {
  const scripts = csl.NativeScripts.new();
  scripts.add(csl.NativeScript.new_script_pubkey(csl.ScriptPubkey.new(csl.Ed25519KeyHash.from_hex(SIMPLE_KEY))));
  return csl.NativeScript.new_script_all(csl.ScriptAll.new(scripts));
};
const PLUTUS = plutusHash(2, agreesWithTwo);

const LATE = 57_297_561;
const started = { invalid_before: slots(11) };

export const transactionsNew: Table = {
  file: "Shelley.TransactionsNew",
  rows: [
    ofFunded("TRANS_NEW_CREATE_01a", {}, INVALID),
    ofFunded("TRANS_NEW_CREATE_01b", {
      validity_interval: { invalid_before: seconds(10), invalid_hereafter: seconds(50) },
    }, INVALID),
    row("TRANS_NEW_CREATE_01c", async (world) => [
      "POST",
      `/wallets/${(await world.sharedFixture()).id}/transactions-construct`,
      "",
      { "content-type": "application/json" },
    ], { status: 400 }),
    ...Object.entries({ "TRANS_NEW_CREATE_02a": { 1: { string: "hello" } }, "TRANS_NEW_CREATE_02b": { 1: "hello" } })
      .map(([id, metadata]) =>
        flow(id, async (world) => {
          const wallet = await world.walletWith([50n * ADA]);
          const { built, signed } = await world.send(wallet.id, { metadata });
          expect(built.coin_selection.metadata).toBeDefined();
          expect(amountOf(built.fee)).toBeGreaterThan(0n);
          expect(readByCsl(signed).metadata).toEqual({ 1: { string: "hello" } });
          expect((await decode(world, wallet, signed)).metadata).toEqual({ 1: { string: "hello" } });
          await world.untilAvailable(wallet.id, 50n * ADA - amountOf(built.fee));
        })
      ),
    flow("TRANS_NEW_CREATE_04a", async (world) => {
      const [a, b] = await Promise.all([world.walletWith([3n * ADA]), world.emptyWallet()]);
      const address = await world.address(b.id, 1);
      const body = { payments: [payment(address, MIN_UTXO)] };
      const built = await constructed(world, a, body);
      const hex = await constructed(world, a, { ...body, encoding: "base16" });
      expect(built.coin_selection).toMatchObject({
        inputs: [{ amount: lovelace(3_000_000) }],
        outputs: [{ address, amount: lovelace(1_000_000) }],
        change: [{}],
      });
      const common = {
        fee: built.fee,
        withdrawals: [],
        collateral: [],
        script_validity: "valid",
      };
      const theirs = { address, amount: lovelace(1_000_000), derivation_path: ["1852H", "1815H", "0H", "0", "1"] };
      const ours = {
        amount: lovelace(2_000_000 - Number(built.fee.quantity)),
        derivation_path: ["1852H", "1815H", "0H", "1", "0"],
      };
      const own = ({ outputs }: Decoded) => outputs.filter(({ derivation_path }) => derivation_path);
      for (const { transaction } of [built, hex]) {
        const [source, target] = [await decode(world, a, transaction), await decode(world, b, transaction)];
        for (const one of [source, target]) {
          expect(one).toMatchObject(common);
          expect(one.metadata).toBeUndefined();
        }
        expect(source.inputs).toMatchObject([{ amount: lovelace(3_000_000), derivation_path: expect.any(Array) }]);
        expect(target.inputs).toEqual(source.inputs.map(({ id, index }) => ({ id, index })));
        expect([own(source), own(target)]).toMatchObject([[ours], [theirs]]);
      }
      const signed = await sign(world, a, built.transaction);
      const { id } = world.check(await submit(world, a, signed), { status: 202 });
      const [out, incoming] = [await world.untilInLedger(a.id, id), await world.untilInLedger(b.id, id)];
      expect([incoming.direction, incoming.amount, incoming.fee]).toEqual(["incoming", lovelace(1_000_000), built.fee]);
      expect([out.direction, amountOf(out.amount), out.fee])
        .toEqual(["outgoing", MIN_UTXO + amountOf(built.fee), built.fee]);
      await world.untilAvailable(b.id, MIN_UTXO);
      await world.untilAvailable(a.id, 2n * ADA - amountOf(built.fee));
      const [source, target] = [await decode(world, a, signed), await decode(world, b, signed)];
      for (const one of [source, target]) expect(one).toMatchObject(common);
      expect([own(source), own(target)]).toMatchObject([[ours], [theirs]]);
    }),
    flow("TRANS_NEW_CREATE_04ab", async (world) => {
      const wallet = await world.sharedFixture();
      const built = await constructed(world, wallet, away(world));
      const { inputs } = await decode(world, wallet, built.transaction);
      expect(inputs).toEqual(built.coin_selection.inputs);
    }),
    ofFunded("TRANS_NEW_CREATE_04b", (world) => away(world, 500_000n), TOO_SMALL),
    flow("TRANS_NEW_CREATE_04c", async (world) => {
      const wallet = await world.walletWith([MIN_UTXO + 1n]);
      world.check(await construct(world, wallet, away(world)), { status: 403, code: "cannot_cover_fee" });
    }),
    flow("TRANS_NEW_CREATE_04d", async (world) => {
      const wallet = await world.once("one ada", () => world.walletWith([MIN_UTXO]));
      world.check(await construct(world, wallet, away(world, 2n * MIN_UTXO)), NOT_ENOUGH);
    }),
    flow("TRANS_NEW_CREATE_04d (2)", async (world) => {
      const answer = await construct(world, await world.sharedEmpty(), away(world));
      world.check(answer, { status: 403, code: "no_utxos_available" });
    }),
    flow("TRANS_NEW_CREATE_04e", async (world) => {
      const [a, b] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      const addresses = await world.addresses(b.id);
      const { built } = await world.send(a.id, {
        payments: [payment(addresses[1]!.id, MIN_UTXO), payment(addresses[2]!.id, MIN_UTXO)],
      });
      await world.untilAvailable(b.id, 2n * MIN_UTXO);
      await world.untilAvailable(a.id, 100_000n * ADA - 2n * MIN_UTXO - amountOf(built.fee));
    }),
    flow("TRANS_NEW_CREATE_04a (2)", async (world) => {
      const [a, b] = await Promise.all([world.walletWith([3n * ADA]), world.emptyWallet()]);
      const { id, built } = await world.send(a.id, { payments: [payment(await world.address(b.id, 1), MIN_UTXO)] });
      const { direction } = await world.ok(200, "GET", `/wallets/${a.id}/transactions/${id}`);
      expect(direction).toBe("outgoing");
      await world.untilInLedger(a.id, id);
      await world.untilAvailable(a.id, 2n * ADA - amountOf(built.fee));
      await world.untilAvailable(b.id, MIN_UTXO);
    }),

    flow("TRANS_NEW_ASSETS_CREATE_01a", async (world) => {
      const [a, b] = await Promise.all([world.multiAssetWallet(), world.emptyWallet()]);
      const paid = payment(await world.address(b.id, 1), 2n * ADA, asset(world, 2));
      const { built } = await world.send(a.id, { payments: [paid] });
      await holds(world, b, 2n * ADA, asset(world, 2));
      await world.untilAvailable(a.id, 58n * ADA - amountOf(built.fee));
    }),
    flow("TRANS_NEW_ASSETS_CREATE_01b", async (world) => {
      const { payments: [paid] } = away(world);
      const body = { payments: [{ ...paid, assets: asset(world, 2) }] };
      world.check(await construct(world, await world.sharedMultiAsset(), body), TOO_SMALL);
    }),
    flow("TRANS_NEW_ASSETS_CREATE_01c", async (world) => {
      const [a, b] = await Promise.all([world.multiAssetWallet(), world.emptyWallet()]);
      const paid = payment(await world.address(b.id, 1), 0, asset(world, 2));
      const { id, built } = await world.send(a.id, { payments: [paid] });
      const { amount, direction } = await world.untilInLedger(a.id, id);
      expect(direction).toBe("outgoing");
      await holds(world, b, amountOf(amount) - amountOf(built.fee), asset(world, 2));
      await world.untilAvailable(a.id, 60n * ADA - amountOf(amount));
    }),
    flow("TRANS_NEW_ASSETS_CREATE_01d", async (world) => {
      const { payments: [paid] } = away(world, 0n);
      const body = { payments: [{ ...paid, assets: asset(world, 1_000_000_000_000) }] };
      world.check(await construct(world, await world.sharedMultiAsset(), body), NOT_ENOUGH);
    }),
    flow("TRANS_NEW_ASSETS_CREATE_02", async (world) => {
      const [a, b] = await Promise.all([world.walletWith([1_000n * ADA]), world.emptyWallet()]);
      const { policy } = await policyOf(world, a);
      const { id, signed } = await world.send(a.id, {
        reference_policy_script_template: ONE,
        payments: [payment(await world.address(b.id, 1), 10n * ADA)],
      });
      const { witness_count } = await decode(world, a, signed);
      expect(witness_count).toMatchObject({
        verification_key: 1,
        scripts: [{ script_type: "native", script: { all: [expect.any(String)] }, reference: { id, index: 0 } }],
        bootstrap: 0,
      });
      expect(await world.ok(202, "POST", `/wallets/${a.id}/policy-id`, { policy_script_template: ONE }))
        .toEqual({ policy_id: policy });
      expect((await world.untilInLedger(b.id, id)).direction).toBe("incoming");
      const changing = (operation: object) => ({
        mint_burn: [{ policy_id: policy, reference_input: { id, index: 0 }, asset_name: NAME, operation }],
      });
      const mint = await world.send(a.id, changing({ mint: { ...await toSelf(world, a), quantity: 1_000 } }));
      const held = [{ policy_id: policy, asset_name: NAME, quantity: 1_000 }];
      await world.untilInLedger(a.id, mint.id);
      expect((await world.wallet(a.id)).assets).toEqual({ available: held, total: held });
      const burn = await world.send(a.id, changing({ burn: { quantity: 1_000 } }));
      await world.untilInLedger(a.id, burn.id);
      expect((await world.wallet(a.id)).assets).toEqual({ available: [], total: [] });
    }),
    flow("TRANS_NEW_VALIDITY_INTERVAL_01a", async (world) => {
      const wallet = await world.walletWith([10n * ADA]);
      await world.send(wallet.id, { ...away(world), validity_interval: { invalid_hereafter: seconds(50) } });
    }),
    flow("TRANS_NEW_VALIDITY_INTERVAL_01b", async (world) => {
      const wallet = await world.walletWith([10n * ADA]);
      const until = await tip(world) + 4_000;
      const { built, signed } = await world.send(wallet.id, {
        withdrawal: "self",
        validity_interval: { invalid_before: slots(0), invalid_hereafter: slots(until) },
      });
      for (const transaction of [built.transaction, signed]) {
        expect((await decode(world, wallet, transaction)).validity_interval)
          .toEqual({ invalid_before: slots(0), invalid_hereafter: slots(until) });
      }
    }),
    referred(
      "TRANS_NEW_DECODE_02a / ADP-2666",
      csl.ScriptRef.new_plutus_script(csl.PlutusScript.new_v2(agreesWithTwo)),
      PLUTUS,
      { script_type: "plutus", script_info: { language_version: "v2", script_hash: PLUTUS } },
    ),
    referred(
      "TRANS_NEW_DECODE_02a / ADP-2666 (2)",
      csl.ScriptRef.new_native_script(simple()),
      simple().hash().to_hex(),
      { script_type: "native", script: expect.anything() },
    ),
    flow("TRANS_NEW_SIGN_01", async (world) => {
      const wallet = await world.walletWith([10n * ADA]);
      await world.send(wallet.id, { payments: [payment(await world.address(wallet.id, 1), MIN_UTXO)] });
    }),
    flow("TRANS_NEW_SIGN_02", async (world) => {
      const wallet = await world.sharedFixture();
      const { transaction } = await constructed(world, wallet, away(world));
      world.check(await submit(world, wallet, transaction), {
        status: 403,
        code: "missing_witnesses_in_transaction",
        body: { info: { expected_number_of_key_wits: 1, detected_number_of_key_wits: 0 } },
      });
    }),
    ...cases("TRANS_NEW_SUBMIT_01", { "an empty wallet": false, "one with funds": true }, async (world, funded) => {
      const wallet = await world.sharedFixture();
      const signed = await sign(world, wallet, (await constructed(world, wallet, away(world))).transaction);
      const foreign = funded ? await world.sharedMultiAsset() : await world.sharedEmpty();
      world.check(await submit(world, foreign, signed), { status: 403, code: "foreign_transaction" });
    }),
    flow("TRANS_NEW_SUBMIT_02", async (world) => {
      const wallet = await world.sharedFixture();
      const signed = await sign(world, wallet, (await constructed(world, wallet, away(world))).transaction);
      const { id } = await world.sharedRandom();
      world.check(await submit(world, { id }, signed), noSuchWallet(id));
    }),
    flow("TRANS_NEW_SUBMIT_03", async (world) => {
      const wallet = await world.walletWith([10n * ADA]);
      const { transaction } = await constructed(world, wallet, away(world));
      const { transaction: signed } = await world.ok(202, "POST", `/wallets/${wallet.id}/transactions-sign`, {
        transaction,
        passphrase: "cardano-wallet",
        encoding: "base16",
      });
      expect(signed).toMatch(/^[0-9a-f]+$/);
      world.check(await submit(world, wallet, signed), { status: 202 });
    }),

    ofFunded("TRANS_NEW_JOIN_01b", joining("1".repeat(32)), {
      status: 400,
      code: "bad_request",
      message: "Invalid stake pool id",
    }),
    ofFunded("TRANS_NEW_JOIN_01b (2)", joining(ABSENT), {
      status: 404,
      code: "no_such_pool",
      body: { info: { pool_id: ABSENT_ID } },
    }),
    ofFunded("TRANS_NEW_JOIN_01c", {
      delegations: [...joining(ABSENT).delegations, ...QUITTING.delegations],
    }, { status: 403, code: "created_multidelegation_transaction" }),
    ofFunded("TRANS_NEW_JOIN_01d", joining(ABSENT, "1H"), { status: 403, code: "created_multiaccount_transaction" }),
    flow("TRANS_NEW_JOIN_02", async (world) => {
      const [source, joiner] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      const address = await world.address(joiner.id, 1);
      await world.send(source.id, { payments: [1, 2, 3].map(() => payment(address, 2n * ADA)) });
      await world.untilAvailable(joiner.id, 6n * ADA);
      const [pool] = await world.pools();
      const { id, built, signed } = await world.send(joiner.id, joining(pool!));
      expect([built.coin_selection.deposits_taken, built.coin_selection.deposits_returned]).toEqual([[DEPOSIT], []]);
      expect(await decode(world, joiner, signed)).toMatchObject({ deposits_taken: [DEPOSIT], deposits_returned: [] });
      expect((await world.untilInLedger(joiner.id, id)).direction).toBe("outgoing");
    }),
    ofFunded("TRANS_NEW_QUIT_01", QUITTING, { status: 403, code: "not_delegating_to" }),
    flow("TRANS_NEW_CREATE_MULTI_TX", async (world) => {
      const [a, b] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      const addresses = await world.addresses(b.id);
      const [pool] = await world.pools();
      const { id, built } = await world.send(a.id, {
        payments: [payment(addresses[1]!.id, MIN_UTXO), payment(addresses[2]!.id, MIN_UTXO)],
        ...joining(pool!),
        withdrawal: "self",
        metadata: { 1: { string: "hello" } },
        validity_interval: { invalid_before: slots(await tip(world) - 1), invalid_hereafter: seconds(30) },
      });
      const { deposits_taken, deposits_returned, inputs, outputs, change } = built.coin_selection;
      expect([deposits_taken, deposits_returned, outputs.length]).toEqual([[DEPOSIT], [], 2]);
      expect([inputs.length > 0, change.length > 0]).toEqual([true, true]);
      expect((await world.untilInLedger(a.id, id)).metadata).toEqual({ 1: { string: "hello" } });
      await world.untilAvailable(b.id, 2n * MIN_UTXO);
      await world.untilAvailable(a.id, 100_000n * ADA - 2n * MIN_UTXO - 2n * ADA - amountOf(built.fee));
      await delegates(world, a, { status: "delegating", target: pool });
    }),

    ofFunded("TRANS_NEW_CREATE_10c", minting({ all: ["cosigner#1", { active_from: 120 }] }), WRONG_TEMPLATE),
    ofFunded("TRANS_NEW_CREATE_10l", minting("cosigner#0", {}, "1".repeat(66)), {
      status: 403,
      code: "asset_name_too_long",
    }),
    ofFunded("TRANS_NEW_CREATE_10m1", minting("cosigner#0", {}, NAME, 9_223_372_036_854_775_808n), {
      status: 403,
      code: "mint_or_burn_asset_quantity_out_of_bounds",
    }),
    ofFunded("TRANS_NEW_CREATE_10m2", minting("cosigner#0", {}, NAME, 0), {
      status: 403,
      code: "mint_or_burn_asset_quantity_out_of_bounds",
    }),
    mintsAndBurns("TRANS_NEW_CREATE_10d"),
    mintsAndBurns("TRANS_NEW_CREATE_10e", { timelock: true }),
    ofFunded("TRANS_NEW_CREATE_10e (2)", async (world) => {
      const now = await tip(world);
      return {
        validity_interval: { invalid_hereafter: slots(now + 10) },
        ...minting({ all: ["cosigner#0", { active_until: now + 11 }, { active_from: 5 }] }),
      };
    }, { status: 403, code: "validity_interval_not_inside_script_timelock" }),
    mintsAndBurns("TRANS_NEW_CREATE_10f", { burns: true }),
    mintsAndBurns("TRANS_NEW_CREATE_10g", { burns: true, name: "" }),
    flow("TRANS_NEW_CREATE_10h", async (world) => {
      const [wallet, foreign] = await Promise.all([world.walletWith([100n * ADA]), world.emptyWallet()]);
      const of = { ...await policyOf(world, wallet), name: NAME };
      const fee = await changed(world, wallet, minting(ONE, await toSelf(world, foreign)), of, "mint");
      await world.eventually("the assets arrive", async () => {
        const { assets } = await world.wallet(foreign.id);
        expect(assets.total).toEqual([{ policy_id: of.policy, asset_name: NAME, quantity: MINTED }]);
        expect(assets.available).toEqual(assets.total);
      });
      const given = amountOf((await world.wallet(foreign.id)).balance.available);
      expect(given).toBeGreaterThan(MIN_UTXO);
      await holds(world, wallet, 100n * ADA - fee - given, []);
    }),
    ...cases("TRANS_NEW_CREATE_MINT_SCRIPTS_WRONG", {
      "no cosigner": { active_from: 0 },
      "all, no cosigner": { all: [{ active_from: 120 }] },
      "any, no cosigner": { any: [{ active_until: 120 }] },
      "some, no cosigner": { some: { at_least: 1, from: [{ active_from: 120 }] } },
      "some, at least 2": { some: { at_least: 2, from: ["cosigner#0", { active_from: 120 }] } },
      "all, many cosigners": { all: ["cosigner#0", "cosigner#1", { active_from: 120 }] },
      "any, many cosigners": { any: ["cosigner#0", "cosigner#1"] },
      "all, cosigner#1": { all: ["cosigner#1"] },
    }, async (world, template) => {
      world.check(await construct(world, await world.sharedEmpty(), minting(template)), WRONG_TEMPLATE);
    }),
    ...cases("TRANS_NEW_CREATE_MINT_SCRIPTS", {
      "all": [ONE],
      "any": [{ any: ["cosigner#0"] }],
      "some": [{ some: { at_least: 1, from: ["cosigner#0"] } }],
      "all, until": [{ all: ["cosigner#0", { active_until: LATE }] }],
      "any, until": [{ any: ["cosigner#0", { active_until: LATE }] }],
      "some, until": [{ some: { at_least: 1, from: ["cosigner#0", { active_until: LATE }] } }],
      "all, from": [{ all: ["cosigner#0", { active_from: 10 }] }, started],
      "any, from": [{ any: ["cosigner#0", { active_from: 10 }] }, started],
      "some, from": [{ some: { at_least: 1, from: ["cosigner#0", { active_from: 10 }] } }, started],
      "all, from and until": [{ all: ["cosigner#0", { active_from: 10 }, { active_until: LATE }] }, started],
      "any, until before from": [{ any: ["cosigner#0", { active_until: LATE }, { active_from: 58_297_561 }] }],
      "some, from and until": [{
        some: { at_least: 1, from: ["cosigner#0", { active_from: 10 }, { active_until: LATE }] },
      }],
    } as Record<string, readonly [unknown, object?]>, async (world, [template, interval]) => {
      const wallet = await world.walletWith([50n * ADA, 50n * ADA]);
      const valid = interval ? { validity_interval: interval } : {};
      const mint = await world.send(wallet.id, { ...minting(template), ...valid });
      const left = 100n * ADA - amountOf(mint.built.fee);
      await holds(world, wallet, left, [{ asset_name: NAME, quantity: MINTED }]);
      const burn = await world.send(wallet.id, { ...burning(template), ...valid });
      await holds(world, wallet, left - amountOf(burn.built.fee), []);
    }),
    row("TRANS_NEW_CREATE_11", async (world) => [
      "POST",
      `/wallets/${(await world.sharedFixture()).id}/policy-id`,
      { policy_script_template: { all: [{ active_from: 120 }] } },
    ], WRONG_TEMPLATE),
    flow("TRANS_NEW_CREATE_11 (2)", async (world) => {
      const wallet = await world.sharedFixture();
      const { policy } = await policyOf(world, wallet);
      expect(await world.ok(202, "POST", `/wallets/${wallet.id}/policy-id`, { policy_script_template: ONE }))
        .toEqual({ policy_id: policy });
    }),

    ofFunded("TRANS_NEW_VALIDITY_INTERVAL_02", {
      withdrawal: "self",
      validity_interval: { invalid_before: seconds(100), invalid_hereafter: seconds(50) },
    }, { status: 403, code: "invalid_validity_bounds" }),
    ofFunded("TRANS_NEW_VALIDITY_INTERVAL_02 (2)", {
      withdrawal: "self",
      validity_interval: { invalid_hereafter: seconds(10) },
    }, { status: 202 }),
    ofFunded("TRANS_NEW_VALIDITY_INTERVAL_02 (3)", {
      withdrawal: "self",
      validity_interval: { invalid_before: seconds(10) },
    }, { status: 202 }),
    ofFunded("TRANS_NEW_VALIDITY_INTERVAL_02 (4)", {
      withdrawal: "self",
      validity_interval: { invalid_before: slots(-1), invalid_hereafter: slots(-1) },
    }, {
      status: 400,
      code: "bad_request",
      message: "parsing Word64 failed, value is either floating or will cause over or underflow",
    }),
    ofFunded("TRANS_NEW_VALIDITY_INTERVAL_02 (5)", {
      withdrawal: "self",
      validity_interval: { invalid_before: "unspecified", invalid_hereafter: "unspecified" },
    }, {
      status: 400,
      code: "bad_request",
      message: "parsing ApiValidityBound object failed, expected Object, but encountered String",
    }),
    flow("TRANS_NEW_LIST_05", async (world) => {
      const [source, target] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      for (const [amount, index] of [[1n, 0], [2n, 0], [3n, 1], [1n, 2], [4n, 2], [5n, 2]] as const) {
        await pay(world, source, target, amount * ADA, index);
      }
      expect(await byAddress(world, target)).toHaveLength(6);
      const addresses = await world.addresses(target.id);
      const found = await Promise.all([0, 1, 2].map((i) => byAddress(world, target, addresses[i]!.id)));
      expect(found.map(ada)).toEqual([[2, 1], [3], [5, 4, 1]]);
    }),
    flow("TRANS_NEW_LIST_06", async (world) => {
      const [source, target] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      const addresses = (await world.addresses(target.id)).map(({ id }) => id);
      for (let i = 0; i < 5; i++) await pay(world, source, target, ADA, 0);
      for (let i = 0; i < 3; i++) await pay(world, source, target, 10_000n * ADA, 2);
      expect(await byAddress(world, target)).toHaveLength(8);
      expect(ada(await byAddress(world, target, addresses[2]))).toEqual([10_000, 10_000, 10_000]);
      // so much that coins of address 2 must be spent
      await pay(world, target, source, 29_990n * ADA, 0);
      expect(await byAddress(world, target)).toHaveLength(9);
      expect(await byAddress(world, target, addresses[2])).toHaveLength(4);
      expect(await byAddress(world, target, addresses[1])).toEqual([]);
      await pay(world, source, target, 5_000n * ADA, 1);
      expect(await byAddress(world, target, addresses[1])).toHaveLength(1);
      await pay(world, target, source, 4_990n * ADA, 0);
      expect(await byAddress(world, target)).toHaveLength(11);
      expect(await byAddress(world, target, addresses[1])).toHaveLength(2);
    }),

    // those that need rewards or several epochs are last
    flow("TRANS_NEW_JOIN_01a", async (world) => {
      const [wallet, [first, second]] = await Promise.all([
        world.walletWith([50_000n * ADA, 50_000n * ADA, 10n * ADA]),
        world.pools(),
      ]);
      const taken = async (
        body: object,
        certificates: unknown,
        deposits: readonly [taken: unknown[], returned: unknown[]],
      ) => {
        const { id, built, signed } = await world.withdrawing(wallet.id, () => world.send(wallet.id, body));
        expect([built.coin_selection.deposits_taken, built.coin_selection.deposits_returned]).toEqual(deposits);
        expect(await decode(world, wallet, signed)).toMatchObject({
          certificates,
          deposits_taken: deposits[0],
          deposits_returned: deposits[1],
        });
        const listed = await world.untilInLedger(wallet.id, id);
        expect([listed.deposit_taken, listed.deposit_returned])
          .toEqual(deposits.map(([deposit]) => deposit ?? lovelace(0)));
        return listed;
      };
      const joined = await taken(joining(first!), [REGISTER, joinOf(first!)], [[DEPOSIT], []]);
      expect([joined.direction, joined.metadata]).toEqual(["outgoing", undefined]);
      await delegates(world, wallet, { status: "delegating", target: first });
      await world.earnRewards(wallet.id);
      // a withdrawal needs a vote
      await taken({ ...joining(second!), vote: "abstain" }, expect.any(Array), [[], []]);
      await delegates(world, wallet, { status: "delegating_and_voting", target: second, voting: "abstain" });
      expect(await world.ok(200, "GET", `/wallets/${wallet.id}/transactions?minWithdrawal=1`)).toEqual([]);
      const before = amountOf((await world.wallet(wallet.id)).balance.available);
      const sent = await world.withdrawing(
        wallet.id,
        () => world.pay(wallet.id, away(world).payments, { withdrawal: "self" }),
      );
      const reward = amountOf(sent.withdrawals[0]!.amount);
      await world.untilAvailable(wallet.id, before + reward - MIN_UTXO - amountOf(sent.fee));
      await world.rewardsBelow(wallet.id, reward);
      // rewards of earlier epochs may still come
      const { deposit_returned } = await taken({ ...QUITTING, withdrawal: "self" }, [QUIT], [[], [DEPOSIT]]);
      expect(deposit_returned).toEqual(DEPOSIT);
      await delegates(world, wallet, { status: "not_delegating" });
    }),
    flow("TRANS_NEW_JOIN_01f (2)", async (world) => {
      const wallet = await world.walletWith([100n * ADA, 100n * ADA]);
      const [pool] = await world.pools();
      const joined = await world.send(wallet.id, joining(pool!));
      await world.untilInLedger(wallet.id, joined.id);
      const body = { ...joining(pool!), vote: "abstain" };
      const { id } = await world.send(wallet.id, body);
      await world.untilInLedger(wallet.id, id);
      await delegates(world, wallet, { status: "delegating_and_voting", target: pool, voting: "abstain" });
      world.check(await construct(world, wallet, body), { status: 403, code: "pool_already_joined_same_vote" });
      world.check(await construct(world, wallet, { vote: "abstain" }), { status: 403, code: "same_vote" });
    }),
    flow("TRANS_NEW_QUIT_02a", async (world) => {
      const answer = await construct(world, await world.sharedReward(), QUITTING);
      world.check(answer, { status: 403, code: "non_null_rewards" });
    }),
    flow("TRANS_NEW_QUIT_02b", async (world) => {
      const wallet = await world.rewardWallet();
      const { built } = await world.withdrawing(
        wallet.id,
        () => world.send(wallet.id, { ...QUITTING, withdrawal: "self" }),
      );
      expect([built.coin_selection.deposits_returned, built.coin_selection.deposits_taken]).toEqual([[DEPOSIT], []]);
    }),
    flow("TRANS_NEW_JOIN_01e", async (world) => {
      const wallet = await world.rewardWallet();
      const other = (await world.pools()).find((pool) => pool !== wallet.delegation.active.target)!;
      const { id } = await world.withdrawing(
        wallet.id,
        () => world.send(wallet.id, { ...joining(other), withdrawal: "self" }),
      );
      const listed = await world.untilInLedger(wallet.id, id);
      expect([listed.direction, listed.metadata, listed.withdrawals.length]).toEqual(["outgoing", undefined, 1]);
      for (const input of listed.inputs) expect(input.amount).toBeDefined();
      await delegates(world, wallet, { status: "delegating_and_voting", target: other, voting: "abstain" });
      await world.earnRewards(wallet.id);
    }),
  ],
};
