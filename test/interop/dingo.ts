/**
 * Dingo (Go), an independent complete node with a devnet of its own: it forges a block in each slot from its mempool.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { inject } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { enterpriseAddress } from "#src/cardano/address.ts";
import { as, decode } from "#src/cardano/cbor.ts";
import { keyHash, publicKey } from "#src/cardano/keys/signingKey.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { nodePort } from "#src/chain/provider/node/port.ts";
import { silentLog } from "#src/base/log.ts";
import type {} from "./build.ts";
import { endChild } from "../support/base/processes.ts";
import { spend } from "../support/devnet/devnet.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { socketPath } from "../support/chain/nodeChain.ts";
import { until } from "../support/base/until.ts";
import { person } from "../support/wallets/person.ts";

/** Whether Dingo is available. */
export const hasDingo = inject("dingo") !== "";

/** The network's magic, as its genesis states it. */
export const DINGO_MAGIC = 42;

/** A running Dingo. */
export interface Dingo {
  /** Its node socket. */
  readonly path: string;
  /** Its Blockfrost-like service. */
  readonly blockfrost: string;
  /** Pays lovelace to an address (bytes in hexadecimal) from its genesis; returns the transaction's hash. */
  give(address: string, lovelace: bigint): Promise<string>;
  /** SIGKILL: its chain is kept. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The configuration of its devnet, which begins now. */
async function configured(folder: string): Promise<string> {
  const at = path.join(folder, "devnet");
  await cp(path.join(inject("dingo"), "devnet"), at, { recursive: true });
  const now = new Date(Math.floor(Date.now() / 1_000) * 1_000);
  const change = async (name: string, field: string, value: unknown) => {
    const file = path.join(at, name);
    await writeFile(
      file,
      JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), [field]: value }, undefined, 2),
    );
  };
  await change("byron-genesis.json", "startTime", now.getTime() / 1_000);
  await change("shelley-genesis.json", "systemStart", now.toISOString().replace(".000", ""));
  return at;
}

/** Starts it on a chain of its own. */
export async function startDingo(): Promise<Dingo> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "dingo-"));
  const devnet = await configured(folder);
  const socket = socketPath();
  const ports = await Promise.all(Array.from({ length: 5 }, () => freePort()));
  const [relay, near, metrics, blockfrost, utxorpc] = ports.map(String) as [string, string, string, string, string];
  let child: ChildProcess | undefined;
  const start = async () => {
    const log = openSync(path.join(folder, "log"), "a");
    const started = spawn(path.join(inject("dingo"), "dingo"), [], {
      cwd: folder,
      stdio: ["ignore", log, log],
      env: {
        PATH: "/usr/bin:/bin",
        HOME: folder,
        CARDANO_NETWORK: "devnet",
        CARDANO_CONFIG: path.join(devnet, "config.json"),
        CARDANO_DATABASE_PATH: path.join(folder, "chain"),
        CARDANO_SOCKET_PATH: socket,
        CARDANO_BIND_ADDR: "127.0.0.1",
        CARDANO_PORT: relay,
        CARDANO_PRIVATE_PORT: near,
        CARDANO_METRICS_PORT: metrics,
        DINGO_RUN_MODE: "dev",
        DINGO_STORAGE_MODE: "api",
        DINGO_PLUGINS_API_BLOCKFROST_CONFIG_PORT: blockfrost,
        DINGO_PLUGINS_API_UTXORPC_CONFIG_PORT: utxorpc,
        DINGO_PLUGINS_API_MESH_CONFIG_PORT: "0",
      },
    });
    child = started;
    await until(
      "Dingo's first block",
      async () => {
        if (started.exitCode !== null) {
          throw new Error(
            `Dingo ended:\n${await readFile(path.join(folder, "log"), "utf8")}`,
          );
        }
        return await height() > 0;
      },
      60_000,
      250,
    );
  };
  const using = async <T>(work: (port: ReturnType<typeof nodePort>) => Promise<T>): Promise<T> => {
    const port = nodePort({ address: { path: socket }, magic: DINGO_MAGIC, log: silentLog });
    try {
      return await work(port);
    } finally {
      port.close();
    }
  };
  const height = () =>
    using(async (port) => {
      const tip = await port.tip();
      return tip.ok ? tip.value.height : 0;
    });
  const kill = async () => {
    if (child) await endChild(child, "SIGKILL");
    child = undefined;
  };
  const give = async (address: string, lovelace: bigint) => {
    const { cborHex } = JSON.parse(await readFile(path.join(devnet, "keys", "faucet.skey"), "utf8"));
    const seed = as(decode(fromHex(cborHex)), "bytes").value;
    const faucet = enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(seed)) }).hex;
    return await using(async (port) => {
      const { value: coins } = valueOf(await port.utxosByAddress([faucet]));
      const total = coins.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
      const from = { ...person("faucet"), seed };
      const outputs: [string, bigint][] = [[address, lovelace], [faucet, total - lovelace - 200_000n]];
      const { cbor, hash } = spend({ from, inputs: coins, outputs });
      const verdict = valueOf(await port.submit(cbor));
      if (verdict.outcome !== "accepted") throw new Error(`Dingo's faucet: ${JSON.stringify(verdict)}`);
      await until(
        "the faucet's payment",
        async () => valueOf(await port.utxosByRef([{ txHash: hash, index: 0 }])).value.length > 0,
      );
      return hash;
    });
  };
  await start();
  return {
    path: socket,
    blockfrost: `http://127.0.0.1:${blockfrost}/api/v0`,
    give,
    kill,
    start,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
      await rm(socket, { force: true });
    },
  };
}
