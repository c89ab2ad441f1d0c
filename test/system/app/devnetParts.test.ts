/** What a start offers of its devnet: default accounts, the node socket over TCP; what is left out; taken ports. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hexAddressText } from "#src/cardano/address.ts";
import { accountAddress, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { valueOf } from "../../support/devnet/devnetWorld.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";

const infras: Infra[] = [];
const running: Arbor[] = [];
let folder: string;
beforeAll(() => void (folder = mkdtempSync(path.join(os.tmpdir(), "arbor-parts-"))));
afterAll(async () => {
  for (const arbor of running) await arbor.end();
  for (const infra of infras) await infra.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}): Promise<Arbor> {
  const infra = await sharedInfra();
  infras.push(infra);
  const arbor = await Arbor.start({ infra, roles: "devnet", env: { ARBOR_FOLDER: folder, ...env } });
  running.push(arbor);
  return arbor;
}

const json = async (url: string) => await (await fetch(url)).json();

test("20 accounts are funded, and the node socket answers over TCP", async () => {
  const arbor = await start();
  expect(arbor.printed).toMatch(
    /^Devnet accounts: 20 with 10,000 ada each; public mnemonic, for development only: (test ){23}sauce$/m,
  );
  for (const account of [devnetAccounts(20)[0]!, devnetAccounts(20)[19]!]) {
    const address = hexAddressText(accountAddress(0, account))!;
    const { utxos } = await json(`${arbor.devnet}/utxos/${address}`);
    expect(utxos).toMatchObject([{ index: 0, lovelace: 10_000_000_000 }]);
    expect((await json(`${arbor.devnet}/genesis`)).accounts).toContain(address);
  }

  const blockfrost = arbor.places.get("Blockfrost API of the devnet")!;
  expect(blockfrost).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
  const address = hexAddressText(accountAddress(0, devnetAccounts(20)[0]!))!;
  for (const url of [blockfrost, blockfrost.replace("v1", "v0")]) {
    expect(await json(`${url}/addresses/${address}`)).toMatchObject({
      amount: [{ unit: "lovelace", quantity: "10000000000" }],
    });
  }

  const [host, port] = arbor.places.get("its node socket over TCP")!.split(":");
  const node = valueOf(await connectNode({ host: host!, port: Number(port) }, { magic: 42 }));
  expect(node.version).toBeGreaterThanOrEqual(16);
  node.close();
});

test("what is left out is not served", async () => {
  const arbor = await start({ ARBOR_DEVNET_WITHOUT: "tcp,socket", ARBOR_ACCOUNTS: "0" });
  expect(arbor.printed).not.toMatch(/node socket|Devnet accounts/);
  expect((await json(`${arbor.devnet}/genesis`)).accounts).toEqual([]);
});

test("a second start names all ports that the first one has", async () => {
  const [node, devnet] = [await freePort(), await freePort()];
  const ports = { ARBOR_NODE_PORT: `${node}`, ARBOR_DEVNET_PORT: `${devnet}` };
  await start(ports);
  const infra = await sharedInfra();
  infras.push(infra);
  const second = spawn(process.execPath, ["run", "-A", "src/app/start.ts", "--roles", "devnet"], {
    env: {
      ...process.env,
      ...ports,
      ARBOR_FOLDER: path.join(folder, "second"),
      DATABASE_URL: infra.databaseUrl,
      NATS_URL: infra.natsUrl,
      NATS_TOKEN: infra.natsToken,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const code = new Promise((resolve) => second.once("exit", resolve));
  expect(await text(second.stderr)).toBe(
    `These ports are used by other programs: ${devnet} for the devnet (--devnet-port), ` +
      `${node} for the devnet's node socket over TCP (--node-port). ` +
      "Stop those programs, or choose other ports: each with its option, or all with --port-offset N.\n",
  );
  expect(await code).toBe(1);
});
