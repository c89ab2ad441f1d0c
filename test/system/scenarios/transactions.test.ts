/** Transactions of the new workflow: each matches the request, at the minimum fee, and the ledger accepts it. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { type Decoded, lovelace, WalletClient } from "#src/client/wallets.ts";
import { leastFee, paymentKey, readByCsl } from "../../support/ledger/readByCsl.ts";
import { vectors } from "../../support/base/vectors.ts";
import { http } from "../../support/service/user.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

const MOST = 2n ** 64n - 1n;
const MOST_MINTED = 2n ** 63n - 1n;

/** A map of metadata in the tagged form. */
interface Tagged {
  readonly map: readonly { readonly k: Json; readonly v: Json }[];
}

describe("transactions", () => {
  let scenario: Scenario;
  let client: WalletClient;
  let mine: string;
  let other: string;

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
    ({ id: other } = await scenario.createWallet());
    ({ id: mine } = await scenario.createWallet({ coins: Array<bigint>(6).fill(40n * ADA) }));
  });
  afterAll(() => scenario?.stop());

  const paying = async (ada: bigint) => ({
    payments: [{ address: await scenario.address(other), amount: lovelace(ada * ADA) }],
  });
  const decoded = (id: string, transaction: string, passphrase?: string): Promise<Decoded> =>
    client.decode(id, { transaction, ...(passphrase === undefined ? {} : { decrypt_metadata: { passphrase } }) });

  it("pay several, each output from a separate coin, with a change output for each", async () => {
    const before = await scenario.available(mine);
    const addresses = (await client.addresses(other)).slice(0, 3).map(({ id }) => id);
    const payments = addresses.map((address, i) => ({ address, amount: lovelace(BigInt(i + 2) * ADA) }));
    const { signed, built, id, listed } = await scenario.land(mine, { payments });
    const read = readByCsl(signed);
    expect(read.id).toBe(id);
    expect(read.inputs).toEqual(built.coin_selection.inputs.map(({ id, index }) => `${id}#${index}`).sort());
    expect(read.inputs).toHaveLength(3);
    expect(read.outputs).toHaveLength(6);
    for (const { address, amount } of payments) {
      expect(read.outputs).toContainEqual({ address, lovelace: amount.quantity, assets: {}, datum: false });
    }
    for (const { address, amount } of built.coin_selection.change) {
      expect(read.outputs).toContainEqual({ address, lovelace: BigInt(amount.quantity), assets: {}, datum: false });
    }
    expect(read.fee).toBe(leastFee(signed));
    expect(BigInt(built.fee.quantity)).toBe(read.fee);
    const signers = built.coin_selection.inputs.map(({ address }) => paymentKey(address)!);
    expect(read.signedBy).toEqual([...new Set(signers)].sort());
    expect(BigInt(listed.amount.quantity)).toBe(9n * ADA + read.fee);
    expect(listed).toMatchObject({ direction: "outgoing", script_validity: "valid", fee: built.fee });
    await scenario.untilAvailable(mine, before - 9n * ADA - read.fee);
    await scenario.untilAvailable(other, 9n * ADA);
    expect(await client.transaction(other, id)).toMatchObject({
      direction: "incoming",
      amount: { quantity: 9_000_000 },
    });
  });

  it("are decoded alike by everybody at every stage, and each wallet detects its own parts", async () => {
    const built = await client.construct(mine, await paying(3n));
    const [unsigned, seen] = [await decoded(mine, built.transaction), await decoded(other, built.transaction)];
    const read = readByCsl(built.transaction);
    expect([unsigned.id, seen.id]).toEqual([read.id, read.id]);
    expect([unsigned.fee, unsigned.witness_count.verification_key]).toEqual([built.fee, 0]);
    expect([unsigned.script_validity, seen.script_validity]).toEqual(["valid", "valid"]);
    expect(unsigned.inputs).toMatchObject(
      built.coin_selection.inputs.map(({ id, index, amount, derivation_path }) => ({
        id,
        index,
        amount,
        derivation_path,
      })),
    );
    expect(seen.inputs).toEqual(unsigned.inputs.map(({ id, index }) => ({ id, index })));
    const paths = ({ outputs }: Decoded) => outputs.map(({ derivation_path }) => derivation_path?.slice(3).join("/"));
    expect([paths(unsigned).sort(), paths(seen).sort()]).toEqual([["1/3", undefined], ["0/0", undefined]]);
    expect(unsigned.validity_interval!.invalid_hereafter).toEqual({ quantity: Number(read.ttl), unit: "slot" });

    expect(await scenario.refused(client.submit(mine, built.transaction)))
      .toEqual([403, "missing_witnesses_in_transaction"]);
    const wrong = await scenario.refusal(client.sign(mine, built.transaction, "another passphrase"));
    expect(wrong.message).toBe(
      `The given encryption passphrase doesn't match the one I use to encrypt the root private key of the given wallet: ${mine}`,
    );
    expect([wrong.status, wrong.code, wrong.details]).toEqual([
      403,
      "wrong_encryption_passphrase",
      { wallet_id: mine },
    ]);
    const { transaction } = await client.sign(mine, built.transaction, PASSPHRASE);
    const signed = await decoded(mine, transaction);
    expect(signed).toEqual({ ...unsigned, witness_count: { ...unsigned.witness_count, verification_key: 1 } });
    // signing once more changes nothing
    expect((await client.sign(mine, transaction, PASSPHRASE)).transaction).toBe(transaction);
    expect(await scenario.refused(client.submit(other, transaction))).toEqual([403, "foreign_transaction"]);
    // it is unknown before it is submitted
    expect(await scenario.refused(client.transaction(mine, unsigned.id))).toEqual([404, "no_such_transaction"]);
    expect(await client.submit(mine, transaction)).toEqual({ id: unsigned.id });
    await scenario.blocks();
    await scenario.untilInLedger(mine, unsigned.id);
  });

  it("are returned in base 64 or 16, and accepted in either", async () => {
    const body = await paying(2n);
    const built = await client.construct(mine, { ...body, encoding: "base16" });
    expect(built.transaction).toMatch(/^[0-9a-f]+$/);
    const base64 = btoa(String.fromCharCode(...fromHex(built.transaction)));
    expect((await decoded(mine, base64)).id).toBe((await decoded(mine, built.transaction)).id);
    const sign = (transaction: string, encoding: string) =>
      client.send<{ transaction: string }>("POST", `/wallets/${mine}/transactions-sign`, {
        transaction,
        passphrase: PASSPHRASE,
        encoding,
      });
    const { transaction: hex } = await sign(base64, "base16");
    const { transaction: text } = await sign(built.transaction, "base64");
    expect(toHex(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))).toBe(hex);
    await client.submit(mine, hex);
    await scenario.blocks();
    await scenario.untilInLedger(mine, readByCsl(hex).id);
    for (const transaction of ["zz", "00", "gqUA", "hKCg9fY="]) {
      expect(await scenario.refused(client.decode(mine, { transaction }))).toEqual([400, "bad_request"]);
    }
  });

  it("include metadata with every digit, in both forms", async () => {
    const label = String(MOST);
    const tagged = parseJson(`{"0":{"map":[{"k":{"int":-${MOST}},"v":{"list":[{"int":${MOST}},{"bytes":"00ff"}]}}]},
      "${label}":{"string":"${"é".repeat(32)}"}}`) as Record<string, Json>;
    const { signed, id } = await scenario.land(mine, { metadata: tagged });
    expect(readByCsl(signed).metadata).toEqual(tagged);
    expect((await decoded(mine, signed)).metadata).toEqual(tagged);
    expect((await client.transaction(mine, id)).metadata).toEqual(tagged);
    const plain = parseJson(`{"1":{"most":${MOST},"least":-${MOST},"list":["a",1]},"2":"0x00ff"}`) as Record<
      string,
      Json
    >;
    const simple = await scenario.land(mine, { metadata: plain });
    expect((await client.transaction(mine, simple.id, { "simple-metadata": true })).metadata).toEqual(plain);
    expect((await client.transaction(mine, simple.id)).metadata).toMatchObject({ 2: { bytes: "00ff" } });
    for (
      const wrong of [
        `{"0":{"int":${MOST + 1n}}}`,
        `{"${MOST + 1n}":{"int":1}}`,
        `{"0":{"string":"${"é".repeat(33)}"}}`,
      ]
    ) {
      expect(await scenario.refused(client.construct(mine, { metadata: parseJson(wrong) as Record<string, Json> })))
        .toEqual([400, "bad_request"]);
    }
  });

  it("include encrypted messages, which others decrypt with the passphrase", async () => {
    const text = ["Hello", "x".repeat(64)];
    const metadata = { "674": { map: [{ k: { string: "msg" }, v: { list: text.map((string) => ({ string })) } }] } };
    const { signed, id } = await scenario.land(mine, {
      metadata,
      encrypt_metadata: { method: "basic", passphrase: "cardano" },
    });
    const [label] = Object.values(readByCsl(signed).metadata) as unknown as [Tagged];
    const fields = new Map(label.map.map(({ k, v }) => [(k as { string: string }).string, v]));
    expect(fields.get("enc")).toEqual({ string: "basic" });
    const { list } = fields.get("msg") as unknown as { list: readonly { string: string }[] };
    const bytes = Buffer.from(list.map(({ string }) => string).join(""), "base64");
    expect(bytes.subarray(0, 8).toString()).toBe("Salted__");
    const key = pbkdf2Sync("cardano", bytes.subarray(8, 16), 10_000, 48, "sha256");
    const cipher = createDecipheriv("aes-256-cbc", key.subarray(0, 32), key.subarray(32));
    expect(JSON.parse(Buffer.concat([cipher.update(bytes.subarray(16)), cipher.final()]).toString())).toEqual(text);
    expect((await decoded(other, signed, "cardano")).metadata).toEqual(metadata);
    expect((await decoded(other, signed)).metadata).toEqual({ "674": label });
    expect(await scenario.refused(decoded(other, signed, "another"))).toEqual([403, "invalid_metadata_decryption"]);
    expect((await client.transaction(mine, id)).metadata).toEqual({ "674": label });
    const unfit = client.construct(mine, {
      metadata: { "1": { int: 1 } },
      encrypt_metadata: { passphrase: "cardano" },
    });
    expect(await scenario.refused(unfit)).toEqual([403, "invalid_metadata_encryption"]);
  });

  it("mint, send and burn assets, up to the largest amounts", async () => {
    const mint = (quantity: bigint, more: object = {}) => ({
      policy_script_template: "cosigner#0",
      asset_name: "6f616b",
      operation: { mint: { quantity, ...more } },
    });
    const { policy_id: policy } = await client.policyId(mine, "cosigner#0");
    const asset = `${policy}6f616b`;
    expect(await scenario.refused(client.construct(mine, { mint_burn: [mint(MOST_MINTED + 1n)] })))
      .toEqual([403, "mint_or_burn_asset_quantity_out_of_bounds"]);
    const wanted = { assets: [{ policy_id: policy, asset_name: "6f616b", quantity: 1n }] };
    const lacking = await scenario.refusal(
      client.construct(mine, { payments: [{ ...(await paying(2n)).payments[0]!, ...wanted }] }),
    );
    expect([lacking.code, lacking.details]).toEqual(["not_enough_money", {
      shortfall: { ada: lovelace(0), assets: [{ policy_id: policy, asset_name: "6f616b", quantity: 1 }] },
    }]);

    for (const quantity of [MOST_MINTED, MOST_MINTED, MOST_MINTED]) {
      const { signed, listed } = await scenario.land(mine, { mint_burn: [mint(quantity)] });
      const read = readByCsl(signed);
      expect(read.mint).toEqual({ [asset]: quantity });
      expect(read.fee).toBe(leastFee(signed));
      expect(listed.mint.tokens).toMatchObject([{ policy_id: policy, assets: [{ asset_name: "6f616b", quantity }] }]);
    }
    expect((await client.wallet(mine)).assets.total)
      .toEqual([{ policy_id: policy, asset_name: "6f616b", quantity: 3n * MOST_MINTED }]);
    const given = { policy_id: policy, asset_name: "6f616b", quantity: MOST };
    const address = await scenario.address(other, 4);
    const { signed, id } = await scenario.land(mine, {
      payments: [{ address, amount: lovelace(0), assets: [given] }],
    });
    const paid = readByCsl(signed).outputs.find((one) => one.address === address)!;
    expect(paid.assets).toEqual({ [asset]: MOST });
    expect(paid.lovelace).toBeGreaterThan(ADA);
    expect((await decoded(other, signed)).outputs.find((one) => one.address === address)!.assets).toEqual([given]);
    const received = await scenario.untilInLedger(other, id);
    expect(received.outputs.find((one) => one.address === address)!.assets).toEqual([given]);
    expect((await client.wallet(other)).assets.available).toEqual([given]);

    const left = 3n * MOST_MINTED - MOST;
    const { signed: burning, listed } = await scenario.land(mine, {
      mint_burn: [{
        policy_script_template: "cosigner#0",
        asset_name: "6f616b",
        operation: { burn: { quantity: left } },
      }],
    });
    expect(readByCsl(burning).mint).toEqual({ [asset]: -left });
    expect(listed.burn.tokens).toMatchObject([{ policy_id: policy, assets: [{ quantity: left }] }]);
    expect((await client.wallet(mine)).assets.total).toEqual([]);
    expect(await client.assets(mine)).toMatchObject([{ policy_id: policy, asset_name: "6f616b" }]);

    const gift = await scenario.land(mine, {
      mint_burn: [mint(7n, { receiving_address: await scenario.address(other, 5) })],
    });
    await scenario.untilInLedger(other, gift.id);
    expect((await client.wallet(other)).assets.available).toEqual([{ ...given, quantity: MOST + 7n }]);
  });

  it("are valid in the requested slots", async () => {
    const { slot } = await scenario.tip();
    const interval = {
      invalid_before: { quantity: slot, unit: "slot" },
      invalid_hereafter: { quantity: slot + 9_999, unit: "slot" },
    } as const;
    const { signed, listed } = await scenario.land(mine, { ...(await paying(2n)), validity_interval: interval });
    expect([readByCsl(signed).start, readByCsl(signed).ttl]).toEqual([BigInt(slot), BigInt(slot + 9_999)]);
    expect(listed.validity_interval).toEqual(interval);
    // seconds count from now, and a slot is a twentieth of one
    const inSeconds = await client.construct(mine, {
      ...(await paying(2n)),
      validity_interval: { invalid_hereafter: { quantity: 60, unit: "second" } },
    });
    const { ttl, start } = readByCsl(inSeconds.transaction);
    expect(start).toBeUndefined();
    expect(Number(ttl)).toBeGreaterThan(slot + 1_200);
    expect(Number(ttl)).toBeLessThanOrEqual((await scenario.tip()).currentSlot + 1_200);
    const bounds = {
      invalid_before: { quantity: 10, unit: "slot" },
      invalid_hereafter: { quantity: 9, unit: "slot" },
    } as const;
    expect(await scenario.refused(client.construct(mine, { ...(await paying(2n)), validity_interval: bounds })))
      .toEqual([403, "invalid_validity_bounds"]);
    // one that begins later is refused by the ledger
    const later = scenario.constructSignSubmit(mine, {
      ...(await paying(2n)),
      validity_interval: {
        invalid_before: { quantity: slot + 900_000, unit: "slot" },
        invalid_hereafter: { quantity: slot + 900_100, unit: "slot" },
      },
    });
    expect(await scenario.refused(later)).toEqual([403, "created_invalid_transaction"]);
  });

  it("in the forms of earlier eras, and with odd witnesses, are never an error of the service", async () => {
    const { transaction: mary } = JSON.parse(readFileSync(vectors("mary-transaction.json"), "utf8")) as {
      transaction: string;
    };
    expect(await scenario.refused(client.submit(mine, mary))).toEqual([403, "foreign_transaction"]);
    expect(await scenario.refused(client.sign(mine, mary, PASSPHRASE))).toEqual([403, "unsupported_era"]);
    const { transaction } = await client.construct(mine, await paying(2n), "wallets");
    const { transaction: signed } = await client.sign(mine, transaction, PASSPHRASE);
    const whole = csl.FixedTransaction.from_hex(Buffer.from(signed, "base64").toString("hex"));
    const [body, witnesses] = [toHex(whole.raw_body()), whole.witness_set().to_hex()];
    const auxiliary = { none: "f6", shelley: "a1016161", allegra: "82a101616180", alonzo: "d90103a100a1016161" };
    const forms = Object.values(auxiliary).flatMap((data) => [
      `83${body}${witnesses}${data}`,
      `84${body}${witnesses}f5${data}`,
      `84${body}${witnesses}f4${data}`,
    ]);
    const odd = [
      "a0",
      "a10000",
      "a10080",
      "a1008100",
      "a100818141ff",
      "a10281818080",
      "a20080" + "0080",
      "80",
      "a1184080",
    ];
    const all = [
      ...forms,
      ...odd.map((set) => `84${body}${set}f5f6`),
      "83a0a0f6",
      "84a0a0f5f6",
      "80",
      "f6",
      `85${body}a0f5f6f6`,
    ];
    const shared = await client.send<{ id: string }>("POST", "/shared-wallets", {
      name: "Shared",
      mnemonic_sentence: newMnemonic(15),
      passphrase: PASSPHRASE,
      account_index: "0H",
      payment_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
    });
    const outcomes: string[] = [];
    for (const hex of all) {
      for (const [prefix, id] of [["wallets", mine], ["shared-wallets", shared.id]] as const) {
        for (const way of ["decode", "sign", "submit", ...prefix === "wallets" ? ["balance"] : []]) {
          const sent = {
            transaction: hex,
            ...way === "sign" ? { passphrase: PASSPHRASE } : {},
            ...way === "balance" ? { inputs: [], redeemers: [] } : {},
          };
          const answer = await http(scenario.arbor.wallets, "POST", `/v2/${prefix}/${id}/transactions-${way}`, sent);
          if (answer.status >= 500) {
            outcomes.push(`${way} of ${hex.replace(body, "…")}: ${answer.status} ${JSON.stringify(answer.body)}`);
          }
        }
      }
    }
    expect(outcomes).toEqual([]);
    // the forms before Alonzo of a transaction of the wallet's own
    expect(await scenario.refused(client.submit(mine, forms[0]!))).toEqual([403, "unsupported_era"]);
    expect(await scenario.refused(client.sign(mine, forms[0]!, PASSPHRASE))).toEqual([403, "unsupported_era"]);
  });

  it("made by others are signed by each wallet for its own inputs, and any of them submits the complete transaction", async () => {
    const { id: third } = await scenario.createWallet({ coins: [20n * ADA] });
    const coins = await Promise.all([mine, third].map(async (id) => {
      const { coin_selection } = await client.construct(id, await paying(2n));
      return coin_selection.inputs[0]!;
    }));
    const inputs = csl.TransactionInputs.new();
    for (const { id, index } of coins) inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_hex(id), index));
    const held = coins.reduce((sum, { amount }) => sum + BigInt(amount.quantity), 0n);
    const outputs = csl.TransactionOutputs.new();
    const to = csl.Address.from_bech32(await scenario.address(third, 9));
    const big = (number: bigint) => csl.BigNum.from_str(String(number));
    outputs.add(csl.TransactionOutput.new(to, csl.Value.new(big(held - 300_000n))));
    const body = csl.TransactionBody.new_tx_body(inputs, outputs, big(300_000n));
    const unsigned = csl.Transaction.new(body, csl.TransactionWitnessSet.new()).to_hex();

    const { transaction: half } = await client.sign(mine, unsigned, PASSPHRASE);
    expect((await decoded(third, half)).witness_count.verification_key).toBe(1);
    expect(await scenario.refused(client.submit(third, half))).toEqual([403, "missing_witnesses_in_transaction"]);
    const { transaction: whole } = await client.sign(third, half, PASSPHRASE);
    expect(readByCsl(whole).signedBy).toEqual(coins.map(({ address }) => paymentKey(address)!).sort());
    const { id } = await client.submit(mine, whole);
    await scenario.blocks();
    const [first, second] = [await scenario.untilInLedger(mine, id), await scenario.untilInLedger(third, id)];
    expect([first.direction, BigInt(first.amount.quantity)]).toEqual(["outgoing", BigInt(coins[0]!.amount.quantity)]);
    expect([second.direction, BigInt(second.amount.quantity)])
      .toEqual(["incoming", BigInt(coins[0]!.amount.quantity) - 300_000n]);
  });

  it("are refused if they do nothing, or would go to another network", async () => {
    expect(await scenario.refused(client.construct(mine, {}))).toEqual([403, "created_invalid_transaction"]);
    const mainnet = "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8";
    expect(await scenario.refused(client.construct(mine, { payments: [{ address: mainnet, amount: lovelace(ADA) }] })))
      .toEqual([400, "bad_request"]);
  });
});
