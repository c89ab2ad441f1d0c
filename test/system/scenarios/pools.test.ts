/**
 * Stake pools over HTTP: their rewards for a stake, their metadata (from their own servers, and from a SMASH server),
 * new and retiring pools. Expected values are the devnet's account of its pools; new pools are registered with a
 * library that the product does not use.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toBech32 } from "#src/cardano/bech32.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { utf8 } from "#src/base/bytes.ts";
import type { StakePool } from "#src/client/wallets.ts";
import { type OutsideServer, outsideServer } from "../../support/infra/externalServers.ts";
import { Paced } from "../../support/service/pacedScenario.ts";
import { ADA, ANSWERS_ALL, ANSWERS_RETIREMENTS, Scenario } from "../../support/service/scenario.ts";
import { Stranger } from "../../support/service/externalUser.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const EPOCH_SLOTS = 20;
const STAKE = 1_000_000n * ADA;

/** A pool to be registered, with its metadata. */
class Newcomer {
  readonly key = csl.PrivateKey.from_normal_bytes(randomBytes(32));
  readonly hash = this.key.to_public().hash();
  readonly id = toBech32("pool", this.hash.to_bytes());
  readonly text: string;

  constructor(readonly ticker: string, description = "") {
    this.text = JSON.stringify({ ticker, name: `Pool ${ticker}`, description, homepage: "https://pool.example" });
  }

  /** A registration that refers to the metadata at a server. */
  registration(server: string): csl.Certificate {
    const owner = csl.Ed25519KeyHashes.new();
    owner.add(this.hash);
    const coin = (amount: bigint) => csl.BigNum.from_str(String(amount));
    const parameters = csl.PoolParams.new(
      this.hash,
      csl.VRFKeyHash.from_hex(createHash("sha256").update(this.ticker).digest("hex")),
      coin(0n),
      coin(170n * ADA),
      csl.UnitInterval.new(coin(1n), coin(50n)),
      csl.RewardAddress.new(0, csl.Credential.from_keyhash(this.hash)),
      owner,
      csl.Relays.new(),
      csl.PoolMetadata.new(
        csl.URL.new(`${server}/${this.ticker}`),
        csl.PoolMetadataHash.from_bytes(blake2b256(utf8(this.text))),
      ),
    );
    return csl.Certificate.new_pool_registration(csl.PoolRegistration.new(parameters));
  }

  retirement(epoch: number): csl.Certificate {
    return csl.Certificate.new_pool_retirement(csl.PoolRetirement.new(this.hash, epoch));
  }
}

