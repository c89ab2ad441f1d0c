/**
 * The token service on a Blockfrost service. One process runs a devnet, the test serves that chain as Blockfrost does,
 * and another process with its own database knows the network only through it.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import type { Result } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import type { StakePool } from "#src/chain/provider/ledgerPort.ts";
import { genesisOutputs, readGenesis } from "#src/devnet/genesis/genesis.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { serveBlockfrost, type Served } from "../../support/blockfrost/blockfrostServer.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const PROJECT = "devnetQ7dmRbq0Zt4mXkqE1sGxTz8YwVhLu3Na";

function valueOf<T>(result: Result<T, { readonly message: string }>): T {
  if (result.ok) return result.value;
  throw new Error(result.error.message);
}

describe("tokens on a Blockfrost service", () => {
  const owner = new User();
  let far: Infra;
  let near: Infra;
  let store: Store;
  let bus: Bus;
  let devnet: Arbor;
  let served: Served;
  let service: Arbor;
  let token: string;

  const env = (url: string) => ({
    ARBOR_PROVIDER: "blockfrost",
    ARBOR_BLOCKFROST_URL: url,
    BLOCKFROST_PROJECT_ID: PROJECT,
    ARBOR_HEALTH_PORT: "0",
    ARBOR_BUILDERS: "1",
  });
  const get = (path: string) => http(service.tokens, "GET", path);
  const carry = async (build: Promise<{ status: number; body: { unsignedTransaction: string } }>) => {
    const built = await build;
    expect([built.status, built.body]).toEqual([
      200,
      expect.objectContaining({ unsignedTransaction: expect.any(String) }),
    ]);
    return await land(service.tokens, owner.sign(built.body.unsignedTransaction));
  };
  const fact = async (key: string, value: string) => {
    const path = `/transaction/${owner.address}/request-insert/${token}`;
    const ref = `${await carry(http(service.tokens, "POST", path, { key, value }))}-0`;
    await carry(get(`/transaction/${owner.address}/update-token/${token}?request=${ref}`));
  };

  beforeAll(async () => {
    [far, near] = await Promise.all([sharedInfra(), sharedInfra()]);
    // Blockfrost gives the length of a slot in whole seconds
    const whole = { ARBOR_SLOT_MS: "1000", ARBOR_BLOCK_MS: "1000", ARBOR_BUILDERS: "1" };
    devnet = await Arbor.start({ infra: far, roles: "devnet", env: whole });
    store = openStore(far.databaseUrl, { max: 4 });
    bus = await connectBus({ url: far.natsUrl, ...(far.natsToken ? { token: far.natsToken } : {}) });
    const genesis = genesisOutputs((await readGenesis(store.sql))!);
    served = await serveBlockfrost(devnetPort({ store, bus, log: silentLog }), { projectId: PROJECT, genesis });
    service = await Arbor.start({ infra: near, env: env(served.url) });
    await fund(devnet.devnet, service.tokens, owner);
  }, 60_000);
  afterAll(async () => {
    await service?.end();
    await served?.close();
    await devnet?.end();
    await bus?.close();
    await store?.close();
    await near?.stop();
    await far?.stop();
  });

  it("reports what its answers guarantee, at the start and to operators", async () => {
    expect(service.printed).toMatch(
      /The provider "blockfrost" answers exact at a point: .*; at the tip: .*utxosByAddress/,
    );
    const { body } = await http(service.health, "GET", "/health");
    expect(body.network).toMatchObject({ provider: "blockfrost" });
    expect(body.network.answers).toContainEqual({ question: "utxosByAddress", holds: "at the tip" });
    expect(service.printed).not.toContain(PROJECT);
  });

  it("boots a token, inserts a fact and applies it", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    expect(built.status).toBe(200);
    token = built.body.value;
    await land(service.tokens, owner.sign(built.body.unsignedTransaction));
    await fact("tree", "oak");
    expect((await get(`/token/${token}/facts`)).body).toEqual({ tree: "oak" });
  });

  it("continues after a rollback", async () => {
    const { status } = await http(devnet.devnet, "POST", "/rollback", { blocks: 2 });
    expect(status).toBe(200);
    await fact("herb", "sage");
    expect((await get(`/token/${token}/facts`)).body).toEqual({ tree: "oak", herb: "sage" });
  });

  it("refuses what the ledger refuses", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    const sent = await http(service.tokens, "POST", "/transaction", {
      signedTransaction: new User().sign(built.body.unsignedTransaction),
    });
    expect(sent.status).toBe(422);
    expect(JSON.stringify(sent.body)).toContain("transaction submit error");
  });

  it("does not list payments in the mempool, and says so", async () => {
    const { body: health } = await http(service.health, "GET", "/health");
    expect(health.network.answers).toContainEqual({
      question: "mempool",
      holds: "not at all",
      note: "a service lists only what was submitted through it",
    });
    const created = await http(service.wallets, "POST", "/wallets", {
      name: "Wallet",
      passphrase: "correct horse",
      mnemonic_sentence: newMnemonic(15),
    });
    expect(created.status).toBe(201);
    const { status, body } = await http(service.wallets, "GET", `/wallets/${created.body.id}/transactions-seen`);
    expect([status, body.code]).toEqual([501, "query_unsupported"]);
    expect(served.requests.filter((path) => /\/mempool($|\?)/.test(path))).toEqual([]);
  });

  it("does not start with another project id or for another network, and says why", async () => {
    const infraOfTest = await sharedInfra();
    const begin = (more: Record<string, string>) =>
      Arbor.start({ infra: infraOfTest, env: { ...env(served.url), ...more } });
    try {
      await expect(begin({ BLOCKFROST_PROJECT_ID: "another" })).rejects.toThrow(
        /does not accept the project id: .*Invalid project token.* BLOCKFROST_PROJECT_ID/,
      );
      await expect(begin({ ARBOR_NETWORK_MAGIC: "1" })).rejects.toThrow(/magic 42, not 1/);
    } finally {
      await infraOfTest.stop();
    }
  });

  it("lets a new index begin at a later block, and continue from there at the next start", async () => {
    const infraOfTest = await sharedInfra();
    const { body: tip } = await http(devnet.devnet, "GET", "/health");
    const height = tip.tip.height - 3;
    const [block] = await store.sql<{ hash: string }[]>`select hash from devnet_block where height = ${height}`;
    const begin = () =>
      Arbor.start({ infra: infraOfTest, env: { ...env(served.url), ARBOR_BLOCKFROST_FROM: block!.hash } });
    const index = openStore(infraOfTest.databaseUrl, { max: 1 });
    let arbor = await begin();
    try {
      const { address } = owner;
      const boot = async () => {
        const built = await http(arbor.tokens, "GET", `/transaction/${address}/boot-token`);
        expect(built.status).toBe(200);
        await land(arbor.tokens, owner.sign(built.body.unsignedTransaction));
        return built.body.value as string;
      };
      const first = await boot();
      const [row] = await index.sql<{ least: bigint }[]>`select min(height) as least from chain_block`;
      expect(Number(row!.least)).toBe(height);
      await arbor.end();
      arbor = await begin();
      await boot();
      expect((await http(arbor.tokens, "GET", `/token/${first}/facts`)).body).toEqual({});
    } finally {
      await arbor.end();
      await index.close();
      await infraOfTest.stop();
    }
  });

  it("gives accounts, the epoch, the eras and the genesis as the devnet's own rows do", async () => {
    const own = devnetPort({ store, bus, log: silentLog });
    const port = blockfrostPort({ url: served.url, projectId: PROJECT, magic: 42, log: silentLog });
    try {
      const pools = valueOf(await own.pools());
      const members: Credential[] = pools.value.flatMap(({ owners }) => owners!.map((hash) => ({ kind: "key", hash })));
      const wanted: Credential[] = [...members, { kind: "key", hash: "12".repeat(28) }, members[0]!];
      expect(members.length).toBeGreaterThan(0);
      const accounts = valueOf(await own.accounts(wanted)).value;
      expect(accounts.filter(({ pool }) => pool !== undefined).length).toBeGreaterThan(0);
      expect(valueOf(await port.accounts(wanted)).value).toEqual(
        accounts.map((account) => ({ ...account, deposit: undefined })),
      );
      expect(valueOf(await port.epoch()).value).toEqual(valueOf(await own.epoch()).value);
      const [theirs, ours] = [valueOf(await own.eras()).value, valueOf(await port.eras()).value];
      const begun = ({ systemStart, current, history }: Eras) => ({
        ...{ systemStart, current, starts: history.map(({ start }) => start) },
        terms: history.map(({ terms: { epochLength, slotLength } }) => ({ epochLength, slotLength })),
      });
      expect(begun(ours)).toEqual(begun(theirs));
      const { activeSlots, hash: _, ...genesis } = valueOf(await own.genesis());
      const { activeSlots: reportedSlots, ...rest } = valueOf(await port.genesis());
      expect(rest).toEqual({ hash: undefined, ...genesis });
      expect(reportedSlots.numerator * activeSlots.denominator).toBe(activeSlots.numerator * reportedSlots.denominator);
      const listed = (of: readonly StakePool[]) =>
        of.map(({ pool, pledge, cost, margin, metadata, retiring, share, stake }) => ({
          ...{ pool, pledge, cost, metadata, retiring, stake },
          margin: Number(margin.numerator) / Number(margin.denominator),
          share: share && Number(share.numerator) / Number(share.denominator),
        }));
      expect(listed(valueOf(await port.pools()).value)).toEqual(listed(pools.value));
      expect(await port.poolRanking(1n)).toMatchObject({ ok: false, error: { code: "query_unsupported" } });
      served.lacks = ["/network/eras"];
      expect(await port.eras()).toMatchObject({ ok: false, error: { code: "query_unsupported" } });
    } finally {
      served.lacks = [];
      port.close();
    }
  });

  it("only used requests and answers of Blockfrost's own OpenAPI description", () => {
    expect(served.problems).toEqual([]);
    expect(served.requests.length).toBeGreaterThan(50);
  });
});
