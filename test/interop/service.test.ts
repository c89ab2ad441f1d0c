/**
 * The life of a token on an independent node, Dingo; and with an independent relay between the service and the devnet.
 * gouroboros (Go) validates each transaction a second time, with its own Plutus machine; pallas (Rust) decodes and
 * forwards.
 */
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../support/service/arbor.ts";
import { hasDingo, startDingo } from "./dingo.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { socketPath } from "../support/chain/nodeChain.ts";
import { until } from "../support/base/until.ts";
import { fund, http, land, User } from "../support/service/user.ts";
import { hasPallas, hasRelay, type Relay, startRelay } from "./relay.ts";

/** The service's provider. */
interface Far {
  /** The node's socket. */
  readonly path: string;
  /** Its failure for a missing signature. */
  readonly unsigned: string;
  fund(service: Arbor, user: User): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The devnet behind a relay. */
async function relayed(by: "relay" | "pallas", version: number): Promise<Far & { readonly relay: Relay }> {
  const path = socketPath();
  const infra = await sharedInfra();
  const devnet = await Arbor.start({
    infra,
    roles: "devnet",
    env: { ARBOR_PROTOCOL_VERSION: String(version), ARBOR_SOCKET: path, ARBOR_LEASE_MS: "4000", ARBOR_BUILDERS: "1" },
  });
  const relay = await startRelay(path, by);
  return {
    relay,
    path: relay.path,
    unsigned: "MissingVKeyWitnessesUTXOW",
    fund: (service, user) => fund(devnet.devnet, service.tokens, user),
    kill: relay.kill,
    start: relay.start,
    stop: async () => {
      await relay.stop();
      await devnet.end();
      await infra.stop();
      await rm(path, { force: true });
    },
  };
}

async function dingo(): Promise<Far> {
  const node = await startDingo();
  return {
    ...node,
    unsigned: "missing vkey witness for input",
    fund: async ({ tokens }, { address }) => {
      const hash = await node.give(valueOf(parseAddress(address)).hex, 1_000_000_000n);
      const known = async () => (await http(tokens, "GET", `/transaction?txHash=${hash}`)).status === 200;
      await until("the faucet's payment is known to the service", known);
    },
  };
}

const cases = [
  { name: "gouroboros", by: "relay", version: 10 },
  { name: "gouroboros", by: "relay", version: 11 },
  { name: "pallas", by: "pallas", version: 11 },
] as const;
const there = { relay: hasRelay, pallas: hasPallas };

for (const { name, by, version } of cases) {
  describe.skipIf(!there[by])(`tokens through ${name} on protocol version ${version}`, () => {
    let relay: Relay;
    life(async () => {
      const far = await relayed(by, version);
      relay = far.relay;
      return far;
    });
    it("was decoded, and judged, alike on both sides", () => judgedAlike(name, by, relay));
  });
}
describe.skipIf(!hasDingo)("tokens on Dingo", () => life(dingo));

/** From boot to end. */
function life(begin: () => Promise<Far>): void {
  const owner = new User("base"), other = new User();
  let far: Far;
  let near: Infra;
  let service: Arbor;
  let token: string;

  const get = (path: string) => http(service.tokens, "GET", path);
  const post = (path: string, body: unknown) => http(service.tokens, "POST", path, body);
  const carry = async (user: User, build: Promise<{ status: number; body: { unsignedTransaction: string } }>) => {
    const built = await build;
    expect([built.status, built.body]).toEqual([
      200,
      expect.objectContaining({ unsignedTransaction: expect.any(String) }),
    ]);
    return await land(service.tokens, user.sign(built.body.unsignedTransaction));
  };
  const request = async (user: User, type: string, body: unknown) =>
    `${await carry(user, post(`/transaction/${user.address}/request-${type}/${token}`, body))}-0`;
  const update = (...requests: string[]) =>
    carry(
      owner,
      get(`/transaction/${owner.address}/update-token/${token}?${requests.map((one) => `request=${one}`).join("&")}`),
    );
  const facts = async () => (await get(`/token/${token}/facts`)).body;

  beforeAll(async () => {
    near = await sharedInfra();
    far = await begin();
    service = await Arbor.start({
      infra: near,
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: far.path, ARBOR_HEALTH_PORT: "0", ARBOR_BUILDERS: "1" },
    });
    for (const user of [owner, other]) await far.fund(service, user);
  });
  afterAll(async () => {
    await service?.end();
    await far?.stop();
    await near?.stop();
  });

  it("boots a token, changes its facts, retracts a request", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    expect(built.status).toBe(200);
    token = built.body.value;
    await land(service.tokens, owner.sign(built.body.unsignedTransaction));
    const oak = await request(other, "insert", { key: "tree", value: "oak" });
    const aster = await request(owner, "insert", { key: "flower", value: "aster" });
    await update(oak, aster);
    expect(await facts()).toEqual({ tree: "oak", flower: "aster" });
    await update(await request(other, "update", { key: "tree", oldValue: "oak", newValue: "elm" }));
    const open = await request(other, "insert", { key: "herb", value: "sage" });
    await carry(other, get(`/transaction/${other.address}/retract-change/${open}`));
    expect(await facts()).toEqual({ tree: "elm", flower: "aster" });
  });

  it("continues when the node is killed and comes back", async () => {
    const ready = async () => (await http(service.health, "GET", "/ready")).status;
    await far.kill();
    await until("the service knows that the node is away", async () => await ready() === 503);
    await far.start();
    await until("the service is ready again", async () => await ready() === 200);
    await update(await request(other, "delete", { key: "tree", oldValue: "elm" }));
    expect(await facts()).toEqual({ flower: "aster" });
  });

  it("refuses by the ledger's names, and ends the token", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    const sent = await post("/transaction", { signedTransaction: new User().sign(built.body.unsignedTransaction) });
    expect(sent.status).toBe(422);
    expect(JSON.stringify(sent.body)).toContain(far.unsigned);
    await carry(owner, get(`/transaction/${owner.address}/end-token/${token}`));
  });
}

/** What a relay recorded of a life, and its verdicts. */
function judgedAlike(name: string, by: "relay" | "pallas", relay: Relay): void {
  // a resubmitted one is listed already
  const verdicts = relay.verdicts.filter(({ hash }, i, all) => all.findIndex((one) => one.hash === hash) === i);
  const accepted = verdicts.filter(({ node }) => node === undefined);
  expect(accepted.filter(({ gouroboros }) => gouroboros !== undefined)).toEqual([]);
  const scripts = accepted.reduce((sum, { redeemers }) => sum + redeemers, 0);
  const blocks = relay.blocks.length;
  console.info(
    `${name}: ${accepted.length} transactions with ${scripts} redeemers accepted, ${blocks} blocks read`,
  );
  // boot, two updates of three requests, a deletion, a retracted request, the end
  expect(accepted.length).toBe(11);
  expect(scripts).toBeGreaterThanOrEqual(11);
  const refused = verdicts.filter(({ node }) => node !== undefined);
  const why = { relay: /missing required vkey witness/, pallas: /MissingVKeyWitnesses/ }[by];
  expect(refused.map(({ gouroboros, reason }) => by === "relay" ? gouroboros : reason)).toEqual([
    expect.stringMatching(why),
  ]);
  expect(relay.blocks.filter(({ error }) => error !== undefined)).toEqual([]);
}
