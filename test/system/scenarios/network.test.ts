/**
 * The network as reported by the wallet service: sync progress, parameters, tip; transactions of others that it
 * forwards; and statistics of a wallet's unspent outputs. Expected values are the devnet's own.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Paced } from "../../support/service/pacedScenario.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { Stranger } from "../../support/service/externalUser.ts";
import { http } from "../../support/service/user.ts";

const EPOCH_SLOTS = 40;

describe("the network of a wallet service", () => {
  let scenario: Scenario;
  let paced: Paced;
  const devnet = async (path: string) => (await http(scenario.devnet, "GET", path)).body;
  const number = ({ numerator, denominator }: { numerator: number; denominator: number }) => numerator / denominator;

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "1" } });
    paced = new Paced(scenario, EPOCH_SLOTS);
    await paced.block();
  });
  afterAll(() => scenario?.stop());

  it("is reported as far as it was read, also after a rollback", async () => {
    const { client } = scenario;
    for (const rolledBack of [false, true]) {
      await paced.block();
      await paced.read();
      if (rolledBack) await scenario.rollback(1);
      await paced.read();
      const { height, slot, hash, genesisTime, slotLength } = await scenario.tip();
      expect(await client.latestHeader()).toEqual({
        header_hash: hash,
        slot_no: { quantity: slot, unit: "slot" },
        block_height: { quantity: height, unit: "block" },
      });
      const { node_tip: tip, next_epoch: next, network_tip: now, ...rest } = await client.information();
      const epoch = paced.epochOf(slot);
      const timeOf = (one: number) => new Date(genesisTime + one * slotLength).getTime();
      expect(tip).toEqual({
        height: { quantity: height, unit: "block" },
        absolute_slot_number: slot,
        slot_number: slot % EPOCH_SLOTS,
        epoch_number: epoch,
        time: expect.any(String),
      });
      expect(Date.parse(tip.time)).toBe(timeOf(slot));
      expect(next!.epoch_number).toBe(epoch + 1);
      expect(Date.parse(next!.epoch_start_time)).toBe(timeOf((epoch + 1) * EPOCH_SLOTS));
      expect(now!.absolute_slot_number).toBeGreaterThanOrEqual(slot);
      expect(rest).toEqual({
        sync_progress: { status: "ready" },
        node_era: "conway",
        network_info: { protocol_magic: 42, network_id: "testnet" },
        wallet_mode: "node",
      });
    }
    expect(await client.get("/network/clock")).toEqual({ status: "unavailable" });
    expect(await client.get("/network/clock?forceNtpCheck=true")).toEqual({ status: "unavailable" });
  });

  it("has the parameters of the ledger, of an epoch that has begun", async () => {
    const { client } = scenario;
    const [genesis, ledger, reported] = [
      await devnet("/genesis"),
      await devnet("/parameters"),
      await client.parameters(),
    ];
    expect(reported).toMatchObject({
      slot_length: { quantity: genesis.slotLength / 1_000, unit: "second" },
      epoch_length: { quantity: EPOCH_SLOTS, unit: "slot" },
      security_parameter: { quantity: genesis.securityParameter, unit: "block" },
      active_slot_coefficient: { quantity: expect.any(Number), unit: "percent" },
      decentralization_level: { quantity: 100, unit: "percent" },
      desired_pool_number: ledger.desiredPools,
      maximum_collateral_input_count: ledger.maxCollateralInputs,
      minimum_collateral_percentage: ledger.collateralPercentage,
      maximum_token_bundle_size: { quantity: ledger.maxValueSize, unit: "byte" },
      execution_unit_prices: {
        step_price: number(ledger.prices.steps),
        memory_unit_price: number(ledger.prices.memory),
      },
    });
    expect(Date.parse(reported.blockchain_start_time)).toBe(genesis.genesisTime);
    // a node has no information about the era before it
    expect(["", genesis.files.byron.hash]).toContain(reported.genesis_block_hash);
    expect(reported.eras.conway).toMatchObject({ epoch_number: 0 });
    expect(await client.parameters("latest")).toEqual(reported);
    expect(await client.parameters(0)).toEqual(reported);
    expect(await scenario.refused(client.parameters(1_000_000))).toEqual([404, "not_found"]);
    expect(await scenario.refused(client.get("/network/parameters?epoch=first"))).toEqual([400, "bad_request"]);
    expect(await client.get("/openapi.json")).toMatchObject({ openapi: "3.1.0", servers: [{ url: "/v2" }] });
  });

  it("forwards transactions that were signed elsewhere, and names the ledger's failures for refused ones", async () => {
    const { client } = scenario;
    const { id } = await scenario.createWallet();
    const address = await scenario.address(id);
    const stranger = new Stranger(scenario.devnet);
    await scenario.faucet(stranger.address, 20n * ADA);
    await paced.block();
    const signed = csl.Transaction.from_hex(await stranger.transaction({ pay: [[address, 5n * ADA]] })).to_bytes();
    const { id: hash } = await client.proxy(signed);
    expect(hash).toBe(csl.FixedTransaction.from_bytes(signed).transaction_hash().to_hex());
    // it belongs to no wallet until a block has it
    expect(await scenario.mempool()).toEqual([hash]);
    expect(await client.transactions(id)).toEqual([]);
    await paced.block();
    expect(await scenario.untilInLedger(id, hash)).toMatchObject({
      direction: "incoming",
      amount: { quantity: 5_000_000 },
    });

    const other = new Stranger(scenario.devnet);
    const unsigned = csl.Transaction.from_hex(await stranger.transaction({ pay: [[address, 2n * ADA]] }));
    const foreign = other.sign(csl.Transaction.new(unsigned.body(), csl.TransactionWitnessSet.new()).to_hex());
    const refused = await scenario.refusal(client.proxy(csl.Transaction.from_hex(foreign).to_bytes()));
    expect([refused.status, refused.code, JSON.stringify(refused.details)]).toEqual([
      403,
      "created_invalid_transaction",
      expect.stringContaining("MissingVKeyWitnessesUTXOW"),
    ]);
    for (const bytes of [Uint8Array.of(), Uint8Array.of(0x80), signed.slice(0, -1), new Uint8Array(100)]) {
      expect(await scenario.refused(client.proxy(bytes))).toEqual([400, "bad_request"]);
    }
    // without the mark of validity, as before Alonzo
    const old = Uint8Array.of(0x83, ...signed.slice(1, -2), ...signed.slice(-1));
    expect(await scenario.refused(client.proxy(old))).toEqual([403, "unsupported_era"]);
    expect(await scenario.refused(client.send("POST", "/proxy/transactions", { transaction: "" })))
      .toEqual([415, "unsupported_media_type"]);
    expect(await scenario.mempool()).toEqual([]);
  });

  it("has a wallet's unspent outputs, each with its minimum, and their distribution", async () => {
    const { client } = scenario;
    const coins = [1_000_000n, 10_000_000n, 10_000_001n, 123_456_789n, 10_000_000_000n];
    const { id } = await scenario.createWallet({ coins });
    const { coinsPerByte = 4_310 } = await devnet("/parameters");
    const cost = csl.DataCost.new_coins_per_byte(csl.BigNum.from_str(String(coinsPerByte)));
    const address = csl.Address.from_bech32(await scenario.address(id));
    const least = (coin: bigint) =>
      Number(
        csl.min_ada_for_output(
          csl.TransactionOutput.new(address, csl.Value.new(csl.BigNum.from_str(String(coin)))),
          cost,
        ).to_str(),
      );
    const { entries } = await client.utxos(id);
    const byAmount = [...entries].sort((a, b) => Number(a.ada.quantity) - Number(b.ada.quantity));
    expect(byAmount).toEqual(coins.map((coin) => ({
      ada: { quantity: Number(coin), unit: "lovelace" },
      ada_minimum: { quantity: least(coin), unit: "lovelace" },
      assets: [],
    })));
    const { total, scale, distribution } = await client.statistics(id);
    expect([BigInt(total.quantity), scale]).toEqual([coins.reduce((a, b) => a + b), "log10"]);
    expect(Object.entries(distribution).filter(([, count]) => count > 0)).toEqual([
      ["1000000", 1],
      ["10000000", 1],
      ["100000000", 1],
      ["1000000000", 1],
      ["10000000000", 1],
    ]);
    expect(Object.keys(distribution)).toHaveLength(17);
    // inputs of pending transactions are spent already
    const payment = {
      address: await scenario.address(id),
      amount: { quantity: 9_000_000_000, unit: "lovelace" as const },
    };
    await client.pay(id, { payments: [payment], passphrase: PASSPHRASE });
    const left = (await client.utxos(id)).entries.map(({ ada }) => Number(ada.quantity));
    expect(left).not.toContain(10_000_000_000);
    expect((await client.statistics(id)).distribution["10000000000"]).toBe(0);
  });
});
