/** Services that name their network, on a devnet's socket: the right one starts, every other one is refused with a sentence. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { ahead, ntpServer } from "../../support/infra/ntpServer.ts";
import { http } from "../../support/service/user.ts";

const MAGIC = 1_077;

describe("a service that names its network", () => {
  const socket = socketPath();
  let folder: string;
  let infra: Infra;
  let beside: Infra;
  let devnet: Arbor;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "arbor-named-"));
    [infra, beside] = [await sharedInfra(), await sharedInfra()];
    const env = { ARBOR_SOCKET: socket, ARBOR_FOLDER: folder, ARBOR_NETWORK_MAGIC: String(MAGIC), ARBOR_BUILDERS: "1" };
    devnet = await Arbor.start({ infra, roles: "devnet", env });
  });
  afterAll(async () => {
    await devnet?.end();
    await infra?.stop();
    await beside?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const genesisFile = () => path.join(folder, "devnet", "byron-genesis.json");
  const start = (env: Record<string, string>) =>
    Arbor.start({
      infra: beside,
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: socket, ARBOR_BUILDERS: "1", ...env },
    });
  /** The last line of a start that is refused. */
  const refusal = async (env: Record<string, string>) => {
    const started = await start(env).then(async (arbor) => await arbor.end(), (error: Error) => error);
    if (!(started instanceof Error)) throw new Error("it started");
    expect(started.message).not.toMatch(/^\s+at /m);
    return started.message.trim().split("\n").at(-1)!;
  };

  it("by another genesis file, by --mainnet or by another magic is refused", async () => {
    const genesis = JSON.parse(readFileSync(genesisFile(), "utf8"));
    const later = path.join(folder, "later.json");
    writeFileSync(later, JSON.stringify({ ...genesis, startTime: genesis.startTime + 3_600 }));
    expect(await refusal({ ARBOR_TESTNET: later })).toMatch(
      /The network began at .*--testnet.*they are two networks\.$/,
    );
    expect(await refusal({ ARBOR_MAINNET: "true" })).toMatch(
      /is on the network with the magic 1077, not 764824073\.$/,
    );
    expect(await refusal({ ARBOR_NETWORK_MAGIC: "2" })).toMatch(/is on the network with the magic 1077, not 2\.$/);
  });

  it("by its Byron genesis file starts, knows the network by the hash of the file, and requests the time where it is to", async () => {
    const ntp = await ntpServer(ahead(3_600_000_000));
    const arbor = await start({ ARBOR_TESTNET: genesisFile(), ARBOR_NTP_SERVERS: `${ntp.host}:${ntp.port}` });
    try {
      const client = new WalletClient(arbor.wallets);
      const { body: stated } = await http(devnet.devnet, "GET", "/genesis");
      expect(await client.parameters()).toMatchObject({ genesis_block_hash: stated.files.byron.hash });
      expect((await client.information()).network_info).toEqual({ protocol_magic: MAGIC, network_id: "testnet" });
      expect(arbor.printed).not.toContain("mainnet");
      // no packet is sent before the clock is requested
      expect(ntp.requests()).toBe(0);
      expect(await client.get("/network/clock")).toEqual({ status: "pending" });
      const { status, offset } = await client.get<{ status: string; offset?: { quantity: number } }>(
        "/network/clock?forceNtpCheck=true",
      );
      expect([status, Math.round(Number(offset?.quantity) / 3_600_000_000), ntp.requests()]).toEqual([
        "available",
        1,
        1,
      ]);
    } finally {
      ntp.stop();
      await arbor.end();
    }
  });
});