describe.skipIf(!ANSWERS_ALL)("stake pools", () => {
  const good = new Newcomer("GOOD");
  const forged = new Newcomer("FORGD");
  const vast = new Newcomer("VAST", "x".repeat(600));
  let scenario: Scenario;
  let paced: Paced;
  let stranger: Stranger;
  /** The pools' own server. */
  let texts: OutsideServer;
  let smash: OutsideServer | undefined;

  const list = async (stake = STAKE) => {
    await paced.read();
    return await scenario.client.stakePools(stake);
  };
  const byId = (pools: readonly StakePool[]) => new Map(pools.map((pool) => [pool.id, pool]));
  const set = (source: string) => scenario.client.changeSettings({ pool_metadata_source: source });
  /** The network's own account of its pools. */
  const ledger = async () =>
    (await http(scenario.devnet, "GET", "/pools")).body as {
      pools: { id: string; pledge: number; cost: number; blocks: { epoch: number; previous: number } }[];
    };
  const submit = async (transaction: string) => {
    await scenario.client.proxy(csl.Transaction.from_hex(transaction).to_bytes());
    return await paced.block();
  };
  const action = "/stake-pools/maintenance-actions";

  beforeAll(async () => {
    const textByPath = new Map([good, vast].map(({ ticker, text }) => [`/${ticker}`, text]));
    texts = await outsideServer(({ path }) => {
      const text = textByPath.get(path) ?? (path === `/${forged.ticker}` ? good.text : undefined);
      return text === undefined ? { status: 404, body: {} } : { body: text };
    });
    scenario = await Scenario.start({
      blockMs: 0,
      env: {
        ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS),
        ARBOR_POOLS: "3",
        ARBOR_OUTSIDE_PRIVATE: "true",
        ARBOR_POOL_METADATA_FETCHING: "none",
      },
    });
    paced = new Paced(scenario, EPOCH_SLOTS);
    await paced.block();
    stranger = new Stranger(scenario.devnet);
    await scenario.faucet(stranger.address, 5_000n * ADA);
    for (let i = 0; i < 5; i++) await paced.block();
  });
  afterAll(async () => {
    await scenario?.stop();
    await texts?.stop();
    await smash?.stop();
  });

  it("are those of the ledger, with the blocks that they made", async () => {
    const { pools } = await ledger();
    const listed = byId(await list());
    expect([...listed.keys()].sort()).toEqual(pools.map(({ id }) => id).sort());
    for (const { id, pledge, cost, blocks } of pools) {
      expect(listed.get(id)).toMatchObject({
        cost: { quantity: cost, unit: "lovelace" },
        pledge: { quantity: pledge, unit: "lovelace" },
        margin: { quantity: expect.any(Number), unit: "percent" },
        flags: [],
      });
      expect(listed.get(id)!.metadata).toBeUndefined();
      const { quantity, unit } = listed.get(id)!.metrics.produced_blocks;
      expect(unit).toBe("block");
      expect(Number(quantity)).toBeGreaterThanOrEqual(blocks.epoch + blocks.previous);
    }
    const made = [...listed.values()].reduce((sum, { metrics }) => sum + Number(metrics.produced_blocks.quantity), 0);
    expect(made).toBeLessThanOrEqual((await scenario.tip()).height + 1);
  });

  it("are ordered by their rewards for the requested stake", async () => {
    const rewards = (pools: readonly StakePool[]) =>
      pools.map(({ metrics }) => BigInt(metrics.non_myopic_member_rewards.quantity));
    // a pool's rewards are computed from the blocks that it made, some epochs later
    await until("one pool has rewards", async () => {
      await paced.enter((await paced.block()).epoch + 1);
      return rewards(await list())[0]! > 0n;
    }, 120_000);
    const [none, some, much] = [await list(0n), await list(STAKE), await list(5n * STAKE)];
    for (const pools of [some, much]) {
      expect(rewards(pools)).toEqual(rewards(pools).sort((a, b) => a < b ? 1 : a > b ? -1 : 0));
    }
    expect(rewards(none)).toEqual([0n, 0n, 0n]);
    expect(rewards(much)[0]).toBeGreaterThan(rewards(some)[0]!);
    for (const [id, { metrics }] of byId(some)) {
      const more = byId(much).get(id)!.metrics.non_myopic_member_rewards.quantity;
      expect(Number(more)).toBeGreaterThanOrEqual(Number(metrics.non_myopic_member_rewards.quantity));
    }
    // ties have the same order each time
    expect((await list(0n)).map(({ id }) => id)).toEqual(none.map(({ id }) => id));
  });

  it("are refused without a stake amount", async () => {
    const missing = await scenario.refusal(scenario.client.get("/stake-pools"));
    expect([missing.status, missing.code, missing.message]).toEqual([
      400,
      "query_param_missing",
      "The stake intended to delegate must be provided as a query parameter as it affects the rewards and ranking.",
    ]);
    for (const stake of ["-1", "much", "45000000000000001", "1.5", ""]) {
      expect(await scenario.refused(scenario.client.get(`/stake-pools?stake=${stake}`))).toEqual([400, "bad_request"]);
    }
    expect(await list(45_000_000_000_000_000n)).toHaveLength(3);
  });

  it("are added, with the metadata of their own servers, as registered", async () => {
    expect(await scenario.client.settings()).toEqual({ pool_metadata_source: "none" });
    const all = [good, forged, vast];
    await submit(
      await stranger.transaction({
        certificates: all.map((one) => one.registration(texts.url)),
        deposit: 1_500n * ADA,
        signers: all.map(({ key }) => key),
      }),
    );
    await until("they are listed", async () => (await list()).length === 6, 60_000);
    const known = byId(await list());
    for (const { id } of all) {
      expect(known.get(id)).toMatchObject({ cost: { quantity: 170_000_000 }, margin: { quantity: 2 } });
    }
    expect(texts.requests).toEqual([]);

    await set("direct");
    expect(await scenario.client.settings()).toEqual({ pool_metadata_source: "direct" });
    await until("one has metadata", async () => byId(await list()).get(good.id)!.metadata !== undefined, 60_000);
    await until("all were requested", async () => new Set(texts.requests).size === 3, 60_000);
    const listed = byId(await list());
    expect(listed.get(good.id)!.metadata).toEqual(JSON.parse(good.text));
    for (const { id } of [forged, vast]) expect(listed.get(id)!.metadata).toBeUndefined();
  });

  it("are verified by a SMASH server, or delisted by it, if configured", async () => {
    const { client } = scenario;
    expect(await client.smashHealth()).toEqual({ health: "no_smash_configured" });
    expect(await client.get(action)).toEqual({ gc_stake_pools: { status: "not_applicable" } });
    smash = await outsideServer(({ path }) => {
      if (path === "/api/v1/status") return { body: { status: "OK", version: "1" } };
      if (path === "/api/v1/delisted") return { body: [{ poolId: vast.hash.to_hex() }] };
      // it has another text of the forged pool than the pool's own server: the registered one
      return path.startsWith(`/api/v1/metadata/${forged.hash.to_hex()}/`)
        ? { body: forged.text }
        : { status: 404, body: { code: "RecordDoesNotExist" } };
    });
    expect(await client.smashHealth(smash.url)).toEqual({ health: "available" });
    expect(await client.smashHealth("http://127.0.0.1:9")).toEqual({ health: "unreachable" });
    await set(smash.url);
    await until("the server answered", async () => {
      const pools = byId(await list());
      return pools.get(forged.id)!.metadata !== undefined && pools.get(vast.id)!.flags.length > 0;
    }, 60_000);
    const pools = byId(await list());
    expect(pools.get(forged.id)!.metadata).toEqual(JSON.parse(forged.text));
    expect(pools.get(good.id)!.metadata).toBeUndefined();
    expect([...pools.values()].filter(({ flags }) => flags.includes("delisted")).map(({ id }) => id)).toEqual([
      vast.id,
    ]);
    expect(await client.smashHealth()).toEqual({ health: "available" });

    expect(await client.get(action)).toEqual({ gc_stake_pools: { status: "not_started" } });
    expect(await client.send("POST", action, { maintenance_action: "gc_stake_pools" })).toBeNull();
    expect(await client.get(action)).toEqual({
      gc_stake_pools: { status: "has_run", last_run: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(await scenario.refused(client.send("POST", action, { maintenance_action: "sweep" })))
      .toEqual([400, "bad_request"]);

    await set("none");
    for (const pool of await list()) expect([pool.metadata, pool.flags]).toEqual([undefined, []]);
    for (const odd of ["", "nowhere", "ftp://x.example", "https://x.example/path"]) {
      expect(await scenario.refused(set(odd))).toEqual([400, "bad_request"]);
    }
    expect(await scenario.refused(client.smashHealth("https://x.example/path"))).toEqual([400, "bad_request"]);
    expect(await client.settings()).toEqual({ pool_metadata_source: "none" });
  });

  it("report when they retire, and are not listed from that epoch on", async () => {
    const leaving = (await paced.block()).epoch + 5;
    await submit(await stranger.transaction({ certificates: [good.retirement(leaving)], signers: [good.key] }));
    if (ANSWERS_RETIREMENTS) {
      await until(
        "it says so",
        async () => byId(await list()).get(good.id)!.retirement?.epoch_number === leaving,
        60_000,
      );
      expect(byId(await list()).get(good.id)!.retirement!.epoch_start_time).toMatch(/Z$/);
    }
    await paced.enter(leaving);
    const left = byId(await list());
    expect(left.has(good.id)).toBe(false);
    expect((await ledger()).pools.map(({ id }) => id).sort()).toEqual([...left.keys()].sort());
    const wallet = await scenario.createWallet();
    expect(await scenario.refused(scenario.client.joinPool(wallet.id, good.id, "Secure Passphrase")))
      .toEqual([404, "no_such_pool"]);
  });
});
