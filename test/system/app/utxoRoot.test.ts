/**
 * Services that follow a devnet beside them, over its node socket and its Ogmios, each with an index and a root of its own:
 * after every block it is the devnet's, over rollbacks, kills and the loss of the tree.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchTrustedRoot } from "#src/client/ledgerRoot.ts";
import { openStore } from "#src/store/store.ts";
import { until } from "../../support/base/until.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { http, User } from "../../support/service/user.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-root-"));
const config = path.join(folder, "devnet", "config.json");
const socket = socketPath();
const { address } = new User();
const infras: Infra[] = [];
const running = new Set<Arbor>();
let devnet: Arbor;

async function infra(): Promise<Infra> {
  const one = await sharedInfra();
  infras.push(one);
  return one;
}

async function start(options: Parameters<typeof Arbor.start>[0]): Promise<Arbor> {
  const arbor = await Arbor.start(options);
  running.add(arbor);
  return arbor;
}

async function end(arbor: Arbor, signal?: "SIGKILL"): Promise<void> {
  running.delete(arbor);
  await arbor.end(signal);
}

/** A service with a database of its own, which follows the devnet. */
function following(provider: "node" | "ogmios", own: Infra, more: Partial<Parameters<typeof Arbor.start>[0]> = {}) {
  const connection = provider === "node"
    ? { ARBOR_NODE_SOCKET: socket }
    : { ARBOR_OGMIOS_URL: devnet.places.get("Ogmios API of the devnet")! };
  return start({
    infra: own,
    ...more,
    env: { ARBOR_PROVIDER: provider, ...connection, ARBOR_UTXO_ROOT: config, ARBOR_BUILDERS: "1", ...more.env },
  });
}

/** Blocks with payments. */
async function pay(blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    const { status } = await http(devnet.devnet, "POST", "/faucet", { address, lovelace: 5_000_000 + i });
    expect(status).toBe(200);
    expect((await http(devnet.devnet, "POST", "/blocks", { count: 1 })).status).toBe(200);
  }
}

/** Waits until a service has the devnet's root, at the devnet's newest block. */
async function agree(arbor: Arbor): Promise<string> {
  const { body: own } = await http(devnet.devnet, "GET", "/utxo-root");
  return await until("the service has the devnet's block", async () => {
    const { status, body } = await http(arbor.tokens, "GET", "/utxo-root");
    if (status !== 200 || body.point.hash !== own.point.hash) return undefined;
    expect(body).toEqual(own);
    return body.root as string;
  }, 60_000);
}

beforeAll(async () => {
  devnet = await start({
    infra: await infra(),
    roles: "devnet",
    blockMs: 0,
    env: { ARBOR_FOLDER: folder, ARBOR_SOCKET: socket, ARBOR_DEVNET_WITHOUT: "kupo,utxorpc", ARBOR_BUILDERS: "1" },
  });
  await pay(3);
});
afterAll(async () => {
  for (const arbor of [...running].reverse()) await end(arbor);
  for (const one of infras) await one.stop();
  rmSync(folder, { recursive: true });
});

describe.each(["node", "ogmios"] as const)("over the devnet's %s", (provider) => {
  let own: Infra;
  let arbor: Arbor;
  beforeAll(async () => {
    own = await infra();
    arbor = await following(provider, own);
  });

  it("has the devnet's root, and proves answers with it", async () => {
    await agree(arbor);
    await pay(4);
    await agree(arbor);
    const { status, body } = await http(arbor.tokens, "GET", "/tokens?proof=true");
    expect(status).toBe(200);
    expect(await fetchTrustedRoot(body, { instances: [devnet.devnet, arbor.tokens] })).toMatchObject({ ok: true });
    const all = await http(arbor.tokens, "GET", `/utxo-root/addresses/${address}`);
    expect(all.body).toEqual((await http(devnet.devnet, "GET", `/utxo-root/addresses/${address}`)).body);
  });

  it("goes back with a rollback, also over the first block", async () => {
    await http(devnet.devnet, "POST", "/rollback", { blocks: 2, drop: true });
    await pay(1);
    await agree(arbor);
    await http(devnet.devnet, "POST", "/reset");
    await pay(3);
    await agree(arbor);
  });

  it("is switched off, and refuses to go on with a set that has gaps", async () => {
    await end(arbor);
    arbor = await following(provider, own, { env: { ARBOR_UTXO_ROOT: "" } });
    expect((await http(arbor.tokens, "GET", "/tokens?proof=true")).body).toMatchObject({ code: "no_utxo_root" });
    expect((await http(arbor.tokens, "GET", "/utxo-root")).status).toBe(404);
    await end(arbor);
    await expect(following(provider, own)).rejects.toThrow(/needs all blocks from the first one on/);
  });
});

it("comes to the devnet's root after kills amid blocks and the loss of the tree", async () => {
  const own = await infra();
  for (let round = 0; round < 2; round++) {
    const killed = await following("node", own, { ownProcess: true });
    const paying = pay(6);
    await until("it has read a block", async () => (await http(killed.tokens, "GET", "/utxo-root")).status === 200);
    await end(killed, "SIGKILL");
    await paying;
  }
  const store = openStore(own.databaseUrl, { max: 1 });
  await store.sql`truncate chain_output_tree, chain_output_place, chain_output_root`;
  await store.close();
  await agree(await following("node", own));
});

it("refuses genesis files that are changed, of another network, or missing", async () => {
  const own = await infra();
  const files = path.join(folder, "devnet");
  const refusal = async (name: string, change: (text: string) => string) => {
    const text = readFileSync(path.join(files, name), "utf8");
    writeFileSync(path.join(files, name), change(text));
    try {
      return await following("node", own).then(() => "started", (error: Error) => error.message);
    } finally {
      writeFileSync(path.join(files, name), text);
    }
  };
  expect(await refusal("shelley-genesis.json", (text) => text.replace("5", "6"))).toMatch(/has the hash .* states/);
  expect(await refusal("byron-genesis.json", (text) => text.replace(": 42", ": 43"))).toMatch(/has the hash .* states/);
  expect(await refusal("config.json", (text) => text.replace("byron-genesis", "none"))).toMatch(
    /none.json cannot be read/,
  );
  expect(await refusal("config.json", () => "yaml: true")).toMatch(/is not JSON/);
});
