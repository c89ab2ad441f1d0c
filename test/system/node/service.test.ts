/**
 * The token service on a node. One process runs a devnet and serves its socket; another one with its own database knows
 * the network only through that socket.
 */
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readClaim } from "#src/store/network.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { itLong } from "../../support/base/longTests.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

describe("tokens on a node", () => {
  const path = socketPath();
  const owner = new User();
  let far: Infra;
  let near: Infra;
  let devnet: Arbor;
  let service: Arbor;
  let token: string;

  const startDevnet = () =>
    Arbor.start({
      infra: far,
      ownProcess: true,
      roles: "devnet",
      env: { ARBOR_SOCKET: path, ARBOR_LEASE_MS: "1000", ARBOR_BUILDERS: "1" },
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
    const request = http(service.tokens, "POST", `/transaction/${owner.address}/request-insert/${token}`, {
      key,
      value,
    });
    const ref = `${await carry(request)}-0`;
    await carry(get(`/transaction/${owner.address}/update-token/${token}?request=${ref}`));
  };

  beforeAll(async () => {
    [far, near] = await Promise.all([sharedInfra(), sharedInfra()]);
    // before there is a node
    service = await Arbor.start({
      infra: near,
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: path, ARBOR_HEALTH_PORT: "0", ARBOR_BUILDERS: "1" },
    });
    expect(service.printed).toMatch(/There is no socket at .* Waiting for it\./);
    const store = openStore(near.databaseUrl, { max: 1, application: "test" });
    expect(await readClaim(store)).toBeUndefined();
    devnet = await startDevnet();
    await until("the database is claimed", async () => await readClaim(store) === 42);
    await store.close();
    await fund(devnet.devnet, service.tokens, owner);
  }, 60_000);
  afterAll(async () => {
    await service?.end();
    await devnet?.end();
    await near?.stop();
    await far?.stop();
    await rm(path, { force: true });
  });

  it("boots a token, inserts a fact and applies it", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    expect(built.status).toBe(200);
    token = built.body.value;
    await land(service.tokens, owner.sign(built.body.unsignedTransaction));
    await fact("tree", "oak");
    expect((await get(`/token/${token}/facts`)).body).toEqual({ tree: "oak" });
  });

  it("refuses what the ledger refuses, by the ledger's names", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    const sent = await http(service.tokens, "POST", "/transaction", {
      signedTransaction: new User().sign(built.body.unsignedTransaction),
    });
    expect(sent.status).toBe(422);
    expect(JSON.stringify(sent.body)).toContain("MissingVKeyWitnessesUTXOW");
  });

  itLong("leaves the database unassigned to a network when a start is refused", async () => {
    const infraOfTest = await sharedInfra();
    const begin = (env: Record<string, string>, roles?: string) =>
      Arbor.start({ infra: infraOfTest, ...(roles ? { roles } : {}), env: { ARBOR_BUILDERS: "1", ...env } });
    const onNode = { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: path };
    try {
      await expect(begin({ ...onNode, ARBOR_NETWORK_MAGIC: "1" })).rejects.toThrow(/with the magic 42, not 1/);
      const long = `${path}${"x".repeat(100)}`;
      await expect(begin({ ARBOR_SOCKET: long }, "devnet")).rejects.toThrow(
        /--socket: The socket's path has \d+ bytes/,
      );
      const store = openStore(infraOfTest.databaseUrl, { max: 1 });
      expect((await store.sql`select magic from devnet_meta`).length).toBe(0);
      await store.close();
      await (await begin(onNode)).end();
      const elsewhere = { ...onNode, ARBOR_NODE_SOCKET: `${path}.none`, ARBOR_NETWORK_MAGIC: "1" };
      await expect(begin(elsewhere)).rejects.toThrow(
        "belongs to the network with magic 42, not to 1. Use another database or --folder",
      );
    } finally {
      await infraOfTest.stop();
    }
  });

  it("continues after the node was killed and restarted, and after a rollback", async () => {
    await devnet.end("SIGKILL");
    await until(
      "the service knows that the node is not reachable",
      async () => (await http(service.health, "GET", "/ready")).status === 503,
    );
    devnet = await startDevnet();
    await until("the service is ready again", async () => (await http(service.health, "GET", "/ready")).status === 200);
    await fact("flower", "aster");
    const { status } = await http(devnet.devnet, "POST", "/rollback", { blocks: 2 });
    expect(status).toBe(200);
    await fact("herb", "sage");
    expect((await get(`/token/${token}/facts`)).body).toEqual({ tree: "oak", flower: "aster", herb: "sage" });
  });
});
